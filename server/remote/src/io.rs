//! The threads that wait for the network. They are apart from the threads of a query, so that
//! requests go on while a query computes, and so that blocking calls work inside another runtime.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tracesql::{Error, Result};

const THREADS: usize = 2;

fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("tracesql-io")
            .enable_all()
            .build()
    });
    made.as_ref().map_err(|e| Error::Start {
        what: "threads for the network",
        source: std::io::Error::new(e.kind(), e.to_string()),
    })
}

/// Runs work on the threads for the network and blocks until it ends. It may be called inside and
/// outside a runtime.
pub fn wait<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (done, outcome) = std::sync::mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        let _ = done.send(work.await);
    });
    outcome.recv().unwrap_or_else(|_| Err(ended()))
}

/// Runs work on the threads for the network. The work stops if the returned future is dropped.
pub async fn run<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let mut task = StopOnDrop(runtime()?.spawn(work));
    (&mut task.0).await.map_err(|_| ended())
}

fn ended() -> Error {
    Error::Query("work for the network ended early; this is a fault of tracesql".into())
}

struct StopOnDrop<T>(JoinHandle<T>);

impl<T> Drop for StopOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocking_calls_work_inside_and_outside_a_runtime() {
        assert_eq!(wait(async { Ok(1) }).expect("outside"), 1);
        let inner = Builder::new_current_thread().build().expect("a runtime");
        let inside = inner.block_on(async {
            wait(async {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                Ok(2)
            })
        });
        assert_eq!(inside.expect("inside"), 2);
        assert_eq!(inner.block_on(run(async { 3 })).expect("awaited"), 3);
    }
}

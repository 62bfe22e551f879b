//! Waits for work, at most as long as `--timeout` allows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::Runtime;
use tracesql::{Error, Result, runtime};

use crate::global::Global;
use crate::stderr;

/// How long a stopped query may take to end.
pub const GRACE: Duration = Duration::from_secs(1);

/// Runs work with the number of threads and the time limit that the user gave.
pub fn block_on<T>(global: &Global, work: impl Future<Output = Result<T>>) -> Result<T> {
    within(&runtime::with_threads(global.threads)?, global.timeout, work)
}

/// Runs work until it ends, at most as long as its limit allows. Work that cannot be stopped ends
/// with the process.
pub fn within<T>(
    runtime: &Runtime,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    // Libraries may panic because of a damaged file. This is reported like any other error.
    let outcome = catch_unwind(AssertUnwindSafe(|| in_time(runtime, limit, work)));
    outcome.unwrap_or_else(|_| {
        let message = "the query engine failed; if the store may be damaged, `tracesql doctor` \
                       looks at all of it";
        Err(Error::Query(message.into()))
    })
}

fn in_time<T>(
    runtime: &Runtime,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let Some(limit) = limit else { return runtime.block_on(work) };
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        let wait = limit.saturating_add(GRACE);
        if is_done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let error = Error::Timeout(limit);
            stderr::error(&error.to_string());
            std::process::exit(i32::from(error.exit_code()));
        }
    });
    match runtime.block_on(async { tokio::time::timeout(limit, work).await }) {
        Ok(outcome) => {
            // If the time is up at this moment, the other thread has already ended.
            let _ = done.send(());
            outcome
        }
        Err(_) => {
            // The remaining work may keep the process from ending, so the other thread must still
            // end it. Dropping the sender would stop that thread's waiting.
            std::mem::forget(done);
            Err(Error::Timeout(limit))
        }
    }
}

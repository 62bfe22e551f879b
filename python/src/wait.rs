//! Waits for work while other Python threads run and Ctrl-C is handled.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tracesql::runtime::STACK_BYTES;
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::threads::Threads;

/// The interval at which Python is asked for signals.
const TICK: Duration = Duration::from_millis(50);

/// How long to wait after Ctrl-C until a query is abandoned.
const GRACE: Duration = Duration::from_millis(500);

/// Waits for a query. Ctrl-C ends it.
pub fn query<T: Send + 'static>(
    py: Python<'_>,
    threads: &Threads,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> PyResult<Result<T>> {
    let (sender, receiver) = sync_channel(1);
    let task = threads.handle().spawn(async move { send(&sender, work.await) });
    let stop = || {
        task.abort();
        let start = Instant::now();
        while !task.is_finished() && start.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !task.is_finished() {
            threads.renew();
        }
    };
    receive(py, receiver, stop, |_| Ok(()))
}

/// Waits for work in a separate thread. Meanwhile `tick` is called about 20 times a second. Ctrl-C
/// and an error of `tick` call `stop`, and do not wait for the thread.
pub fn thread<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce(),
    tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<Result<T>> {
    let (sender, receiver) = sync_channel(1);
    let spawned =
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || send(&sender, work()));
    spawned.map_err(|source| exception(Error::Start { what: "a thread", source }))?;
    receive(py, receiver, stop, tick)
}

fn send<T>(sender: &SyncSender<Result<T>>, outcome: Result<T>) {
    // After Ctrl-C the receiver no longer exists.
    let _ = sender.send(outcome);
}

fn receive<T: Send>(
    py: Python<'_>,
    receiver: Receiver<Result<T>>,
    stop: impl FnOnce(),
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<Result<T>> {
    let mut receiver = receiver;
    loop {
        let outcome;
        (receiver, outcome) = py.detach(move || {
            let outcome = receiver.recv_timeout(TICK);
            (receiver, outcome)
        });
        match outcome {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Error::Query(
                    "the query engine failed; this is a fault of tracesql".into(),
                )));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals().and_then(|()| tick(py)) {
                    stop();
                    return Err(interrupt);
                }
            }
        }
    }
}

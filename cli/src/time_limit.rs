//! Waiting for work, for as long as `--timeout` allows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::Runtime;
use tracesql::{Error, Result, runtime};

use crate::global::Global;
use crate::stderr;

/// How long a query may take to end after it was stopped.
pub const GRACE: Duration = Duration::from_secs(1);

/// Runs work on the threads that the user asked for, within the time that the user allows.
pub fn block_on<T>(global: &Global, work: impl Future<Output = Result<T>>) -> Result<T> {
    within(&runtime::with_threads(global.threads)?, global.timeout, work)
}

/// Runs work until its end, at most for as long as it may take. Work that cannot be stopped ends
/// with the process.
pub fn within<T>(
    runtime: &Runtime,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    // Libraries below may panic over a damaged file; that is an error like others.
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
            // The other thread has ended if the time is up just now.
            let _ = done.send(());
            outcome
        }
        Err(_) => {
            // The rest of the work may keep the process from ending, so the other thread must
            // still end it: a sender that is dropped would stop its waiting.
            std::mem::forget(done);
            Err(Error::Timeout(limit))
        }
    }
}

//! The threads that run queries.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, Result};

/// The stack size of each thread. It is large because the planner handles deep expressions by
/// recursion.
pub const STACK_BYTES: usize = 8 << 20;

/// The time that threads have to end before the process ends without them.
pub const ENDING: Duration = Duration::from_millis(200);

/// A runtime with this number of worker threads; 0 stands for one per core.
pub fn with_threads(threads: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    builder
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(|source| Error::Start { what: "threads", source })
}

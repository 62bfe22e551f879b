//! The threads that run the queries of a session.

use parking_lot::Mutex;
use tokio::runtime::{Handle, Runtime};
use tracesql::{Result, runtime};

/// The threads of a session. They end when the session ends, without waiting for abandoned queries.
pub struct Threads {
    count: usize,
    /// The last one accepts new work.
    runtimes: Mutex<Vec<Runtime>>,
    handle: Mutex<Handle>,
}

impl Threads {
    pub fn new(count: usize) -> Result<Self> {
        let runtime = runtime::with_threads(count)?;
        Ok(Self {
            count,
            handle: Mutex::new(runtime.handle().clone()),
            runtimes: Mutex::new(vec![runtime]),
        })
    }

    /// The runtime that accepts new work.
    pub fn handle(&self) -> Handle {
        self.handle.lock().clone()
    }

    /// Replaces the threads if a query that does not stop keeps them busy. Other queries on them
    /// continue.
    pub fn renew(&self) {
        if let Ok(runtime) = runtime::with_threads(self.count) {
            *self.handle.lock() = runtime.handle().clone();
            self.runtimes.lock().push(runtime);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for runtime in self.runtimes.lock().drain(..) {
            runtime.shutdown_background();
        }
    }
}

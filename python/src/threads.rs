//! The threads that run the queries of a session.

use parking_lot::Mutex;
use tokio::runtime::{Handle, Runtime};
use tracesql::{Result, runtime};

/// The threads of a session. They end with it, without waiting for queries that were given up.
pub struct Threads {
    count: usize,
    /// The last one takes new work.
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

    /// Takes new work.
    pub fn handle(&self) -> Handle {
        self.handle.lock().clone()
    }

    /// Replaces the threads, because a query that does not stop keeps these busy. Other queries on
    /// them go on.
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

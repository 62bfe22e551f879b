//! Threads that end before their work is used.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

/// Waits for the end of all threads. The panic of one of them goes on in the caller.
///
/// A scope waits for the work of its threads, but a handle that is dropped detaches its thread. If
/// the thread ends at that moment, `pthread_detach` of glibc 2.36 reads memory that is not mapped
/// any more.
pub fn join(threads: Vec<ScopedJoinHandle<'_, ()>>) {
    for thread in threads {
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
}

//! Work on several threads.

use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many threads to start, and how large their stacks are.
#[derive(Clone, Copy)]
pub struct Threads {
    /// The most threads to start. There are never more than cores or items, and at least one.
    pub most: usize,
    /// The size of the stack of each.
    pub stack_bytes: usize,
}

impl Threads {
    /// The results of `f` for each item, in the order of the items. The calling thread does no work
    /// but to wait. Each thread makes a state of its own for all the items that it takes.
    ///
    /// Returns an error if no thread can be started. If only some can be, they do all the work.
    pub fn each<T: Sync, S, R: Send>(
        self,
        items: &[T],
        state: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, &T) -> R + Sync,
    ) -> io::Result<Vec<R>> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let next = AtomicUsize::new(0);
        let made = Mutex::new(Vec::with_capacity(items.len()));
        let work = || {
            let mut state = state();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { break };
                let result = f(&mut state, item);
                made.lock().unwrap_or_else(|e| e.into_inner()).push((at, result));
            }
        };
        thread::scope(|scope| {
            let start = || {
                let thread = thread::Builder::new().stack_size(self.stack_bytes);
                thread.spawn_scoped(scope, work)
            };
            let mut threads = vec![start()?];
            for _ in 1..cores.min(self.most).min(items.len()) {
                let Ok(thread) = start() else { break };
                threads.push(thread);
            }
            // A handle that is dropped detaches its thread. If the thread ends at that moment,
            // `pthread_detach` of glibc 2.36 reads memory that is not mapped any more.
            for thread in threads {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            io::Result::Ok(())
        })?;
        let mut made = made.into_inner().unwrap_or_else(|e| e.into_inner());
        made.sort_by_key(|(at, _)| *at);
        Ok(made.into_iter().map(|(_, result)| result).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Threads;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for (items, most) in [(0, 2), (1, 2), (100, 0), (100, 1), (100, 3)] {
            let items: Vec<usize> = (0..items).collect();
            let threads = Threads { most, stack_bytes: 1 << 20 };
            let doubled = threads.each(&items, || 2, |factor, item| *factor * item);
            assert_eq!(
                doubled.expect("threads"),
                items.iter().map(|item| 2 * item).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn the_calling_thread_does_no_work() {
        let threads = Threads { most: 1, stack_bytes: 1 << 20 };
        let workers = threads.each(&[1, 2], || (), |_, _| thread::current().id());
        let workers = workers.expect("a thread");
        assert_eq!(workers[0], workers[1]);
        assert_ne!(workers[0], thread::current().id());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn stacks_that_do_not_fit_into_memory_are_an_error() {
        let threads = Threads { most: 2, stack_bytes: usize::MAX >> 2 };
        assert!(threads.each(&[1], || (), |_, _| ()).is_err());
    }
}

//! Threads for planning. Queries that start together, and views that do not build on each other,
//! are planned in parallel.

use std::num::NonZero;
use std::thread;

use datafusion::error::Result;
use parking_lot::{Condvar, Mutex};
use tracesql_udfs::threads::Threads;

/// Plans of views on views are deep, and planning recurses into them.
const THREADS: Threads = Threads { most: usize::MAX, stack_bytes: 64 << 20 };

/// The results of `f` for each item, in the order of the items, or the error of the first item that
/// fails. `f` runs on separate threads, so it may wait for tasks of the runtime that calls this
/// function.
pub fn each<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    THREADS.each(items, || (), |(), item| f(item))?.into_iter().collect()
}

/// Runs tasks, and the further tasks that they return, until none is left. `f` runs on separate
/// threads, like that of [`each`]. The latest tasks run first.
pub fn all<T: Send>(first: Vec<T>, f: impl Fn(T) -> Vec<T> + Sync) -> Result<()> {
    if first.is_empty() {
        return Ok(());
    }
    let tasks =
        Tasks { now: Mutex::new(Now { waiting: first, running: 0 }), changed: Condvar::new() };
    let work = || {
        while let Some(task) = tasks.next() {
            let running = Running { tasks: &tasks };
            tasks.add(f(task));
            drop(running);
        }
    };
    let workers = vec![(); thread::available_parallelism().map_or(1, NonZero::get)];
    THREADS.each(&workers, || (), |(), ()| work())?;
    Ok(())
}

struct Tasks<T> {
    now: Mutex<Now<T>>,
    changed: Condvar,
}

struct Now<T> {
    waiting: Vec<T>,
    running: usize,
}

impl<T> Tasks<T> {
    /// The next task. Waits for one while tasks run that may return further ones.
    fn next(&self) -> Option<T> {
        let mut now = self.now.lock();
        loop {
            if let Some(task) = now.waiting.pop() {
                now.running += 1;
                return Some(task);
            }
            if now.running == 0 {
                return None;
            }
            self.changed.wait(&mut now);
        }
    }

    fn add(&self, more: Vec<T>) {
        self.now.lock().waiting.extend(more);
        self.changed.notify_all();
    }
}

/// A task that runs. It ends even if it panics, so that no thread waits for it.
struct Running<'t, T> {
    tasks: &'t Tasks<T>,
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        self.tasks.now.lock().running -= 1;
        self.tasks.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::runtime::{Builder, Handle};

    use super::{all, each};

    #[test]
    fn tasks_of_tasks_run() {
        let sum = AtomicU64::new(0);
        let halves = |task: u64| {
            sum.fetch_add(task, Ordering::Relaxed);
            if task > 1 { vec![task / 2; 2] } else { Vec::new() }
        };
        all(vec![1 << 10, 1 << 12], halves).expect("threads");
        assert_eq!(sum.into_inner(), 11 * (1 << 10) + 13 * (1 << 12));
        all(Vec::new(), |_: u64| panic!("there is no task")).expect("no threads");
    }

    #[test]
    #[should_panic(expected = "of the task")]
    fn a_panic_of_a_task_leaves_no_thread_waiting() {
        let _ = all(vec![0, 0, 0], |_| -> Vec<u64> { panic!("a panic of the task") });
    }

    #[test]
    fn any_number_of_items_may_wait_for_the_runtime() {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let handle = Handle::current();
            for items in [&[][..], &[1], &[1, 2, 3]] {
                let doubled =
                    each(items, |item| handle.block_on(async { Ok(2 * item) })).expect("numbers");
                assert_eq!(doubled, items.iter().map(|item| 2 * item).collect::<Vec<i32>>());
            }
        });
    }
}

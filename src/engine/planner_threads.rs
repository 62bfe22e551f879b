//! Threads for planning. Queries that start together, and views that do not build on each other,
//! are planned in parallel.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use datafusion::error::{DataFusionError, Result};

/// Plans of views on views are deep, and planning recurses into them.
const STACK_BYTES: usize = 64 << 20;

/// The results of `f` for each item, in the order of the items, or the error of the first item that
/// fails. `f` runs on separate threads, so it may wait for tasks of the runtime that calls this
/// function.
pub fn each<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = f(item);
            made.lock().unwrap_or_else(|e| e.into_inner()).push((at, result));
        }
    };
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work))
            .collect();
        started
            .into_iter()
            .try_for_each(|thread| thread.map(|_| ()).map_err(DataFusionError::IoError))
    })?;
    let mut made = made.into_inner().unwrap_or_else(|e| e.into_inner());
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Handle};

    use super::each;

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

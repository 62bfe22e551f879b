//! Threads for planning. Queries that start together, and views that do not build on each other,
//! are planned in parallel.

use datafusion::error::Result;
use tracesql_udfs::threads::Threads;

/// Plans of views on views are deep, and planning recurses into them.
const THREADS: Threads = Threads { most: usize::MAX, stack_bytes: 64 << 20 };

/// The results of `f` for each item, in the order of the items, or the error of the first item that
/// fails. `f` runs on separate threads, so it may wait for tasks of the runtime that calls this
/// function.
pub fn each<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    THREADS.each(items, || (), |(), item| f(item))?.into_iter().collect()
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

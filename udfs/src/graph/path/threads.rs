//! Work on several threads.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of `f` for each item, in the order of the items. At most `limit` threads, and no
/// more than there are cores, share the work; each has a state of its own.
pub fn each<T: Sync, S, R: Send>(
    items: &[T],
    limit: usize,
    state: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
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
        for _ in 1..cores.min(limit).min(items.len()) {
            // Without a further thread, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(|e| e.into_inner());
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for (items, limit) in [(0, 2), (1, 2), (100, 0), (100, 1), (100, 3)] {
            let items: Vec<usize> = (0..items).collect();
            let doubled = each(&items, limit, || 2, |factor, item| *factor * item);
            assert_eq!(doubled, items.iter().map(|item| 2 * item).collect::<Vec<_>>());
        }
    }
}

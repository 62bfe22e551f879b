//! The calls that may have launched device work, found by correlation and time.

use crate::issues::{Code, Issues};

/// A call that may have launched device work.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// The correlation that the call shares with its device work, or
    /// [`NO_LINK`](crate::trace::NO_LINK) if it has none.
    pub correlation: i64,
    /// Start, ns.
    pub ts: i64,
    /// Byte offset of the call's text.
    pub offset: u64,
    /// Position in the event list.
    pub ord: u32,
    /// Row number.
    pub row: u32,
    /// The innermost enclosing operator, or [`NO_ROW`](super::NO_ROW).
    pub op: u32,
    /// Track number.
    pub track: u32,
    /// Whether the call launches a graph.
    pub graph: bool,
}

/// All launches, sorted by correlation if they have one.
#[derive(Default)]
pub struct Launches {
    /// Launches with a correlation, sorted by correlation, start and position once all are added.
    list: Vec<Launch>,
    /// Launches without a correlation, with the External id that they may share with device work.
    uncorrelated: Vec<(i64, Launch)>,
}

impl Launches {
    /// Creates an empty list with room for `count` launches.
    pub fn with_room_for(count: usize) -> Self {
        Self { list: Vec::with_capacity(count), uncorrelated: Vec::new() }
    }

    /// Adds a launch with a correlation.
    pub fn add(&mut self, launch: Launch) {
        self.list.push(launch);
    }

    /// Adds a launch without a correlation. `shared_id` is its External id, or
    /// [`NO_LINK`](crate::trace::NO_LINK) if it has none.
    pub fn add_uncorrelated(&mut self, shared_id: i64, launch: Launch) {
        self.uncorrelated.push((shared_id, launch));
    }

    /// Sorts the launches for [`Launches::find`], once all of them are added. Counts launches whose
    /// correlation occurs in an earlier row.
    pub fn finish(&mut self, issues: &mut Issues) {
        self.list.sort_unstable_by_key(|l| (l.correlation, l.ts, l.ord));
        for group in self.list.chunk_by(|a, b| a.correlation == b.correlation) {
            if group.len() == 1 {
                continue;
            }
            let first = group.iter().map(|l| l.row).min();
            for launch in group.iter().filter(|l| Some(l.row) != first) {
                let (ord, offset) = (launch.ord.into(), launch.offset);
                issues.add(Code::DuplicateCorrelation, Some(ord), Some(offset), b"");
            }
        }
    }

    /// Finds the launch of device work that starts at `ts`: the latest launch that starts no later,
    /// or otherwise the earliest one. The search begins at `near` and leaves its end there, because
    /// work mostly comes in the order of its launches.
    pub fn find(&self, near: &mut usize, correlation: i64, ts: i64) -> Option<&Launch> {
        let after = partition_near(&self.list, *near, |launch| {
            (launch.correlation, launch.ts) <= (correlation, ts)
        });
        *near = after;
        let is_one = |l: &&Launch| l.correlation == correlation;
        let before = after.checked_sub(1).and_then(|at| self.list.get(at)).filter(is_one);
        before.or_else(|| self.list.get(after).filter(is_one))
    }

    /// Iterates over the launches with a correlation.
    pub fn correlated(&self) -> impl Iterator<Item = &Launch> {
        self.list.iter()
    }

    /// Iterates over the launches without a correlation, with their External ids.
    pub fn uncorrelated(&self) -> impl Iterator<Item = (i64, &Launch)> {
        self.uncorrelated.iter().map(|(id, launch)| (*id, launch))
    }
}

/// Returns the number of values at the start of a list for which `is_before` holds. It holds for
/// none after them. The search takes little time if the result is near `near`.
fn partition_near<T>(list: &[T], near: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let near = near.min(list.len());
    let (mut low, mut high, mut step) = (0, list.len(), 1);
    if list.get(near).is_some_and(&is_before) {
        low = near + 1;
        while let Some(value) = list.get(low + step - 1) {
            if !is_before(value) {
                high = low + step - 1;
                break;
            }
            low += step;
            step *= 2;
        }
    } else {
        high = near;
        while high > 0 {
            let at = high.saturating_sub(step);
            if is_before(&list[at]) {
                low = at + 1;
                break;
            }
            high = at;
            step *= 2;
        }
    }
    low + list[low..high].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_may_begin_anywhere() {
        for len in 0..20 {
            let list: Vec<usize> = (0..len).collect();
            for (near, end) in (0..25).flat_map(|near| (0..=len).map(move |end| (near, end))) {
                assert_eq!(partition_near(&list, near, |&value| value < end), end);
            }
        }
    }

    /// Builds `count` launches; `of(i)` returns the correlation and the start of launch `i`.
    fn launches(count: i64, of: impl Fn(i64) -> (i64, i64)) -> Launches {
        let mut launches = Launches::default();
        for i in 0..count {
            let (correlation, ts) = of(i);
            launches.add(Launch {
                correlation,
                ord: i as u32,
                row: i as u32,
                op: 0,
                track: 0,
                ts,
                offset: 0,
                graph: false,
            });
        }
        let mut issues = Issues::default();
        launches.finish(&mut issues);
        let mut seen = std::collections::HashSet::new();
        let repeated = (0..count).filter(|&i| !seen.insert(of(i).0)).count();
        assert_eq!(issues.count(Code::DuplicateCorrelation), repeated as u64);
        launches
    }

    #[test]
    fn work_belongs_to_the_latest_launch_before_it_else_to_the_earliest() {
        let list = [(7, 20), (3, 10), (7, 10), (7, 20), (9, 5)];
        let launches = launches(5, |i| list[i as usize]);
        let found = |correlation, ts| launches.find(&mut 0, correlation, ts).map(|l| l.ord);
        assert_eq!([9, 10, 19, 20, 99].map(|ts| found(7, ts)), [2, 2, 2, 3, 3].map(Some));
        assert_eq!([found(3, 0), found(9, 6), found(8, 6)], [Some(1), Some(4), None]);
    }

    #[test]
    fn many_launches_with_one_correlation_take_little_time() {
        let n = 300_000;
        let launches = launches(n, |ts| (1, ts));
        assert!((0..n).all(|ts| launches.find(&mut 0, 1, ts).map(|l| l.ts) == Some(ts)));
    }
}

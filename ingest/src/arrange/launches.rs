//! The calls that may have launched device work, found by correlation and time.

use rustc_hash::FxHashMap;

use crate::trace::NO_LINK;

/// A call that may have launched device work.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// The correlation that the call shares with its device work, or [`NO_LINK`] if it has none.
    pub correlation: i64,
    /// The External id of a call without a correlation, or [`NO_LINK`] if it has none.
    pub shared_id: i64,
    /// Position in the event list.
    pub ord: u32,
    /// The innermost enclosing operator, or [`NO_ROW`](super::NO_ROW).
    pub op: u32,
    /// Track number.
    pub track: u32,
    /// Start, ns.
    pub ts: i64,
    /// Byte offset of the call's text.
    pub offset: u64,
    /// Whether the call launches a graph.
    pub graph: bool,
}

/// All launches, indexed by correlation if they have one.
#[derive(Default)]
pub struct Launches {
    /// Launches with a correlation, sorted by correlation, start and position once all are added.
    list: Vec<Launch>,
    /// For each correlation, the index of its first launch in `list`, and the number of its
    /// launches.
    groups: FxHashMap<i64, (u32, u32)>,
    /// Launches without a correlation.
    uncorrelated: Vec<Launch>,
}

impl Launches {
    /// Adds a launch; returns whether an earlier launch has the same correlation.
    pub fn add(&mut self, launch: Launch) -> bool {
        if launch.correlation == NO_LINK {
            self.uncorrelated.push(launch);
            return false;
        }
        self.list.push(launch);
        let (_, count) = self.groups.entry(launch.correlation).or_default();
        *count += 1;
        *count > 1
    }

    /// Sorts and indexes the launches for [`Launches::find`], once all of them are added.
    pub fn finish(&mut self) {
        self.list.sort_unstable_by_key(|l| (l.correlation, l.ts, l.ord));
        let mut at = 0;
        while let Some(group) =
            self.list.get(at).and_then(|launch| self.groups.get_mut(&launch.correlation))
        {
            group.0 = at as u32;
            at += group.1 as usize;
        }
    }

    /// Finds the launch of device work that starts at `ts`: the latest launch that starts no later,
    /// or otherwise the earliest one.
    pub fn find(&self, correlation: i64, ts: i64) -> Option<&Launch> {
        let &(start, count) = self.groups.get(&correlation)?;
        let group = &self.list[start as usize..][..count as usize];
        let after = group.partition_point(|launch| launch.ts <= ts);
        group.get(after.saturating_sub(1))
    }

    /// Iterates over the launches with a correlation.
    pub fn correlated(&self) -> impl Iterator<Item = &Launch> {
        self.list.iter()
    }

    /// Iterates over the launches without a correlation.
    pub fn uncorrelated(&self) -> impl Iterator<Item = &Launch> {
        self.uncorrelated.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds `count` launches; `of(i)` returns the correlation and the start of launch `i`.
    fn launches(count: i64, of: impl Fn(i64) -> (i64, i64)) -> Launches {
        let mut launches = Launches::default();
        for i in 0..count {
            let (correlation, ts) = of(i);
            launches.add(Launch {
                correlation,
                shared_id: NO_LINK,
                ord: i as u32,
                op: 0,
                track: 0,
                ts,
                offset: 0,
                graph: false,
            });
        }
        launches.finish();
        launches
    }

    #[test]
    fn work_belongs_to_the_latest_launch_before_it_else_to_the_earliest() {
        let list = [(7, 20), (3, 10), (7, 10), (7, 20), (9, 5)];
        let launches = launches(5, |i| list[i as usize]);
        let found = |correlation, ts| launches.find(correlation, ts).map(|l| l.ord);
        assert_eq!([9, 10, 19, 20, 99].map(|ts| found(7, ts)), [2, 2, 2, 3, 3].map(Some));
        assert_eq!([found(3, 0), found(9, 6), found(8, 6)], [Some(1), Some(4), None]);
    }

    #[test]
    fn many_launches_with_one_correlation_take_little_time() {
        let n = 300_000;
        let launches = launches(n, |ts| (1, ts));
        assert!((0..n).all(|ts| launches.find(1, ts).map(|l| l.ts) == Some(ts)));
    }
}

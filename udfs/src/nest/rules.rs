//! Finds the enclosing interval of each interval, in one pass in the order of start, longest first.
//!
//! The rules are those of the reader (`ingest/src/arrange/nesting.rs`). Intervals are half-open.
//! The parent of an interval is the innermost open interval that encloses it fully. Zero-length
//! intervals at the same instant are nested in each other. A zero-length interval at the end of
//! another interval is not its child. Self time is the length minus the union of the direct
//! children.

/// An open interval that may still enclose others.
#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    start: i64,
    end: i64,
    covered_to: i64,
    children: i64,
    depth: u32,
    /// Position of the next outer open interval that ends later than this one, or [`NONE`].
    ///
    /// All intervals between these two end no later than this one, so a search for a later end can
    /// skip them. The search takes amortized constant time, however the intervals overlap.
    outer: usize,
}

const NONE: usize = usize::MAX;

/// Nests the intervals of one partition.
#[derive(Debug, Default)]
pub struct Nester {
    open: Vec<Open>,
    last: Option<(i64, i64)>,
}

/// The parent and depth of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nested {
    /// The row of the parent.
    pub parent: Option<usize>,
    /// Number of ancestors.
    pub depth: u32,
}

/// Reasons why an interval cannot be nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The interval ends before it starts.
    EndBeforeStart,
    /// The interval comes after one that should follow it.
    Order,
    /// The length of the interval does not fit into 64 bits.
    TooLong,
}

impl Nester {
    /// Adds the next interval. `closed` receives the row and the self time of each interval that
    /// ends before the new one.
    pub fn push(
        &mut self,
        row: usize,
        start: i64,
        end: i64,
        mut closed: impl FnMut(usize, i64),
    ) -> Result<Nested, Refused> {
        if end < start {
            return Err(Refused::EndBeforeStart);
        }
        if end.checked_sub(start).is_none() {
            return Err(Refused::TooLong);
        }
        if self.last.is_some_and(|(s, e)| start < s || (start == s && end > e)) {
            return Err(Refused::Order);
        }
        self.last = Some((start, end));
        while let Some(top) = self.open.pop_if(|top| !still_open(top, start, end)) {
            closed(top.row, top.self_time());
        }
        let parent = self.enclosing(start, end);
        let mut nested = Nested { parent: None, depth: 0 };
        if let Some(parent) = parent.map(|at| &mut self.open[at]) {
            nested = Nested { parent: Some(parent.row), depth: parent.depth + 1 };
            if end > parent.covered_to {
                parent.children += end - start.max(parent.covered_to);
                parent.covered_to = end;
            }
        }
        let outer = self.ending_after(end);
        self.open.push(Open {
            row,
            start,
            end,
            covered_to: start,
            children: 0,
            depth: nested.depth,
            outer,
        });
        Ok(nested)
    }

    /// Closes all open intervals.
    pub fn finish(&mut self, mut closed: impl FnMut(usize, i64)) {
        while let Some(top) = self.open.pop() {
            closed(top.row, top.self_time());
        }
    }

    fn enclosing(&self, start: i64, end: i64) -> Option<usize> {
        let mut at = self.open.len().checked_sub(1)?;
        while at != NONE {
            let open = &self.open[at];
            if open.end >= end && still_open(open, start, end) {
                return Some(at);
            }
            at = open.outer;
        }
        None
    }

    fn ending_after(&self, end: i64) -> usize {
        let mut at = self.open.len().checked_sub(1).unwrap_or(NONE);
        while at != NONE && self.open[at].end <= end {
            at = self.open[at].outer;
        }
        at
    }
}

impl Open {
    fn self_time(&self) -> i64 {
        self.end - self.start - self.children
    }
}

#[inline]
fn still_open(open: &Open, start: i64, end: i64) -> bool {
    open.end > start || (open.end == start && open.start == start && end == start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the parent, the depth and the self time of each interval.
    fn nest(intervals: &[(i64, i64)]) -> Vec<(Option<usize>, u32, i64)> {
        let mut nester = Nester::default();
        let mut found = vec![(None, 0, i64::MIN); intervals.len()];
        for (row, &(start, end)) in intervals.iter().enumerate() {
            let nested = nester
                .push(row, start, end, |closed, own| found[closed].2 = own)
                .expect("in order");
            (found[row].0, found[row].1) = (nested.parent, nested.depth);
        }
        nester.finish(|closed, own| found[closed].2 = own);
        found
    }

    /// Computes the same values by definition, from all pairs.
    ///
    /// Among the earlier intervals that fully enclose an interval and are open at its start, the
    /// latest one is the innermost.
    fn by_definition(intervals: &[(i64, i64)]) -> Vec<(Option<usize>, u32, i64)> {
        let mut found: Vec<(Option<usize>, u32, i64)> = Vec::new();
        for (row, &(start, end)) in intervals.iter().enumerate() {
            let encloses = |&(s, e): &(i64, i64)| {
                s <= start && end <= e && (start < e || (start == end && s == e))
            };
            let parent = intervals[..row].iter().rposition(encloses);
            let depth = parent.map_or(0, |p| found[p].1 + 1);
            found.push((parent, depth, 0));
        }
        for row in 0..intervals.len() {
            let (start, end) = intervals[row];
            let children =
                || (0..intervals.len()).filter(|&c| found[c].0 == Some(row)).map(|c| intervals[c]);
            let own = (start..end).filter(|t| !children().any(|(s, e)| s <= *t && *t < e)).count();
            found[row].2 = own as i64;
        }
        found
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            mut intervals in prop::collection::vec((0i64..30, 0i64..12), 0..40)
        ) {
            intervals.sort_by_key(|&(start, length)| (start, -length));
            let intervals: Vec<_> =
                intervals.into_iter().map(|(start, length)| (start, start + length)).collect();
            prop_assert_eq!(nest(&intervals), by_definition(&intervals));
        }
    }

    #[test]
    fn a_partial_overlap_gets_the_innermost_enclosing_parent() {
        let found = nest(&[(0, 100), (10, 50), (20, 60), (55, 58), (70, 120)]);
        assert_eq!(
            found,
            vec![(None, 0, 50), (Some(0), 1, 40), (Some(0), 1, 37), (Some(2), 2, 3), (None, 0, 50)]
        );
    }

    #[test]
    fn an_empty_interval_at_an_end_is_not_a_child() {
        assert_eq!(
            nest(&[(0, 10), (10, 10), (10, 10)]),
            vec![(None, 0, 10), (None, 0, 0), (Some(1), 1, 0)]
        );
    }

    #[test]
    fn wrong_intervals_are_refused() {
        let mut nester = Nester::default();
        assert_eq!(nester.push(0, 5, 4, |_, _| ()), Err(Refused::EndBeforeStart));
        assert_eq!(nester.push(0, i64::MIN, i64::MAX, |_, _| ()), Err(Refused::TooLong));
        assert!(nester.push(0, 5, 9, |_, _| ()).is_ok());
        assert_eq!(nester.push(1, 5, 10, |_, _| ()), Err(Refused::Order));
        assert_eq!(nester.push(1, 4, 5, |_, _| ()), Err(Refused::Order));
    }

    #[test]
    fn a_staircase_of_overlaps_takes_linear_time() {
        let intervals: Vec<_> = (0..300_000).map(|i| (i, i + 1_000_000)).collect();
        assert!(nest(&intervals).iter().all(|n| n.1 == 0));
    }
}

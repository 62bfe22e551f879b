//! Determines when the work of a trace begins and ends.
//!
//! Work consists of elements that happen at a time: durations, instants and counters. Metadata,
//! clock marks and flows are not work; their time is arbitrary and most often 0. Work whose time
//! was never set is also written at 0, or at the value that corresponds to 0 on a clock that begins
//! at `baseTimeNanoseconds`. Traces may begin at 0, so such a time counts as unset only if all
//! other work is more than a day away.

/// Distance from all other work, in ns, beyond which work at 0 counts as work without a time.
const FAR: u64 = 86_400_000_000_000;

/// Whether an element with this phase is work.
#[inline]
pub fn is_work(ph: u8) -> bool {
    !matches!(ph, b'M' | b'c' | b's' | b't' | b'f')
}

/// The work that starts at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// Start, ns.
    pub ts: i64,
    /// Latest end, ns.
    pub end: i64,
    /// Number of elements that start at this instant.
    pub count: u64,
    /// Position of the first element in the event list.
    pub ord: u32,
    /// Byte offset of the first element's text.
    pub offset: u64,
}

/// Starts and ends of work, with the data that is needed to decide later which starts were not set.
#[derive(Debug, Clone, Copy)]
pub struct WorkTimes {
    /// Start of `first`; `i64::MAX` while there is no `first`.
    after: i64,
    /// Earliest start and latest end of the work that is in neither `zero` nor `first`. The start
    /// is after the end if there is no such work.
    rest: (i64, i64),
    /// Work that starts at 0.
    zero: Option<Instant>,
    /// The earliest work that does not start at 0.
    first: Option<Instant>,
}

impl Default for WorkTimes {
    fn default() -> Self {
        Self { after: i64::MAX, rest: (i64::MAX, i64::MIN), zero: None, first: None }
    }
}

/// The time span of a trace's work.
#[derive(Debug, Clone, Default)]
pub struct Span {
    /// Earliest start and latest end, ns; `None` if there is no work.
    pub bounds: Option<(i64, i64)>,
    /// Work whose time was not set.
    pub unset: Vec<Instant>,
}

impl WorkTimes {
    /// Adds an element.
    #[inline]
    pub fn note(&mut self, ts: i64, end: i64, ord: u32, offset: u64) {
        if ts > self.after && ts != 0 {
            self.rest = (self.rest.0.min(ts), self.rest.1.max(end));
        } else {
            self.edge(Instant { ts, end, count: 1, ord, offset });
        }
    }

    /// Adds the times of another part of the same list.
    pub fn merge(&mut self, other: &Self) {
        [other.zero, other.first].into_iter().flatten().for_each(|instant| self.edge(instant));
        self.add_rest(other.rest);
    }

    /// Adds `base` to all positions, to count them from the start of the event list.
    pub fn rebase(&mut self, base: u32) {
        [&mut self.zero, &mut self.first]
            .into_iter()
            .flatten()
            .for_each(|instant| instant.ord += base);
    }

    /// Computes the time span of the work. `base` is the Unix time of the clock's zero, if known.
    pub fn span(&self, base: Option<i64>) -> Span {
        let bounds = |instant: Option<Instant>| instant.map(|i| (i.ts, i.end));
        let join = |a: Option<(i64, i64)>, b| match b {
            Some(b) => Some(around(a, b)),
            None => a,
        };
        let (mut zero, mut first) = (self.zero, self.first);
        let rest = Some(self.rest).filter(|(from, to)| from <= to);
        let mut unset = Vec::new();
        let epoch = base.filter(|&ns| ns > 0).map(|ns| -ns);
        if let Some(instant) =
            first.filter(|i| Some(i.ts) == epoch && is_far(i.ts, join(rest, bounds(zero))))
        {
            unset.push(instant);
            first = None;
        }
        if let Some(instant) = zero.filter(|i| is_far(i.ts, join(rest, bounds(first)))) {
            unset.push(instant);
            zero = None;
        }
        Span { bounds: join(join(rest, bounds(first)), bounds(zero)), unset }
    }

    /// Adds work that starts at 0, or no later than all other work.
    #[cold]
    fn edge(&mut self, instant: Instant) {
        if instant.ts == 0 {
            self.zero = Some(self.zero.map_or(instant, |zero| zero.with(&instant)));
            return;
        }
        match self.first {
            Some(first) if first.ts == instant.ts => self.first = Some(first.with(&instant)),
            Some(first) if first.ts < instant.ts => self.add_rest((instant.ts, instant.end)),
            first => {
                self.first = Some(instant);
                self.after = instant.ts;
                if let Some(first) = first {
                    self.add_rest((first.ts, first.end));
                }
            }
        }
    }

    fn add_rest(&mut self, (from, to): (i64, i64)) {
        self.rest = (self.rest.0.min(from), self.rest.1.max(to));
    }
}

impl Instant {
    fn with(&self, other: &Self) -> Self {
        let (ord, offset) = if other.offset < self.offset {
            (other.ord, other.offset)
        } else {
            (self.ord, self.offset)
        };
        Self { end: self.end.max(other.end), count: self.count + other.count, ord, offset, ..*self }
    }
}

fn around(a: Option<(i64, i64)>, b: (i64, i64)) -> (i64, i64) {
    a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1)))
}

/// Whether a time is far from all work.
fn is_far(ts: i64, work: Option<(i64, i64)>) -> bool {
    work.is_some_and(|(from, to)| {
        (ts < from && ts.abs_diff(from) > FAR) || (ts > to && ts.abs_diff(to) > FAR)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000_000_000;

    fn times(list: &[(i64, i64)]) -> WorkTimes {
        let mut times = WorkTimes::default();
        for (ord, &(ts, dur)) in list.iter().enumerate() {
            times.note(ts, ts + dur, ord as u32, ord as u64 * 100);
        }
        times
    }

    /// Start and end, followed by the times that were not set with their counts.
    type Span = (Option<(i64, i64)>, Vec<(i64, u64)>);

    fn span(list: &[(i64, i64)], base: Option<i64>) -> Span {
        let span = times(list).span(base);
        (span.bounds, span.unset.iter().map(|i| (i.ts, i.count)).collect())
    }

    #[test]
    fn a_trace_may_begin_at_0() {
        assert_eq!(span(&[(0, 5), (7, 2), (0, 1)], None), (Some((0, 9)), vec![]));
        assert_eq!(span(&[(0, 5), (DAY, 2)], None), (Some((0, DAY + 2)), vec![]));
        assert_eq!(span(&[(0, 5), (-DAY, 2), (3, 3)], None), (Some((-DAY, 6)), vec![]));
        assert_eq!(span(&[(0, 5), (0, 7)], None), (Some((0, 7)), vec![]));
        assert_eq!(span(&[], None), (None, vec![]));
    }

    #[test]
    fn work_at_0_far_from_all_other_work_has_no_time() {
        assert_eq!(
            span(&[(9 * DAY, 5), (0, 5), (9 * DAY + 7, 2), (0, 10 * DAY)], None),
            (Some((9 * DAY, 9 * DAY + 9)), vec![(0, 2)])
        );
        assert_eq!(
            span(&[(-9 * DAY, 5), (0, 5)], None),
            (Some((-9 * DAY, 5 - 9 * DAY)), vec![(0, 1)])
        );
    }

    #[test]
    fn a_clock_that_begins_later_moves_the_0() {
        let base = 20_000 * DAY;
        let list = [(5, 5), (-base, 3), (-base, 4), (9, 1)];
        assert_eq!(span(&list, Some(base)), (Some((5, 10)), vec![(-base, 2)]));
        assert_eq!(span(&list, None), (Some((-base, 10)), vec![]));
        assert_eq!(span(&list, Some(i64::MIN)), (Some((-base, 10)), vec![]));
        assert_eq!(span(&[(-base, 3), (0, 4)], Some(base)), (Some((0, 4)), vec![(-base, 1)]));
    }

    proptest! {
        #[test]
        fn merged_parts_equal_the_whole(
            list in prop::collection::vec(((-2i64..4).prop_map(|n| n * 2 * DAY), 0i64..9), 0..12),
            at in 0usize..12,
        ) {
            let whole = times(&list);
            let (a, b) = list.split_at(at.min(list.len()));
            let mut parts = times(a);
            let mut other = WorkTimes::default();
            for (i, &(ts, dur)) in b.iter().enumerate() {
                other.note(ts, ts + dur, i as u32, (a.len() + i) as u64 * 100);
            }
            other.rebase(a.len() as u32);
            let mut turned = other;
            turned.merge(&parts);
            parts.merge(&other);
            for base in [None, Some(4 * DAY)] {
                let (want, got, turned) = (whole.span(base), parts.span(base), turned.span(base));
                prop_assert_eq!(want.bounds, got.bounds);
                prop_assert_eq!(want.bounds, turned.bounds);
                prop_assert_eq!(&want.unset, &got.unset);
                prop_assert_eq!(&want.unset, &turned.unset);
                let is_set = |ts| !want.unset.iter().any(|i| i.ts == ts);
                let inside: Vec<_> = list.iter().filter(|(ts, _)| is_set(*ts)).collect();
                prop_assert_eq!(want.bounds.map(|b| b.0), inside.iter().map(|w| w.0).min());
                prop_assert_eq!(want.bounds.map(|b| b.1), inside.iter().map(|w| w.0 + w.1).max());
            }
        }
    }
}

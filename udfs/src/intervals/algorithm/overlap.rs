//! Computes how long each combination of sets is open.

use std::collections::BTreeMap;

use super::{MAX_SETS, Span};

/// Returns, for each bit mask that occurs, how long exactly the sets of this mask are open. The
/// empty mask is omitted.
///
/// Spans must be in the order of their starts, and sets must be below [`MAX_SETS`]. A set is open
/// while any of its spans is open.
pub fn overlap(sorted: impl IntoIterator<Item = (u32, Span)>) -> BTreeMap<u64, u128> {
    let mut sweep = Sweep { at: 0, open: 0, ends: [0; MAX_SETS], lens: BTreeMap::new() };
    for (set, span) in sorted {
        sweep.go_to(span.start);
        let (bit, end) = (1 << set, &mut sweep.ends[set as usize]);
        *end = if sweep.open & bit == 0 { span.end } else { (*end).max(span.end) };
        sweep.open |= bit;
    }
    sweep.go_to(i64::MAX);
    sweep.lens
}

struct Sweep {
    at: i64,
    open: u64,
    ends: [i64; MAX_SETS],
    lens: BTreeMap<u64, u128>,
}

impl Sweep {
    /// Closes the spans that end at or before `time`, and adds the time up to then.
    fn go_to(&mut self, time: i64) {
        while self.open != 0 {
            let (mut next, mut closing) = (i64::MAX, 0u64);
            let mut rest = self.open;
            while rest != 0 {
                let set = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if self.ends[set] < next {
                    (next, closing) = (self.ends[set], 0);
                }
                if self.ends[set] == next {
                    closing |= 1 << set;
                }
            }
            let until = next.min(time);
            if until > self.at {
                *self.lens.entry(self.open).or_default() +=
                    u128::from(Span { start: self.at, end: until }.len());
            }
            self.at = until;
            if next > time {
                break;
            }
            self.open &= !closing;
        }
        self.at = time;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_instant_counts_for_the_sets_open_then(
            rows in vec((prop_oneof![0..4u32, Just(62u32)], grid_span()), 0..14)
        ) {
            let mut sorted = rows.clone();
            sorted.sort_by_key(|(_, s)| s.start);
            let mut wanted = BTreeMap::<u64, u128>::new();
            for t in GRID {
                let mask =
                    rows.iter().filter(|(_, s)| s.holds(t)).fold(0u64, |m, (set, _)| m | 1 << set);
                if mask != 0 {
                    *wanted.entry(mask).or_default() += 1;
                }
            }
            prop_assert_eq!(overlap(sorted), wanted);
        }
    }

    #[test]
    fn the_last_instant_is_reached() {
        let all = Span { start: i64::MIN, end: i64::MAX };
        assert_eq!(overlap([(3, all)]), BTreeMap::from([(8, u128::from(u64::MAX))]));
    }
}

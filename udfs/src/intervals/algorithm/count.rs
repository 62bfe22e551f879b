//! Counts the intervals that are open at each time.

use super::Span;

/// Calls `each` with the longest stretches during which the number of open spans is constant and
/// not 0.
///
/// Starts and ends must each be in ascending order.
pub fn segments(
    starts: impl IntoIterator<Item = i64>,
    ends: &[i64],
    mut each: impl FnMut(Span, i64),
) {
    let mut starts = starts.into_iter().peekable();
    let (mut next_end, mut open, mut since) = (0, 0i64, 0);
    while let Some(&end) = ends.get(next_end) {
        let time = starts.peek().map_or(end, |start| end.min(*start));
        // All starts and ends at an instant are counted before the instant is evaluated, so ties
        // have no effect.
        let mut now = open;
        while starts.next_if_eq(&time).is_some() {
            now += 1;
        }
        while ends.get(next_end) == Some(&time) {
            now -= 1;
            next_end += 1;
        }
        if now != open {
            if open > 0 {
                each(Span { start: since, end: time }, open);
            }
            (open, since) = (now, time);
        }
    }
}

/// Returns the largest number of spans that are open at the same time.
pub fn max_overlap(starts: impl IntoIterator<Item = i64>, ends: &[i64]) -> i64 {
    let mut most = 0;
    segments(starts, ends, |_, open| most = most.max(open));
    most
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_instant_has_its_count(spans in grid_spans(12)) {
            let mut starts: Vec<i64> = spans.iter().map(|s| s.start).collect();
            let mut ends: Vec<i64> = spans.iter().map(|s| s.end).collect();
            starts.sort();
            ends.sort();
            let mut found = Vec::new();
            segments(starts.iter().copied(), &ends, |span, n| found.push((span, n)));
            let count = |t| spans.iter().filter(|s| s.holds(t)).count() as i64;
            for t in GRID {
                let at: Vec<i64> =
                    found.iter().filter(|(s, _)| s.holds(t)).map(|(_, n)| *n).collect();
                let wanted = if count(t) == 0 { vec![] } else { vec![count(t)] };
                prop_assert_eq!(at, wanted);
            }
            prop_assert!(
                found.windows(2).all(|w| w[0].0.end < w[1].0.start
                    || (w[0].0.end == w[1].0.start && w[0].1 != w[1].1)),
                "{:?}",
                found
            );
            prop_assert_eq!(max_overlap(starts, &ends), GRID.map(count).max().unwrap());
        }
    }
}

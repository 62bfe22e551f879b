//! Finds the gaps between intervals.

use super::Span;

/// Calls `each` with the gaps between parts. The parts must be in order and must not overlap.
///
/// With `from`, the time from there to the first part is a gap. With `to`, the time from the last
/// part up to there is a gap. Time outside these bounds is never a gap. Without any part and
/// without `from`, there is no gap.
pub fn gaps(
    merged: impl IntoIterator<Item = Span>,
    from: Option<i64>,
    to: Option<i64>,
    mut each: impl FnMut(Span),
) {
    let mut at = from;
    let limit = to.unwrap_or(i64::MAX);
    for part in merged {
        let gap = Span { start: at.unwrap_or(part.start), end: part.start.min(limit) };
        if !gap.is_empty() {
            each(gap);
        }
        at = Some(at.map_or(part.end, |at| at.max(part.end)));
    }
    if let (Some(start), Some(end)) = (at, to)
        && start < end
    {
        each(Span { start, end });
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::merge;
    use super::super::testing::*;
    use super::*;
    use proptest::option;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gaps_are_the_uncovered_instants(
            spans in grid_spans(5),
            from in option::of(GRID),
            to in option::of(GRID)
        ) {
            let mut parts = Vec::new();
            merge(by_start(&spans), |p| parts.push(p));
            let mut found = Vec::new();
            gaps(parts.iter().copied(), from, to, |g| found.push(g));
            let first = from.or(parts.first().map(|p| p.start));
            let last = to.or(parts.last().map(|p| p.end));
            let wanted: Vec<i64> = match (first, last) {
                (Some(first), Some(last)) => {
                    (first..last).filter(|t| !spans.iter().any(|s| s.holds(*t))).collect()
                }
                _ => vec![],
            };
            prop_assert_eq!(instants(&found), wanted);
            prop_assert!(found.windows(2).all(|w| w[0].end < w[1].start));
        }
    }
}

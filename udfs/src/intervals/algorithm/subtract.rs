//! Computes the parts of an interval that other intervals do not cover.

use super::Span;

/// Calls `each` with the parts of a span that no span of `merged` covers. `merged` must be in
/// order, and its spans must not overlap.
pub fn subtract(span: Span, merged: &[Span], mut each: impl FnMut(Span)) {
    let mut at = span.start;
    let first = merged.partition_point(|m| m.end <= span.start);
    for cover in merged[first..].iter().take_while(|m| m.start < span.end) {
        if at < cover.start {
            each(Span { start: at, end: cover.start });
        }
        at = cover.end;
    }
    if at < span.end {
        each(Span { start: at, end: span.end });
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::merge;
    use super::super::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_remaining_parts_are_not_covered(span in grid_span(), covers in grid_spans(6)) {
            let mut merged = Vec::new();
            merge(by_start(&covers), |p| merged.push(p));
            let mut found = Vec::new();
            subtract(span, &merged, |p| found.push(p));
            let wanted: Vec<i64> =
                (span.start..span.end).filter(|t| !covers.iter().any(|c| c.holds(*t))).collect();
            prop_assert_eq!(instants(&found), wanted);
            prop_assert!(found.windows(2).all(|w| w[0].end < w[1].start));
        }
    }
}

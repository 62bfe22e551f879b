//! Computes the union of intervals.

use super::{Fault, Span, as_bigint};

/// Calls `each` with the parts of the union of spans. The spans must be in the order of their
/// starts. The resulting parts do not touch.
pub fn merge(sorted: impl IntoIterator<Item = Span>, mut each: impl FnMut(Span)) {
    let mut spans = sorted.into_iter();
    let Some(mut open) = spans.next() else { return };
    for span in spans {
        if span.start <= open.end {
            open.end = open.end.max(span.end);
        } else {
            each(open);
            open = span;
        }
    }
    each(open);
}

/// Returns the length of the union of spans, which must be in the order of their starts.
pub fn union_len(sorted: impl IntoIterator<Item = Span>) -> Result<i64, Fault> {
    let mut len = 0u128;
    merge(sorted, |part| len += u128::from(part.len()));
    as_bigint(len)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_union_is_the_covered_instants(spans in grid_spans(12)) {
            let sorted = by_start(&spans);
            let mut parts = Vec::new();
            merge(sorted.iter().copied(), |p| parts.push(p));
            let covered: Vec<i64> = GRID.filter(|t| spans.iter().any(|s| s.holds(*t))).collect();
            prop_assert_eq!(instants(&parts), covered.clone());
            prop_assert_eq!(union_len(sorted).unwrap(), covered.len() as i64);
            prop_assert!(parts.windows(2).all(|w| w[0].end < w[1].start), "parts touch: \
                {:?}", parts);
        }
    }

    #[test]
    fn lengths_beyond_bigint_are_refused() {
        let all = Span { start: i64::MIN, end: i64::MAX };
        assert_eq!(all.len(), u64::MAX);
        assert_eq!(union_len([all]), Err(Fault::TooLong));
        assert_eq!(union_len([Span { start: i64::MIN, end: -1 }]), Ok(i64::MAX));
    }
}

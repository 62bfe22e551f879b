//! Finds the overlapping intervals of two lists.

use super::{Item, Span};

/// Calls `each` with every overlapping pair and its overlap. Both lists must be in the order of
/// starts.
///
/// Every step over a list except one gives a pair, so the cost is proportional to the result.
pub fn pairs(a: &[Item], b: &[Item], mut each: impl FnMut(u32, u32, Span)) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i].span, b[j].span);
        if x.start <= y.start {
            for other in b[j..].iter().take_while(|o| o.span.start < x.end) {
                each(
                    a[i].row,
                    other.row,
                    Span { start: other.span.start, end: x.end.min(other.span.end) },
                );
            }
            i += 1;
        } else {
            for other in a[i..].iter().take_while(|o| o.span.start < y.end) {
                each(
                    other.row,
                    b[j].row,
                    Span { start: other.span.start, end: y.end.min(other.span.end) },
                );
            }
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_pairs_are_found_once(a in grid_spans(8), b in grid_spans(8)) {
            let mut found = Vec::new();
            pairs(&items(&a), &items(&b), |i, j, s| found.push((i, j, s)));
            found.sort();
            let mut wanted = Vec::new();
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    let span = Span { start: x.start.max(y.start), end: x.end.min(y.end) };
                    if !span.is_empty() {
                        wanted.push((i as u32, j as u32, span));
                    }
                }
            }
            prop_assert_eq!(found, wanted);
        }
    }
}

//! Finds the innermost interval at each instant.

use super::{Item, Span};

/// Calls `each` with stretches of time and their innermost row, which is the last open row in the
/// given order.
///
/// Items must be in nesting order: by start, then longest first, and equal ones in the caller's
/// order. If items nest, the innermost item is the leaf. If two items overlap partly, it is the
/// later one while both are open.
pub fn flatten(nesting_order: &[Item], mut each: impl FnMut(u32, Span)) {
    let mut open: Vec<Item> = Vec::new();
    let mut at = i64::MIN;
    let mut go_to = |time: i64, open: &mut Vec<Item>| {
        while let Some(last) = open.last() {
            let span = Span { start: at, end: last.span.end.min(time) };
            if !span.is_empty() {
                each(last.row, span);
                at = span.end;
            }
            if last.span.end > time {
                break;
            }
            open.pop();
        }
        at = time;
    };
    for item in nesting_order {
        go_to(item.span.start, &mut open);
        open.push(*item);
    }
    go_to(i64::MAX, &mut open);
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_open_one_is_innermost(spans in grid_spans(10)) {
            let mut order = items(&spans);
            order.sort_by_key(|i| (i.span.start, -i.span.end, i.row));
            let mut found = Vec::new();
            flatten(&order, |row, span| found.push((row, span)));
            for t in GRID {
                let at: Vec<u32> =
                    found.iter().filter(|(_, s)| s.holds(t)).map(|(row, _)| *row).collect();
                let wanted: Vec<u32> = order
                    .iter()
                    .rev()
                    .find(|i| i.span.holds(t))
                    .map(|i| i.row)
                    .into_iter()
                    .collect();
                prop_assert_eq!(at, wanted, "at {} of {:?}", t, spans);
            }
            prop_assert!(
                found.windows(2).all(|w| w[0].1.end <= w[1].1.start
                    && (w[0].0 != w[1].0 || w[0].1.end < w[1].1.start)),
                "{:?}",
                found
            );
        }
    }
}

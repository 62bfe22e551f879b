//! Spans on a small grid of instants, on which every definition can be checked instant by instant.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Item, Span};

/// All instants of the grid.
pub const GRID: Range<i64> = -4..12;

impl Span {
    /// Whether the span contains an instant.
    pub fn holds(self, t: i64) -> bool {
        self.start <= t && t < self.end
    }
}

/// Generates a span that is not empty.
pub fn grid_span() -> impl Strategy<Value = Span> {
    (GRID, 1..8i64).prop_map(|(start, len)| Span { start, end: (start + len).min(GRID.end) })
}

/// Generates spans that are not empty.
pub fn grid_spans(most: usize) -> impl Strategy<Value = Vec<Span>> {
    vec(grid_span(), 0..=most)
}

/// Sorts spans by their starts.
pub fn by_start(spans: &[Span]) -> Vec<Span> {
    let mut sorted = spans.to_vec();
    sorted.sort_by_key(|s| s.start);
    sorted
}

/// Numbers the spans and sorts them by their starts.
pub fn items(spans: &[Span]) -> Vec<Item> {
    let mut sorted: Vec<Item> =
        spans.iter().enumerate().map(|(i, span)| Item { row: i as u32, span: *span }).collect();
    sorted.sort_by_key(|s| s.span.start);
    sorted
}

/// Returns the instants of all spans, in the order of the spans.
pub fn instants(spans: &[Span]) -> Vec<i64> {
    spans.iter().flat_map(|s| s.start..s.end).collect()
}

//! The values that nesting adds to a row.

use bytemuck::{Pod, Zeroable};

use crate::trace::NO_TIME;

/// Marks the absence of an event or a depth.
pub const NO_ROW: u32 = u32::MAX;
/// The bit of [`Nest::depth_and_overlap`] for an overlap.
const OVERLAPS: u32 = 1 << 31;
/// [`Nest::depth_and_overlap`] of a row that takes no part in nesting.
const NO_DEPTH: u32 = OVERLAPS - 1;

/// The values that nesting adds to a row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Nest {
    /// Duration minus the union of the direct children, ns; [`NO_TIME`] if unknown.
    pub self_ns: i64,
    /// The parent's position in the event list, or [`NO_ROW`].
    pub parent: u32,
    depth_and_overlap: u32,
    /// Preorder number: the descendants of an event directly follow it in this order. It equals the
    /// row number, except where events overlap.
    pub pre: u32,
    /// Preorder number of the last descendant, or of the event itself if it has none.
    pub post: u32,
}

impl Nest {
    /// Creates the values of a row that takes no part in nesting.
    pub fn outside(row: u32) -> Self {
        let depth_and_overlap = NO_DEPTH;
        Self { self_ns: NO_TIME, parent: NO_ROW, depth_and_overlap, pre: row, post: row }
    }

    /// Number of ancestors; `None` if the row takes no part in nesting.
    pub fn depth(&self) -> Option<u32> {
        let depth = self.depth_and_overlap & !OVERLAPS;
        (depth != NO_DEPTH).then_some(depth)
    }

    /// Whether the event partly overlaps an earlier one on its track.
    pub fn overlaps(&self) -> bool {
        self.depth_and_overlap & OVERLAPS != 0
    }

    /// Sets the number of ancestors, and whether the event overlaps an earlier one.
    pub fn set_depth(&mut self, depth: u32, overlaps: bool) {
        self.depth_and_overlap = depth | if overlaps { OVERLAPS } else { 0 };
    }
}

//! What nesting adds to a row.

use bytemuck::{Pod, Zeroable};

use crate::trace::NO_TIME;

/// Stands for no event or no depth.
pub const NO_ROW: u32 = u32::MAX;
/// Bit of [`Nest::depth_and_overlap`].
const OVERLAPS: u32 = 1 << 31;
/// [`Nest::depth_and_overlap`] of a row that takes no part in nesting.
const NO_DEPTH: u32 = OVERLAPS - 1;

/// What nesting adds to a row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Nest {
    /// Duration less the union of the direct children, ns; [`NO_TIME`] if not known.
    pub self_ns: i64,
    /// The parent's position in the event list, or [`NO_ROW`].
    pub parent: u32,
    depth_and_overlap: u32,
    /// Number in an order in which an event's descendants follow it at once. It is the row number,
    /// except where events overlap.
    pub pre: u32,
    /// Number of the last descendant, or its own.
    pub post: u32,
}

impl Nest {
    /// A row that takes no part in nesting.
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

//! The fixed-size record that represents an element while elements are sorted, nested and linked.

use std::cmp::{Ordering, Reverse};

use bytemuck::{Pod, Zeroable};

use super::category::Class;
use crate::issues::{Code, Issues};

/// One element, in 56 bytes. All other data is read again from its text when its row is written.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct EventRecord {
    /// Start, ns; [`NO_TIME`] if the element has none (metadata only).
    pub ts: i64,
    /// Duration, ns; [`NO_TIME`] if the element has none.
    pub dur: i64,
    /// Byte offset of the element's text.
    pub offset: u64,
    /// For launches and device work, the correlation or the External id ([`SHARES_ID`]); for flow
    /// elements, the flow id (see [`NO_LINK`]).
    pub link: i64,
    /// Position in the event list.
    pub ord: u32,
    /// Track number.
    pub track: u32,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// Category, as the id of an interned text.
    pub cat: u32,
    /// Position of the args relative to `offset`; 0 if there are none.
    pub args: u32,
    /// Phase; 0 if it is not a single character.
    pub ph: u8,
    /// The code of the element's [`Class`].
    pub class: u8,
    /// Flags, which are the constants of this module.
    pub flags: u16,
}

/// Marks the absence of a time or duration.
pub const NO_TIME: i64 = i64::MIN;
/// Marks the absence of a correlation or flow id.
pub const NO_LINK: i64 = i64::MIN;

/// The element has keys or values that need its whole text to be read again.
pub const WHOLE: u16 = 1;
/// A flow end that binds to the enclosing slice.
pub const BINDS_ENCLOSING: u16 = 2;
/// A begin event whose end was found.
pub const PAIRED: u16 = 4;
/// A begin event without an end.
pub const OPEN: u16 = 8;
/// The flow id is the id of an interned text, not a number from the trace.
pub const TEXT_LINK: u16 = 16;
/// A slice that ends flows by `bind_id`.
pub const FLOW_IN: u16 = 32;
/// A slice that starts flows by `bind_id`.
pub const FLOW_OUT: u16 = 64;
/// A begin event whose end event carries args to be merged.
pub const MERGES_ARGS: u16 = 128;

/// The category is one of those for operators.
pub const IS_OP: u16 = 256;

/// The args are too long to be kept.
pub const LONG_ARGS: u16 = 512;

/// The record is a launch or device work without a correlation, and `link` is its External id.
pub const SHARES_ID: u16 = 1024;

impl EventRecord {
    /// Returns the correlation of a launch or of device work, or [`NO_LINK`].
    #[inline]
    pub fn correlation(&self) -> i64 {
        if self.has(SHARES_ID) { NO_LINK } else { self.link }
    }

    /// Returns the External id of a launch or of device work without a correlation, or [`NO_LINK`].
    #[inline]
    pub fn shared_id(&self) -> i64 {
        if self.has(SHARES_ID) { self.link } else { NO_LINK }
    }

    /// Returns the class of the element.
    #[inline]
    pub fn class(&self) -> Class {
        Class::from_code(self.class)
    }

    /// Whether a flag is set.
    #[inline]
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Returns the length used for nesting. A begin event without an end extends without limit, and
    /// a negative duration counts as zero.
    #[inline]
    pub fn extent(&self) -> i64 {
        if self.has(OPEN) { i64::MAX } else { self.dur.max(0) }
    }

    /// Returns the end used for nesting; it is exclusive.
    #[inline]
    pub fn end(&self) -> i64 {
        self.ts.saturating_add(self.extent())
    }

    /// Whether the element takes part in nesting as a span of time.
    #[inline]
    pub fn is_span(&self) -> bool {
        (self.ph == b'X' && self.dur != NO_TIME) || self.has(PAIRED | OPEN)
    }

    /// Whether the element takes part in nesting as an instant.
    #[inline]
    pub fn is_instant(&self) -> bool {
        matches!(self.ph, b'i' | b'I' | b'R' | b'n') || (self.ph == b'X' && self.dur == NO_TIME)
    }

    /// Compares records in the order of rows on a track: by time, then longest first, then by file
    /// order.
    #[inline]
    pub fn row_order(&self, other: &Self) -> Ordering {
        (self.ts, Reverse(self.extent()), self.ord).cmp(&(
            other.ts,
            Reverse(other.extent()),
            other.ord,
        ))
    }

    /// Compares records in the order for pairing begin and end events: by time, then by file order.
    #[inline]
    pub fn pairing_order(&self, other: &Self) -> Ordering {
        (self.ts, self.ord).cmp(&(other.ts, other.ord))
    }
}

impl Issues {
    /// Counts one issue of an element.
    pub(crate) fn add_at(&mut self, code: Code, record: &EventRecord, example: &[u8]) {
        self.add(code, Some(record.ord.into()), Some(record.offset), example);
    }
}

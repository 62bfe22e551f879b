//! The record of fixed size that represents an element while elements are sorted, nested and
//! linked.

use std::cmp::{Ordering, Reverse};

use bytemuck::{Pod, Zeroable};

use super::category::Class;
use crate::issues::{Code, Issues};

/// One element, in 56 bytes. Everything else is read again from its text when its row is written.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct EventRecord {
    /// Start, ns; [`NO_TIME`] if it has none (metadata only).
    pub ts: i64,
    /// Duration, ns; [`NO_TIME`] if it has none.
    pub dur: i64,
    /// Where its text begins.
    pub offset: u64,
    /// Correlation of launches and device work, or their External id ([`SHARES_ID`]); id of flows
    /// (see [`NO_LINK`]).
    pub link: i64,
    /// Position in the event list.
    pub ord: u32,
    /// Track number.
    pub track: u32,
    /// Name, as a text number.
    pub name: u32,
    /// Category, as a text number.
    pub cat: u32,
    /// Where its args begin, counted from `offset`; 0 if it has none.
    pub args: u32,
    /// Phase; 0 if that is not one character.
    pub ph: u8,
    /// [`Class`] as a code.
    pub class: u8,
    /// Flags, the constants of this module.
    pub flags: u16,
}

/// Stands for no time or duration.
pub const NO_TIME: i64 = i64::MIN;
/// Stands for no correlation or flow id.
pub const NO_LINK: i64 = i64::MIN;

/// The element has keys or values that need its whole text to be read again.
pub const WHOLE: u16 = 1;
/// A flow end that binds to the enclosing slice.
pub const BINDS_ENCLOSING: u16 = 2;
/// A begin event whose end was found.
pub const PAIRED: u16 = 4;
/// A begin event without an end.
pub const OPEN: u16 = 8;
/// The flow id is a text number, not a number of the trace.
pub const TEXT_LINK: u16 = 16;
/// A slice that ends flows by `bind_id`.
pub const FLOW_IN: u16 = 32;
/// A slice that starts flows by `bind_id`.
pub const FLOW_OUT: u16 = 64;
/// A begin event whose end event carries args to be merged.
pub const MERGES_ARGS: u16 = 128;

/// The category is one of operators.
pub const IS_OP: u16 = 256;

/// The args are too long to be kept.
pub const LONG_ARGS: u16 = 512;

/// A launch or device work without a correlation: `link` is its External id.
pub const SHARES_ID: u16 = 1024;

impl EventRecord {
    /// Correlation of a launch or device work, or [`NO_LINK`].
    #[inline]
    pub fn correlation(&self) -> i64 {
        if self.has(SHARES_ID) { NO_LINK } else { self.link }
    }

    /// External id of a launch or device work without a correlation, or [`NO_LINK`].
    #[inline]
    pub fn shared_id(&self) -> i64 {
        if self.has(SHARES_ID) { self.link } else { NO_LINK }
    }

    /// The element's class.
    #[inline]
    pub fn class(&self) -> Class {
        Class::from_code(self.class)
    }

    /// Whether a flag is set.
    #[inline]
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Length for nesting: an open begin has no end, a negative duration counts as zero.
    #[inline]
    pub fn extent(&self) -> i64 {
        if self.has(OPEN) { i64::MAX } else { self.dur.max(0) }
    }

    /// End for nesting (half-open).
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

    /// The order of rows on a track: time, longest first, file order.
    #[inline]
    pub fn row_order(&self, other: &Self) -> Ordering {
        (self.ts, Reverse(self.extent()), self.ord).cmp(&(
            other.ts,
            Reverse(other.extent()),
            other.ord,
        ))
    }

    /// The order in which begins and ends are paired: time, file order.
    #[inline]
    pub fn pairing_order(&self, other: &Self) -> Ordering {
        (self.ts, self.ord).cmp(&(other.ts, other.ord))
    }
}

impl Issues {
    /// Counts one issue at an element.
    pub(crate) fn add_at(&mut self, code: Code, record: &EventRecord, example: &[u8]) {
        self.add(code, Some(record.ord.into()), Some(record.offset), example);
    }
}

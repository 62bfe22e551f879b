//! What a snapshot consists of, in few bytes each.

use bytemuck::{Pod, Zeroable};

/// Stands for a number or id that was not recorded.
pub const ABSENT: i64 = i64::MIN;
/// Stands for a list, text or rest that was not recorded.
pub const NOTHING: u32 = u32::MAX;

/// The address or the size is not usable, so the entry is skipped.
pub const BAD_ADDRESS: u32 = 1;
/// Some value is not usable.
pub const BAD_VALUE: u32 = 2;
/// `addr` holds `device_free`.
pub const HAS_DEVICE_FREE: u32 = 4;
/// The entry has no action.
pub const NO_ACTION: u32 = 8;

/// An entry of a device's trace. Numbers are [`ABSENT`] if they were not recorded.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// Address, or the free memory of the device for an `oom`.
    pub addr: i64,
    /// Size in bytes.
    pub size: i64,
    /// Time in µs since 1970.
    pub time_us: i64,
    /// Stream.
    pub stream: i64,
    /// The action's text.
    pub action: u32,
    /// The list of frames, or [`NOTHING`].
    pub frames: u32,
    /// All other items, as a number of a pool, or [`NOTHING`].
    pub rest: u32,
    /// Flags.
    pub flags: u32,
}

/// An annotation: the start or the end of a range.
#[derive(Debug, Clone, Copy)]
pub struct Annotation {
    /// The name's text, or [`NOTHING`].
    pub name: u32,
    /// Device, or [`ABSENT`].
    pub device: i64,
    /// Time in µs since 1970, or [`ABSENT`].
    pub time_us: i64,
    /// The stage's text, or [`NOTHING`].
    pub stage: u32,
    /// All other items, or [`NOTHING`].
    pub rest: u32,
}

/// A block of a segment. Numbers are [`ABSENT`] if they were not recorded.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Address.
    pub address: i64,
    /// Size in bytes.
    pub bytes: i64,
    /// Bytes that the program asked for.
    pub requested: i64,
    /// The state's text, or [`NOTHING`].
    pub state: u32,
    /// The list of frames, or [`NOTHING`].
    pub frames: u32,
}

/// A segment. Numbers are [`ABSENT`] if they were not recorded.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Device.
    pub device: i64,
    /// Address.
    pub address: i64,
    /// Size in bytes.
    pub total: i64,
    /// Allocated bytes.
    pub allocated: i64,
    /// Active bytes.
    pub active: i64,
    /// Requested bytes.
    pub requested: i64,
    /// Stream.
    pub stream: i64,
    /// Text of the kind, or [`NOTHING`].
    pub kind: u32,
    /// The pool, as a pair of numbers, if recorded.
    pub pool: Option<(i64, i64)>,
    /// Whether the segment is expandable, if recorded.
    pub expandable: Option<bool>,
    /// The list of frames, or [`NOTHING`].
    pub frames: u32,
    /// The list of blocks, or [`NOTHING`].
    pub blocks: u32,
}

/// An entry of a block's history in snapshots of 2023.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// Bytes that the program asked for, or [`ABSENT`].
    pub real: i64,
    /// The list of frames, or [`NOTHING`].
    pub frames: u32,
}

/// A frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The name's text, or [`NOTHING`].
    pub name: u32,
    /// The file's text, or [`NOTHING`].
    pub file: u32,
    /// Line, or [`ABSENT`].
    pub line: i64,
    /// All other items, or [`NOTHING`].
    pub rest: u32,
}

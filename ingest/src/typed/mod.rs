//! Turns elements of binary formats into the same records and texts as elements of JSON, so that
//! nesting, links, flows, steps and rows are computed in one place.
//!
//! The fields of an element are passed as values and go straight into its record. Only its args
//! become text: they are written to an unnamed file (`spool`), from which the second reading takes
//! them. Issues carry offsets of the input, not of the spool.

mod elements;
mod json;
mod spool;

use rustc_hash::FxHashMap;

pub use elements::{TypedElement, TypedElements};
pub use json::JsonText;
pub use spool::source_offset;

use crate::arrange::{FlowPoint, Runs};
use crate::issues::Issues;
use crate::source::Content;
use crate::trace::{Document, Step};

/// The elements of an input of a binary format, ready to be arranged.
pub struct Typed {
    /// Elements, properties of processes and threads, and steps.
    pub document: Document,
    /// The args of the elements.
    pub spool: Content,
    /// Properties of the trace that only this format knows.
    pub facts: TypedFacts,
    /// Ends and steps of flows that name their event.
    pub flow_points: Runs<FlowPoint>,
    /// Points of flows on end events. Their event is the begin event, which pairing finds.
    pub end_points: Vec<FlowPoint>,
    /// Issues that were found while reading.
    pub issues: Issues,
}

/// Properties of a trace that do not come from its elements.
#[derive(Default)]
pub struct TypedFacts {
    /// The value of `traces.format`.
    pub format: &'static str,
    /// The value of `traces.framework`.
    pub framework: Option<&'static str>,
    /// Name of the host.
    pub host: Option<String>,
    /// Unix time of the clock's zero, ns.
    pub base_time_ns: Option<i64>,
    /// The value of `traces.metadata`, a JSON object.
    pub metadata: String,
    /// Length of the unpacked input in bytes.
    pub text_bytes: u64,
    /// The devices.
    pub devices: Vec<DeviceFacts>,
    /// Properties of tracks, by track number.
    pub tracks: FxHashMap<u32, TrackFacts>,
    /// Steps that rows belong to, but that have no rows in `steps`.
    pub device_steps: Vec<Step>,
    /// Whether an end event closes the last open event of its name, if it has a name.
    pub ends_by_name: bool,
    /// Device work that belongs to a run of a program, and the host events that started the runs.
    pub runs: RunLinks,
}

/// Device work that has no link of its own to the host, but is part of a run that has one.
#[derive(Default)]
pub struct RunLinks {
    /// Positions of the work and of its run in the event list.
    pub work: Vec<(u32, u32)>,
    /// Track numbers of the host events that start runs, by their position in the event list.
    pub starts: FxHashMap<u32, u32>,
}

/// A row of `devices`.
#[derive(Debug, Default)]
pub struct DeviceFacts {
    /// Number of the device.
    pub device: i64,
    /// Name of the device or of its vendor.
    pub name: Option<String>,
    /// Memory of the device, bytes.
    pub total_memory_bytes: Option<i64>,
    /// Compute capability.
    pub compute: (Option<i64>, Option<i64>),
    /// Number of cores or multiprocessors.
    pub core_count: Option<i64>,
    /// All that is known, a JSON object.
    pub metadata: String,
}

/// Properties of a track that its elements do not tell.
#[derive(Debug, Default, Clone)]
pub struct TrackFacts {
    /// Name of the track, in place of the name of its thread.
    pub name: Option<String>,
    /// The value of `tracks.kind`, in place of the one that its rows suggest.
    pub kind: Option<&'static str>,
    /// Thread that the track belongs to, if the track is not the thread's own.
    pub tid: Option<i64>,
    /// Order among tracks.
    pub sort_index: Option<i64>,
}

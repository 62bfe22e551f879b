//! The sections of a report. Each section has a query over public views, and a text for the case
//! that it has no rows.
//!
//! The first column of each answer is `trace_id`. Rows are ordered by their weight within a trace,
//! because rows beyond `max_rows` become one remainder. Times count from the start of the trace,
//! except those of `traces`.

mod devices;
mod flight;
mod host;
mod memory;
mod mllm;
mod overview;
mod ranks;
mod roofline;
mod snapshots;

use super::Trace;

/// The traces that a section applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All traces.
    Any,
    /// Traces of profilers: all except MLLM's perf.json, memory snapshots, flight recorder dumps
    /// and execution traces.
    Torch,
    /// MLLM's perf.json.
    Mllm,
    /// PyTorch memory snapshots.
    Snapshot,
    /// Dumps of PyTorch's flight recorder.
    Flight,
    /// The ranks of a job.
    Job,
}

impl Scope {
    /// Whether a section applies to a trace, in a report on this number of traces.
    pub fn holds(self, trace: &Trace, traces: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Torch => is_of_profiler(trace),
            Self::Mllm => trace.format == "mllm_perf",
            Self::Snapshot => trace.format == "torch_memory",
            Self::Flight => trace.format == "flight_recorder",
            Self::Job => is_of_profiler(trace) && traces > 1,
        }
    }
}

fn is_of_profiler(trace: &Trace) -> bool {
    !matches!(
        &trace.format[..],
        "mllm_perf" | "torch_memory" | "flight_recorder" | "execution_trace"
    )
}

/// The shape of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Rows. Those beyond the limit become one remainder with sums.
    Rows {
        /// The maximum number of rows over all traces.
        max_rows: usize,
        /// The columns that are summed in the remainder.
        add: &'static [&'static str],
    },
    /// Stacks with values as a tree, below their thread if there is a column for it. Small frames
    /// become `(other)`.
    Stacks {
        /// The maximum number of frames over all traces.
        max_frames: usize,
    },
}

/// A section.
#[derive(Debug)]
pub struct Section {
    /// The name in JSON. It is stable.
    pub key: &'static str,
    /// Title.
    pub title: &'static str,
    /// One or two sentences about the content of the section.
    pub about: &'static str,
    /// The traces that the section applies to.
    pub scope: Scope,
    /// The kinds of information (`coverage.information`) that the section needs to have rows.
    pub needs: &'static [&'static str],
    /// The reason to give if no information is missing but there are no rows.
    pub if_empty: &'static str,
    /// Whether only the page and JSON show the section.
    pub is_detail: bool,
    /// The shape of the answer.
    pub shape: Shape,
    /// The query.
    pub sql: &'static str,
}

const fn rows(max_rows: usize, add: &'static [&'static str]) -> Shape {
    Shape::Rows { max_rows, add }
}

/// All sections in the order of a report.
pub static SECTIONS: &[Section] = &[
    overview::TRACES,
    overview::OVERVIEW,
    overview::FINDINGS,
    devices::DEVICE_TIME,
    devices::DEVICE_CLASSES,
    devices::DEVICE_CLASSES_BY_STEP,
    devices::DEVICE_TIMELINE,
    devices::DEVICES,
    host::STEPS,
    host::OPERATORS,
    devices::KERNELS,
    devices::COPIES,
    roofline::MFU,
    roofline::ROOFLINE,
    roofline::ROOFLINE_POINTS,
    roofline::BANDWIDTH_POINTS,
    roofline::ROOFLINE_ROOFS,
    memory::MEMORY_PEAKS,
    memory::MEMORY_CURVE,
    memory::MEMORY_AT_PEAK,
    host::MODULES,
    host::FLAME,
    host::CALL_GRAPH,
    ranks::BLAME,
    ranks::LOST_TIME,
    ranks::RANKS,
    ranks::STRAGGLERS,
    ranks::COLLECTIVES,
    overview::CATEGORIES,
    mllm::MLLM_SUMMARY,
    mllm::MLLM_MEMORY_CURVE,
    mllm::MLLM_BLOBS,
    mllm::MLLM_OPERATIONS,
    mllm::MLLM_OPERATION_TOTALS,
    snapshots::SNAPSHOT_OOMS,
    snapshots::SNAPSHOT_DEVICES,
    snapshots::SNAPSHOT_CURVE,
    snapshots::SNAPSHOT_AT_PEAK,
    snapshots::SNAPSHOT_CATEGORIES,
    snapshots::SNAPSHOT_POOLS,
    snapshots::SNAPSHOT_FLAME,
    flight::FLIGHT_HANGS,
    overview::COVERAGE,
    overview::ISSUES,
];

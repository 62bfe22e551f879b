//! The sections of a report: each one a query over public views, and what to say where it has no
//! rows.
//!
//! The first column of each answer is `trace_id`. Rows come in the order of their weight within a
//! trace, because rows beyond `max_rows` become one rest. Times count from the start of the trace,
//! except those of `traces`.

mod devices;
mod host;
mod memory;
mod mllm;
mod overview;
mod ranks;

use super::Trace;

/// Which traces a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Any,
    /// All but MLLM's perf.json.
    Torch,
    /// MLLM's perf.json.
    Mllm,
    /// The ranks of a job.
    Job,
}

impl Scope {
    /// Whether a section is about a trace of a report on this many traces.
    pub fn holds(self, trace: &Trace, traces: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Torch => trace.format != "mllm_perf",
            Self::Mllm => trace.format == "mllm_perf",
            Self::Job => trace.format != "mllm_perf" && traces > 1,
        }
    }
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Rows; those that do not fit become one rest with sums.
    Rows {
        /// The limit over all traces.
        max_rows: usize,
        /// Columns that are added up in the rest.
        add: &'static [&'static str],
    },
    /// Stacks with values as a tree, below their thread if there is such a column; small frames
    /// become `(other)`.
    Stacks {
        /// The limit over all traces.
        max_frames: usize,
    },
}

/// A section.
#[derive(Debug)]
pub struct Section {
    /// Its name in JSON; stable.
    pub key: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it shows, in a sentence or two.
    pub about: &'static str,
    /// Which traces it is about.
    pub scope: Scope,
    /// Kinds of information (coverage.information) without which it has no rows.
    pub needs: &'static [&'static str],
    /// The reason given if nothing is missing and there are still no rows.
    pub if_empty: &'static str,
    /// Whether only the page and JSON show it.
    pub is_detail: bool,
    /// The form of its answer.
    pub shape: Shape,
    /// The query.
    pub sql: &'static str,
}

const fn rows(max_rows: usize, add: &'static [&'static str]) -> Shape {
    Shape::Rows { max_rows, add }
}

/// All sections, in the order of a report.
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
    memory::MEMORY_PEAKS,
    memory::MEMORY_CURVE,
    memory::MEMORY_AT_PEAK,
    host::MODULES,
    host::FLAME,
    host::CALL_GRAPH,
    ranks::RANKS,
    ranks::STRAGGLERS,
    ranks::COLLECTIVES,
    overview::CATEGORIES,
    mllm::MLLM_SUMMARY,
    mllm::MLLM_MEMORY_CURVE,
    mllm::MLLM_BLOBS,
    mllm::MLLM_OPERATIONS,
    mllm::MLLM_OPERATION_TOTALS,
    overview::COVERAGE,
    overview::ISSUES,
];

//! Exports traces and views for other tools: Chrome JSON of any selection, and tables as files.
//!
//! All data comes from SQL. Reading an exported Chrome trace of a whole trace, or an exported
//! perf.json of an MLLM recording, gives the same rows.

mod chrome;
mod computed;
mod finding_events;
mod gzip;
mod merge;
mod perf;
mod rows;
mod select;
mod tables;

pub use chrome::{ChromeRequest, Extras, Written, chrome};
pub use perf::{PerfRequest, perf};
pub use select::{Selection, TraceFacts, of_rank, traces};
pub use tables::{TablesRequest, tables};

/// A text as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

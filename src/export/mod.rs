//! Exports traces and views for other tools: Chrome JSON of any selection, and tables as files.
//!
//! All data comes from SQL. A Chrome trace of one whole trace, and a perf.json of an MLLM
//! recording, are read back as the same rows.

mod chrome;
mod computed;
mod gzip;
mod merge;
mod perf;
mod rows;
mod select;
mod tables;

pub use chrome::{ChromeRequest, Written, chrome};
pub use perf::{PerfRequest, perf};
pub use select::{Selection, TraceFacts, named, traces};
pub use tables::{TablesRequest, tables};

/// A text as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

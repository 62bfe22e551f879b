//! Reads profiler traces exactly and writes them as a store of Parquet files.
//!
//! ```no_run
//! use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};
//!
//! let store = Store::open_or_create("runs".as_ref())?;
//! for input in expand(&["trace.json.gz".to_owned()])? {
//!     let outcome = ingest(&input, &store, &IngestOptions::default(), &Progress::default())?;
//!     println!("{} rows", outcome.manifest.rows("events"));
//! }
//! # Ok::<(), tracesql_ingest::IngestError>(())
//! ```
//!
//! The way of the bytes: [`source`](self) → first reading (keys) → order and nesting → second
//! reading (columns) → Parquet. Nothing of a trace is kept in memory in full but one small record
//! per event, and those go to disk when they outgrow the memory limit.

mod arrange;
mod build;
mod encode;
mod error;
mod ingest;
mod issues;
mod json;
mod rows;
pub mod schema;
mod source;
mod store;
mod trace;

pub use error::{IngestError, Result};
pub use ingest::{IngestOptions, Outcome, ingest, trace_hash};
pub use issues::{Code, IssueCount, Issues, Severity};
pub use source::{Input, expand};
pub use store::{Examined, Gravity, Manifest, Problem, Store, TableFacts, VERSION, examine};
pub use trace::Progress;

/// Parts that benches and fuzzers drive on their own; no stable interface.
#[doc(hidden)]
pub mod internals;

//! Reads profiler traces exactly and writes them as a store of Parquet files.
//!
//! A trace is a file of Chrome JSON as the PyTorch profiler and others write it, or an MLLM
//! `perf.json`; it may be compressed or a member of an archive. [`expand`] turns names into
//! [`Input`]s, [`ingest`] reads one input into a [`Store`], and [`examine`] checks whether a store
//! is sound. Each element of a trace becomes a row or is counted as an issue; [`schema`] describes
//! the tables.
//!
//! ```
//! use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};
//!
//! # let folder = tempfile::tempdir()?;
//! # let trace = folder.path().join("trace.json");
//! # let root = folder.path().join("store");
//! std::fs::write(&trace, r#"[{"ph":"X","name":"step","pid":1,"tid":1,"ts":5,"dur":2.5}]"#)?;
//! let store = Store::open_or_create(&root)?;
//! for input in expand(&[trace.display().to_string()])? {
//!     let done = ingest(&input, &store, &IngestOptions::default(), &Progress::default())?;
//!     assert_eq!(done.manifest.rows("events"), 1);
//!     assert!(root.join(&done.manifest.trace_id).join("events.parquet").is_file());
//!     for (code, issue) in done.issues.iter() {
//!         println!("{} x {}: {}", issue.count, code.as_str(), code.meaning());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The path of the bytes: `source` unpacks and maps the text, `trace` makes a small record of each
//! element (first reading), `arrange` sorts, nests and links the records, `rows` reads the elements
//! again in the order of rows (second reading), `encode` makes Parquet pages of them, `build`
//! writes the tables, and `store` makes the trace appear. Of a whole trace only the records are
//! kept in memory, and those go to disk when they outgrow the memory limit.

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

/// Parts that benches, fuzzers and tests drive on their own; not a stable interface.
#[doc(hidden)]
pub mod internals;

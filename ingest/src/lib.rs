//! Reads profiler traces exactly and writes them as a store of Parquet files.
//!
//! A trace is a file of Chrome JSON as written by the PyTorch profiler and other tools, or an MLLM
//! `perf.json`. It may be compressed or be a member of an archive. [`expand`] converts names to
//! [`Input`]s, [`ingest`] reads one input into a [`Store`], and [`examine`] checks a store for
//! damage. Each element of a trace becomes a row or is counted as an issue. [`schema`] describes
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
//! The modules in the order in which data passes through them: `source` unpacks and maps the text,
//! `trace` creates a small record of each element (first reading), `arrange` sorts, nests and links
//! the records, `rows` reads the elements again in row order (second reading), `encode` converts
//! them to Parquet pages, `build` writes the tables, and `store` publishes the trace. Only the
//! records of a whole trace are kept in memory, and they are moved to disk when they exceed the
//! memory limit.

mod arrange;
mod build;
mod counted;
mod encode;
mod error;
mod import;
mod ingest;
mod issues;
mod json;
mod perfetto;
mod rows;
pub mod schema;
mod side;
mod snapshot;
mod source;
mod sqlite;
mod store;
mod threads;
mod trace;
mod typed;
mod wire;
mod xplane;

pub use arrange::StepPattern;
pub use error::{IngestError, Result};
pub use ingest::{IngestOptions, Outcome, ingest, physical_memory, trace_hash};
pub use issues::{Code, IssueCount, Issues, Severity};
pub use source::{Input, TRACE_ENDINGS, expand, expand_copy};
pub use store::{Examined, Gravity, Manifest, Problem, Store, TableFacts, VERSION, examine};
pub use trace::Progress;

/// Internal stages for benchmarks, fuzzers and tests; not a stable interface.
#[doc(hidden)]
pub mod internals;

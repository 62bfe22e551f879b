//! SQL over machine-learning profiler traces.
//!
//! A trace is read once into a *store*, a folder of Parquet files. [`tracesql_ingest`] does this.
//! An [`engine::Engine`] is a DataFusion session over the traces of a store: its tables and a
//! library of documented views. The other modules use its results: [`report`], [`check`],
//! [`compare`], [`stacks`] and [`export`]. [`output`] writes rows in the formats of the command
//! line. Data flows in one direction: ingest → store → engine → output.
//!
//! The command line and the shell are in the package `tracesql-cli`. This crate does not print,
//! read arguments or end the process.
//!
//! # Example
//!
//! ```
//! use futures::TryStreamExt;
//! use tracesql::engine::{Engine, EngineOptions};
//! use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let store = Store::open_or_create(&folder.path().join("store"))?;
//! for input in expand(&["fixtures/chrome_mixed.json".to_owned()])? {
//!     ingest(&input, &store, &IngestOptions::default(), &Progress::default())?;
//! }
//!
//! let engine = Engine::open(&store, None, &EngineOptions::default())?;
//! let rows = tracesql::runtime::with_threads(0)?.block_on(async {
//!     let mut rows = Vec::new();
//!     for statement in engine.parse("SELECT count(*) AS events FROM events")? {
//!         rows = engine.run(statement, &[]).await?.try_collect::<Vec<_>>().await?;
//!     }
//!     Ok::<_, tracesql::Error>(rows)
//! })?;
//! assert_eq!(rows[0].num_rows(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Stability
//!
//! The names and meanings of tables, views, columns and commands are the stable interface. The Rust
//! API is unstable before version 1.0: any release may change it.

pub mod byte_size;
pub mod catalog;
pub mod check;
pub mod compare;
pub mod complete;
pub mod docs;
pub mod engine;
pub mod environment;
mod error;
pub mod explain;
pub mod export;
pub mod glob;
pub mod library;
pub mod mcp;
pub mod open;
pub mod output;
pub mod report;
pub mod requests;
pub mod runtime;
pub mod sql_text;
pub mod stacks;
pub mod store;
pub mod suggest;
pub mod web;

pub use error::{Error, Result};

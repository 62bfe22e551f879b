//! SQL over machine-learning profiler traces.
//!
//! [`tracesql_ingest`] turns traces into a store of Parquet files; [`engine`] opens a store for DataFusion;
//! [`output`] writes results; `repl` runs scripts and is the shell; [`cli`] is the command line. Data flows one way:
//! ingest → store → engine → output.

pub mod check;
pub mod cli;
pub mod compare;
pub mod docs;
pub mod engine;
mod error;
pub mod export;
pub mod library;
mod messages;
pub mod open;
pub mod output;
mod repl;
pub mod report;
pub mod size;
pub mod stacks;
mod web;

pub use error::{Error, Result};
pub use repl::{Audience, explained, runtime};

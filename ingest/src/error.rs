//! Errors of reading inputs and writing stores, with what to do about each.

use std::path::PathBuf;

/// The result of reading or storing a trace.
pub type Result<T, E = IngestError> = std::result::Result<T, E>;

/// A whole input was refused, or the store could not be written. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The input is damaged, or a trace of a kind that is not read.
    #[error("{input}: {reason}{}", at(*byte_offset))]
    Input {
        /// The input as the user named it; for archives with the member's name.
        input: String,
        /// What is wrong and what to do about it.
        reason: String,
        /// Position in the decompressed text, in bytes, if it applies.
        byte_offset: Option<u64>,
    },
    /// The input is not a trace.
    #[error("{input}: {reason}{}", at(*byte_offset))]
    NotATrace {
        /// The input as the user named it; for archives with the member's name.
        input: String,
        /// What it is, and what to give instead.
        reason: String,
        /// Position in the decompressed text that shows it, in bytes.
        byte_offset: Option<u64>,
    },
    /// The operating system refused to read or write a file.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Strict reading was asked for, and the input has issues worse than an info.
    #[error("{input}: not clean ({issues}); nothing was stored because of --strict")]
    Strict {
        /// The input as the user named it.
        input: String,
        /// The issues that were found, in brief.
        issues: String,
    },
    /// The store holds something this version cannot use.
    #[error("{path}: {reason}", path = path.display())]
    Store {
        /// The store or trace folder.
        path: PathBuf,
        /// What is wrong and what to do about it.
        reason: String,
    },
    /// Reading was stopped through [`Progress`](crate::Progress).
    #[error("stopped")]
    Stopped,
    /// The store was made by another version of the program.
    #[error(
        "{path}: it has schema version {found}, this tracesql reads {expected}; \
         ingest its traces again",
        path = path.display()
    )]
    StoreVersion {
        /// The store.
        path: PathBuf,
        /// The version of its tables.
        found: u64,
        /// The version that this program reads.
        expected: u32,
    },
    /// Writing Parquet failed.
    #[error("writing Parquet failed: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// Building Arrow data failed.
    #[error("building columns failed: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
}

fn at(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |o| format!(" (at byte {o})"))
}

impl IngestError {
    /// An error about the input's content, without a position.
    pub fn input(input: &str, reason: impl Into<String>) -> Self {
        Self::Input { input: input.to_owned(), reason: reason.into(), byte_offset: None }
    }

    /// An error about the input's content at a byte offset of the decompressed text.
    pub fn input_at(input: &str, reason: impl Into<String>, byte_offset: u64) -> Self {
        Self::Input {
            input: input.to_owned(),
            reason: reason.into(),
            byte_offset: Some(byte_offset),
        }
    }

    /// An operating system error on a path.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// An error for an input that is not a trace, at a byte offset of the decompressed text.
    pub fn not_a_trace(input: &str, reason: impl Into<String>, byte_offset: u64) -> Self {
        Self::NotATrace {
            input: input.to_owned(),
            reason: reason.into(),
            byte_offset: Some(byte_offset),
        }
    }
}

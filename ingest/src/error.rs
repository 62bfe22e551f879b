//! Errors of reading inputs and writing stores, with the next step for each.

use std::path::PathBuf;

/// The result of reading or storing a trace.
pub type Result<T, E = IngestError> = std::result::Result<T, E>;

/// An input was refused as a whole, or the store could not be written. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The input is damaged, or it is a kind of trace that is not supported.
    #[error("{input}: {reason}{}", at(*byte_offset))]
    Input {
        /// The input as the user named it; for archives, with the name of the member.
        input: String,
        /// The problem and the next step.
        reason: String,
        /// Byte offset in the decompressed text, if there is one.
        byte_offset: Option<u64>,
    },
    /// The input is not a trace.
    #[error("{input}: {reason}{}", at(*byte_offset))]
    NotATrace {
        /// The input as the user named it; for archives, with the name of the member.
        input: String,
        /// What the input is, and which input to use instead.
        reason: String,
        /// Byte offset in the decompressed text where this was found.
        byte_offset: Option<u64>,
    },
    /// The operating system refused to read or write a file.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Strict reading was requested, and the input has issues more severe than an info.
    #[error("{input}: not clean ({issues}); nothing was stored because of --strict")]
    Strict {
        /// The input as the user named it.
        input: String,
        /// A summary of the issues.
        issues: String,
    },
    /// The store contains something that this version cannot use.
    #[error("{path}: {reason}", path = path.display())]
    Store {
        /// The store or trace folder.
        path: PathBuf,
        /// The problem and the next step.
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
        /// The folder of the store.
        path: PathBuf,
        /// The schema version of the store.
        found: u64,
        /// The schema version that this program reads.
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
    /// Creates an error about the content of an input, without a position.
    pub fn input(input: &str, reason: impl Into<String>) -> Self {
        Self::Input { input: input.to_owned(), reason: reason.into(), byte_offset: None }
    }

    /// Creates an error about the content of an input at a byte offset of the decompressed text.
    pub fn input_at(input: &str, reason: impl Into<String>, byte_offset: u64) -> Self {
        Self::Input {
            input: input.to_owned(),
            reason: reason.into(),
            byte_offset: Some(byte_offset),
        }
    }

    /// Creates an operating system error for a path.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// The same error with the name of the original in place of the path of its copy.
    pub(crate) fn renamed(self, copy: &std::path::Path, origin: &str) -> Self {
        let rename = |text: String| text.replacen(&copy.display().to_string(), origin, 1);
        match self {
            Self::Input { input, reason, byte_offset } => {
                Self::Input { input: rename(input), reason, byte_offset }
            }
            Self::NotATrace { input, reason, byte_offset } => {
                Self::NotATrace { input: rename(input), reason, byte_offset }
            }
            Self::Io { path, source } => {
                Self::Io { path: rename(path.display().to_string()).into(), source }
            }
            other => other,
        }
    }

    /// Creates an error for an input that is not a trace, at a byte offset of the decompressed
    /// text.
    pub fn not_a_trace(input: &str, reason: impl Into<String>, byte_offset: u64) -> Self {
        Self::NotATrace {
            input: input.to_owned(),
            reason: reason.into(),
            byte_offset: Some(byte_offset),
        }
    }
}

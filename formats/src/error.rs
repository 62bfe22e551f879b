//! Errors that can occur when a format is written.

use arrow::error::ArrowError;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a writer. Each message states the problem and, where possible, how to solve it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The columns, types or values of the input do not fit the format.
    #[error("{0}")]
    Input(String),
    /// A sum or a column exceeds the integers that hold it.
    #[error("{0}")]
    TooLarge(String),
    /// The profile has no measure with this name.
    #[error("there is no measure {name:?} with values in these samples; there is {known}")]
    UnknownMeasure {
        /// The requested name.
        name: String,
        /// The measures of the profile, separated by commas.
        known: String,
    },
    /// A profile cannot be written as a document, for instance because it has no samples to draw.
    #[error("{0}")]
    Document(String),
    /// Arrow could not convert or build a column.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A temporary file or the output could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

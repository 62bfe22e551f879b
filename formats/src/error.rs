//! What can go wrong when a format is written.

use arrow::error::ArrowError;

/// The result of what this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a writer. Each message says what is wrong and, where there is a way, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The columns, types or values of the input are not what the format needs.
    #[error("{0}")]
    Input(String),
    /// A sum or a column is larger than the integers that hold it.
    #[error("{0}")]
    TooLarge(String),
    /// The profile has no measure of this name.
    #[error("there is no measure {name:?} with values in these samples; there is {known}")]
    UnknownMeasure {
        /// The name that was asked for.
        name: String,
        /// The measures of the profile, separated by commas.
        known: String,
    },
    /// A profile cannot be shown as a document, for instance because it has no samples to draw.
    #[error("{0}")]
    Document(String),
    /// Arrow could not convert or make a column.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A temporary file or the output could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

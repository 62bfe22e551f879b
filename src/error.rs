//! Errors, grouped by the exit code that they lead to.

use datafusion::error::DataFusionError;
use tracesql_ingest::IngestError;

/// The result of a function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error. Its kind determines the exit code of the program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A command or argument is wrong (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// An input or store could not be read, or a store could not be written (exit code 3).
    #[error(transparent)]
    Input(#[from] IngestError),
    /// Several inputs failed; each was reported (exit code 3).
    #[error("{0} of {1} inputs could not be read")]
    Inputs(usize, usize),
    /// A store is damaged; the problems were reported (exit code 3).
    #[error("{0} is damaged: {1}")]
    Damaged(String, String),
    /// A query failed (exit code 4).
    #[error("{0}")]
    Query(String),
    /// The query engine rejected or failed a query (exit code 4). [`crate::explain`] finds the
    /// place in the statement and what the user probably meant.
    #[error("{}", .0.strip_backtrace())]
    Sql(Box<DataFusionError>),
    /// A server refuses requests until credentials, rights or settings change (exit code 3).
    #[error("{0}")]
    Refused(String),
    /// A store elsewhere could not be read while a query ran, or an input (exit code 3).
    #[error("{0}")]
    Elsewhere(String),
    /// The user stopped a query (exit code 4).
    #[error("cancelled")]
    Cancelled,
    /// A query took longer than its time limit (exit code 4).
    #[error("the query was stopped after {}, which is what --timeout allows", seconds(.0))]
    Timeout(std::time::Duration),
    /// Threads, signal handlers or another program could not be started (exit code 4).
    #[error("cannot start {what}: {source}")]
    Start {
        /// A description of the thing that could not be started.
        what: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// A result could not be written (exit code 4).
    #[error("cannot write {0}: {1}")]
    Output(String, std::io::Error),
}

impl Error {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Input(_)
            | Self::Inputs(..)
            | Self::Damaged(..)
            | Self::Refused(_)
            | Self::Elsewhere(_) => 3,
            Self::Query(_)
            | Self::Sql(_)
            | Self::Cancelled
            | Self::Timeout(_)
            | Self::Start { .. }
            | Self::Output(..) => 4,
        }
    }

    /// Whether the reader of our output closed it, which is not an error to report.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(_, e) if e.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

fn seconds(time: &std::time::Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

impl From<DataFusionError> for Error {
    fn from(e: DataFusionError) -> Self {
        match crate::store::failure(&e) {
            Some(failure) => Self::Elsewhere(failure),
            None => Self::Sql(Box::new(e)),
        }
    }
}

impl From<tracesql_formats::Error> for Error {
    fn from(e: tracesql_formats::Error) -> Self {
        match e {
            tracesql_formats::Error::UnknownMeasure { .. } => Self::Usage(e.to_string()),
            tracesql_formats::Error::Document(message) => Self::Query(message),
            tracesql_formats::Error::Arrow(e) => DataFusionError::from(e).into(),
            tracesql_formats::Error::Io(e) => DataFusionError::from(e).into(),
            other => DataFusionError::Execution(other.to_string()).into(),
        }
    }
}

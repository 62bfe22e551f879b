//! What can go wrong, by exit code.

use datafusion::error::DataFusionError;
use tracesql_ingest::IngestError;

/// The result of what this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the program; its kind decides the exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is not right (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// An input or store could not be read, or the store not be written (exit code 3).
    #[error(transparent)]
    Input(#[from] IngestError),
    /// Several inputs failed; each was reported (exit code 3).
    #[error("{0} of {1} inputs could not be read")]
    Inputs(usize, usize),
    /// A store is damaged; what is wrong was reported (exit code 3).
    #[error("{0} is damaged: {1}")]
    Damaged(String, String),
    /// A query failed (exit code 4).
    #[error("{0}")]
    Query(String),
    /// The query engine refused or failed a query (exit code 4); what is wrong where is still to be
    /// looked up in it.
    #[error("{}", .0.strip_backtrace())]
    Sql(Box<DataFusionError>),
    /// The user stopped a query (exit code 4).
    #[error("cancelled")]
    Cancelled,
    /// A query took longer than it was allowed to (exit code 4).
    #[error("the query was stopped after {}, which is what --timeout allows", humantime(.0))]
    Timeout(std::time::Duration),
    /// A result could not be written (exit code 4).
    #[error("cannot write {0}: {1}")]
    Output(String, std::io::Error),
}

impl Error {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Input(_) | Self::Inputs(..) | Self::Damaged(..) => 3,
            Self::Query(_)
            | Self::Sql(_)
            | Self::Cancelled
            | Self::Timeout(_)
            | Self::Output(..) => 4,
        }
    }

    /// Whether nobody reads our output any more, which is no error to report.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(_, e) if e.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

fn humantime(time: &std::time::Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

impl From<DataFusionError> for Error {
    fn from(e: DataFusionError) -> Self {
        Self::Sql(Box::new(e))
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

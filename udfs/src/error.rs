//! Errors of the writers of formats as errors of DataFusion.

use datafusion_common::DataFusionError;
use tracesql_formats::Error;

/// The error as DataFusion reports errors of execution.
pub fn from_formats(error: Error) -> DataFusionError {
    match error {
        Error::Arrow(e) => e.into(),
        Error::Io(e) => e.into(),
        other => DataFusionError::Execution(other.to_string()),
    }
}

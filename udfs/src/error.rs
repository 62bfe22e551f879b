//! Converts the errors of format writers to errors of DataFusion.

use datafusion_common::DataFusionError;
use tracesql_formats::Error;

/// Converts the error to an execution error of DataFusion.
pub fn from_formats(error: Error) -> DataFusionError {
    match error {
        Error::Arrow(e) => e.into(),
        Error::Io(e) => e.into(),
        other => DataFusionError::Execution(other.to_string()),
    }
}

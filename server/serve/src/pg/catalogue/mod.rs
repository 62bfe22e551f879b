//! The catalogue: what clients of PostgreSQL ask about tables, columns and types.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;

use super::client::{Client, Stop};
use crate::failure::{Failure, code};
use crate::query::Described;

/// The catalogue of a server.
#[derive(Default)]
pub struct Shared;

impl Client {
    pub(super) async fn catalogue_rows(
        &mut self,
        _sql: &str,
        _parameters: Vec<(String, ScalarValue)>,
    ) -> Result<
        impl Future<Output = Result<SendableRecordBatchStream, Failure>> + Send + 'static,
        Stop,
    > {
        Ok(async { Err(Failure::new(code::FEATURE_NOT_SUPPORTED, "no catalogue")) })
    }

    pub(super) async fn describe_catalogue(
        &mut self,
        _sql: &str,
        _given: Vec<(String, DataType)>,
    ) -> Result<Described, Stop> {
        Err(Failure::new(code::FEATURE_NOT_SUPPORTED, "no catalogue").into())
    }
}

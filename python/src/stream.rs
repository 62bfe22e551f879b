//! Query rows that are produced while they are read, for results that are larger than memory.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tokio::runtime::Handle;

use crate::errors::UsageError;
use crate::result::{columns, schema_capsule, stream_capsule};
use crate::threads::Threads;

/// A result that can be read once.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Stream {
    schema: SchemaRef,
    reader: Mutex<Option<Reader>>,
}

impl Stream {
    pub fn new(stream: SendableRecordBatchStream, threads: Arc<Threads>) -> Self {
        let handle = threads.handle();
        Self {
            schema: stream.schema(),
            reader: Mutex::new(Some(Reader { stream, handle, _threads: threads })),
        }
    }
}

#[pymethods]
impl Stream {
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        columns(&self.schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        match self.reader.lock().take() {
            Some(reader) => stream_capsule(py, Box::new(reader)),
            None => Err(UsageError::new_err(
                "this stream was read already; run the query again, or use sql() to keep its rows",
            )),
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }
}

/// Waits for each batch on the thread that requests it.
struct Reader {
    stream: SendableRecordBatchStream,
    /// The runtime on which the query was started.
    handle: Handle,
    _threads: Arc<Threads>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.handle.block_on(self.stream.next())?;
        Some(batch.map_err(|e| ArrowError::ComputeError(e.strip_backtrace().replace('\0', " "))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

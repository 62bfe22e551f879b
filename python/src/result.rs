//! Rows of a query, held as Arrow batches.

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::ffi::FFI_ArrowSchema;
use arrow::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use tracesql::library::sql_type;
use tracesql::output::{TableStyle, table};

use crate::errors::{QueryError, exception};
use crate::values;

/// All rows of a result. Every consumer gets the same buffers.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    count: usize,
}

impl Rows {
    pub fn new(schema: SchemaRef, mut batches: Vec<RecordBatch>) -> Self {
        batches.retain(|b| b.num_rows() > 0);
        let count = batches.iter().map(RecordBatch::num_rows).sum();
        Self { schema, batches, count }
    }
}

/// An Arrow stream for consumers of Arrow's C interface.
pub fn stream_capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

/// A schema for consumers of Arrow's C interface.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref())
        .map_err(|e| QueryError::new_err(e.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The names of columns with their SQL types.
pub fn columns(schema: &SchemaRef) -> Vec<(String, String)> {
    schema.fields().iter().map(|f| (f.name().clone(), sql_type(f.data_type()))).collect()
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.count
    }

    /// The memory that the rows take, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }

    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        columns(&self.schema)
    }

    /// The number of batches.
    #[getter]
    fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The rows of one batch as tuples: at most `most` of them.
    fn batch(&self, py: Python<'_>, at: usize, most: usize) -> PyResult<Vec<Py<PyTuple>>> {
        match self.batches.get(at) {
            Some(batch) => values::tuples(py, &batch.slice(0, batch.num_rows().min(most))),
            None => Ok(Vec::new()),
        }
    }

    /// Some of the rows in their order. They share the memory of this result.
    fn slice(&self, start: usize, count: usize) -> Self {
        let (mut skipped, mut left) = (start, count);
        let mut batches = Vec::new();
        for batch in &self.batches {
            let from = skipped.min(batch.num_rows());
            let taken = left.min(batch.num_rows() - from);
            batches.push(batch.slice(from, taken));
            (skipped, left) = (skipped - from, left - taken);
        }
        Self::new(self.schema.clone(), batches)
    }

    /// The first rows as a table.
    fn text(&self, most: usize, width: Option<usize>) -> PyResult<String> {
        let mut left = most;
        let mut first = Vec::new();
        for batch in &self.batches {
            first.push(batch.slice(0, batch.num_rows().min(left)));
            left -= batch.num_rows().min(left);
            if left == 0 {
                break;
            }
        }
        table(self.schema.clone(), &first, TableStyle { width, max_rows: None, in_shell: false })
            .map_err(exception)
    }

    /// The rows as an Arrow stream. They keep their own schema, even if the consumer requests
    /// another one.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(
            py,
            Box::new(RecordBatchIterator::new(
                self.batches.clone().into_iter().map(Ok),
                self.schema.clone(),
            )),
        )
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }
}

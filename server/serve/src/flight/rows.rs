//! Batches as messages of Flight.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{Fields, Schema, SchemaRef};
use arrow_flight::FlightData;
use arrow_flight::encode::{FlightDataEncoder, FlightDataEncoderBuilder};
use arrow_flight::error::FlightError;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Response, Status};

use super::handles::Reading;
use super::metadata::as_result;
use super::status;

/// The size at which a batch is cut, in bytes. Clients refuse messages of more than 4 MiB.
const MAX_BYTES: usize = 2 << 20;

/// The answer to a request for rows.
pub type Answer = Response<BoxStream<'static, Result<FlightData, Status>>>;

/// The columns as messages carry them, which is what a client is told before it reads. Dictionaries
/// become the values that they stand for, because some clients cannot read those inside of lists.
pub fn promised(schema: &SchemaRef) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(as_result).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch that is known already.
pub fn one(batch: RecordBatch) -> Answer {
    let schema = batch.schema();
    answer(&schema, stream::iter([Ok(batch)]))
}

/// Columns without rows.
pub fn none(schema: &SchemaRef) -> Answer {
    answer(schema, stream::empty())
}

/// The rows of several statements with equal columns, one after the other.
pub fn all(
    schema: &SchemaRef,
    rows: impl Stream<Item = Result<RecordBatch, Status>> + Send + 'static,
) -> Answer {
    answer(schema, rows.map(|batch| batch.map_err(FlightError::from)))
}

fn answer(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static,
) -> Answer {
    Response::new(encoder(schema, batches).map(|data| data.map_err(status::of_flight)).boxed())
}

fn encoder(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static,
) -> FlightDataEncoder {
    let schema = promised(schema);
    let columns = schema.clone();
    let pieces = batches.flat_map(move |batch| {
        let mut pieces = Vec::new();
        match batch.and_then(|batch| with_columns(&batch, &columns)) {
            Ok(batch) => cut(batch, &mut pieces),
            Err(error) => pieces.push(Err(error)),
        }
        stream::iter(pieces)
    });
    // The encoder would measure whole buffers, of which a batch may show only some rows.
    FlightDataEncoderBuilder::new()
        .with_max_flight_data_size(usize::MAX)
        .with_schema(schema)
        .build(pieces)
}

/// The batch with these columns.
fn with_columns(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, FlightError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Cuts a batch into pieces that clients accept. A row that is larger stays whole.
fn cut(batch: RecordBatch, pieces: &mut Vec<Result<RecordBatch, FlightError>>) {
    let rows = batch.num_rows();
    if rows < 2 || batch.columns().iter().map(shown_bytes).sum::<usize>() <= MAX_BYTES {
        pieces.push(Ok(batch));
    } else {
        cut(batch.slice(0, rows / 2), pieces);
        cut(batch.slice(rows / 2, rows - rows / 2), pieces);
    }
}

/// The bytes of the rows that a column shows. The buffers that it refers to may be much larger.
pub fn shown_bytes(column: &ArrayRef) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_buffer_memory_size())
}

/// Rows that are computed while they are read.
pub type Batches = BoxStream<'static, Result<RecordBatch, Status>>;

/// The rows of a result while a client reads them. They end with an error if it is cancelled.
pub struct ReadRows {
    reading: Reading<Batches>,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl ReadRows {
    /// Reads a result.
    pub fn new(reading: Reading<Batches>) -> Self {
        let stopped = Box::pin(reading.taken.stopped.clone().cancelled_owned());
        Self { reading, stopped }
    }
}

impl Stream for ReadRows {
    type Item = Result<RecordBatch, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let is_stopped = self.stopped.as_mut().poll(context).is_ready();
        match self.reading.taken.result.lock().as_mut() {
            Some(batches) if !is_stopped => batches.poll_next_unpin(context),
            _ => Poll::Ready(Some(Err(Status::cancelled("the statement was cancelled")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    use super::{MAX_BYTES, cut, promised};

    #[test]
    fn a_batch_is_cut_by_the_bytes_that_it_shows() {
        let text = "x".repeat(MAX_BYTES / 4);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); 16]));
        let batch = RecordBatch::try_from_iter([("text", texts)]).expect("a batch");
        let mut pieces = Vec::new();
        cut(batch.slice(4, 2), &mut pieces);
        assert_eq!(pieces.len(), 1, "two rows are small, whatever buffer they are in");
        pieces.clear();
        cut(batch, &mut pieces);
        let rows: Vec<usize> =
            pieces.into_iter().map(|piece| piece.expect("a piece").num_rows()).collect();
        assert_eq!(rows, [2; 8]);
    }

    #[test]
    fn the_promised_columns_keep_whether_they_have_nulls() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let batch = RecordBatch::try_from_iter_with_nullable([("n", numbers, false)]);
        let schema = batch.expect("a batch").schema();
        assert_eq!(promised(&schema), schema);
    }
}

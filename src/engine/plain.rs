//! Texts of results in the layout that every reader knows: views into pages are for the way through a query.

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

/// The rows of a result with plain texts, also in lists.
pub fn texts(rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let given = rows.schema();
    let fields: Fields = given.fields().iter().map(plain_field).collect();
    if fields == *given.fields() {
        return rows;
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, given.metadata().clone()));
    let made = schema.clone();
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let columns = batch.columns().iter().zip(made.fields()).map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(made.clone(), columns.collect::<Result<_, _>>()?, &options)?)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

fn plain_field(field: &Arc<Field>) -> Arc<Field> {
    match plain(field.data_type()) {
        Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
        None => field.clone(),
    }
}

/// The type with plain texts, if it has others.
fn plain(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Utf8View => Some(DataType::Utf8),
        DataType::List(item) => plain(item.data_type()).map(|_| DataType::List(plain_field(item))),
        _ => None,
    }
}

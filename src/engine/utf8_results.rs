//! Converts the texts of results to `Utf8`, which every consumer of Arrow supports. Within a query
//! they are `Utf8View`, which refers to the pages that the texts come from.
//!
//! This is not an optimizer rule. Rules see every plan, including those of views, and only the
//! types of the final result may change.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};

/// The maximum size of a column in a batch: the offsets of `Utf8` have 31 bits.
const MAX_BYTES: u64 = i32::MAX as u64;

/// The rows of a result with `Utf8` in place of `Utf8View`, also inside lists.
pub fn utf8(rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let given = rows.schema();
    let fields: Fields = given.fields().iter().map(utf8_field).collect();
    if fields == *given.fields() {
        return rows;
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, given.metadata().clone()));
    let to = schema.clone();
    let rows = rows.flat_map(move |batch| {
        let mut pieces = Vec::new();
        match batch {
            Ok(batch) => cut(batch, MAX_BYTES, &mut pieces),
            Err(e) => pieces.push(Err(e)),
        }
        let to = to.clone();
        stream::iter(pieces.into_iter().map(move |piece| utf8_batch(&piece?, &to)))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

fn utf8_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        }
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        schema.clone(),
        columns.collect::<Result<_, _>>()?,
        &options,
    )?)
}

/// Cuts a batch into pieces in which no column has more than `max` bytes of text. With `Utf8View`,
/// many rows can share one text, which `Utf8` repeats.
fn cut(batch: RecordBatch, max: u64, pieces: &mut Vec<Result<RecordBatch>>) {
    let rows = batch.num_rows();
    if batch.columns().iter().all(|column| text_bytes(column) <= max) {
        pieces.push(Ok(batch));
    } else if rows < 2 {
        pieces.push(exec_err!(
            "a row has a column of more than {max} bytes of text; ask for less of it"
        ));
    } else {
        cut(batch.slice(0, rows / 2), max, pieces);
        cut(batch.slice(rows / 2, rows - rows / 2), max, pieces);
    }
}

/// The total length of all texts in a column, in bytes.
fn text_bytes(column: &ArrayRef) -> u64 {
    match column.data_type() {
        // The lower half of the first 8 bytes of a view is the length of its text.
        DataType::Utf8View => {
            column.as_string_view().views().iter().map(|view| u64::from(*view as u32)).sum()
        }
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            let (first, last) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
            text_bytes(&list.values().slice(first, last - first))
        }
        _ => 0,
    }
}

fn utf8_field(field: &Arc<Field>) -> Arc<Field> {
    match utf8_type(field.data_type()) {
        Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
        None => field.clone(),
    }
}

/// The type with `Utf8` in place of `Utf8View`; `None` if the type contains no `Utf8View`.
fn utf8_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Utf8View => Some(DataType::Utf8),
        DataType::List(item) => {
            utf8_type(item.data_type()).map(|_| DataType::List(utf8_field(item)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, AsArray, ListBuilder, RecordBatch, StringViewBuilder};

    use super::cut;

    #[test]
    fn a_batch_is_cut_where_a_column_of_text_would_be_too_long() {
        let (mut texts, mut lists) = (
            StringViewBuilder::new().with_deduplicate_strings(),
            ListBuilder::new(StringViewBuilder::new()),
        );
        for at in 0..10 {
            texts.append_option((at != 3).then_some("twenty bytes of text"));
            lists.append_value((0..at).map(|_| Some("12345")));
        }
        let batch = RecordBatch::try_from_iter([
            ("texts", Arc::new(texts.finish()) as ArrayRef),
            ("lists", Arc::new(lists.finish()) as ArrayRef),
        ]);
        let batch = batch.expect("a batch");
        let cut_at = |max| {
            let mut pieces = Vec::new();
            cut(batch.clone(), max, &mut pieces);
            pieces
        };
        let rows = |max| {
            cut_at(max).into_iter().map(|p| p.expect("a piece").num_rows()).collect::<Vec<_>>()
        };
        assert_eq!(rows(225), [10]);
        assert_eq!(rows(175), [5, 5]);
        assert_eq!(rows(45), [2, 3, 1, 1, 1, 1, 1]);
        assert!(cut_at(44).pop().expect("a piece").is_err());
        let last = cut_at(45).pop().expect("a piece").expect("a piece");
        assert_eq!(last.column(1).as_list::<i32>().value(0).len(), 9);
    }
}

//! Texts of results in the layout that every reader knows: views into pages are for the way through
//! a query.

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

/// Offsets of plain texts have 31 bits.
const MOST_BYTES: u64 = i32::MAX as u64;

/// The rows of a result with plain texts, also in lists.
pub fn texts(rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let given = rows.schema();
    let fields: Fields = given.fields().iter().map(plain_field).collect();
    if fields == *given.fields() {
        return rows;
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, given.metadata().clone()));
    let made = schema.clone();
    let rows = rows.flat_map(move |batch| {
        let mut pieces = Vec::new();
        match batch {
            Ok(batch) => cut(batch, MOST_BYTES, &mut pieces),
            Err(e) => pieces.push(Err(e)),
        }
        let made = made.clone();
        stream::iter(pieces.into_iter().map(move |piece| plain_batch(&piece?, &made)))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
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

/// A batch in pieces of which no column has more than `most` bytes of text: views share a text that
/// many rows name, plain texts repeat it.
fn cut(batch: RecordBatch, most: u64, pieces: &mut Vec<Result<RecordBatch>>) {
    let rows = batch.num_rows();
    if batch.columns().iter().all(|column| text_bytes(column) <= most) {
        pieces.push(Ok(batch));
    } else if rows < 2 {
        pieces.push(exec_err!(
            "a row has a column of more than {most} bytes of text; ask for less of it"
        ));
    } else {
        cut(batch.slice(0, rows / 2), most, pieces);
        cut(batch.slice(rows / 2, rows - rows / 2), most, pieces);
    }
}

/// Bytes of the texts that views of a column name.
fn text_bytes(column: &ArrayRef) -> u64 {
    match column.data_type() {
        // The lower half of the first 8 bytes of a view is the length.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, AsArray, ListBuilder, RecordBatch, StringViewBuilder};

    use super::cut;

    #[test]
    fn batches_are_cut_where_texts_would_grow_too_long() {
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
        let cut_at = |most| {
            let mut pieces = Vec::new();
            cut(batch.clone(), most, &mut pieces);
            pieces
        };
        let rows = |most| {
            cut_at(most).into_iter().map(|p| p.expect("a piece").num_rows()).collect::<Vec<_>>()
        };
        assert_eq!(rows(225), [10]);
        assert_eq!(rows(175), [5, 5]);
        assert_eq!(rows(45), [2, 3, 1, 1, 1, 1, 1]);
        assert!(cut_at(44).pop().expect("a piece").is_err());
        let last = cut_at(45).pop().expect("a piece").expect("a piece");
        assert_eq!(last.column(1).as_list::<i32>().value(0).len(), 9);
    }
}

//! Rows on their way. A task returns rows of several queries as `(query BIGINT, rows VARBINARY)`,
//! in which each `rows` is an Arrow IPC stream with one batch.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Int64Array, LargeBinaryArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{exec_datafusion_err, exec_err};
use datafusion::error::Result;

/// The size up to which rows travel as one message. Messages have a bounded size.
const PIECE_BYTES: usize = 1 << 20;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("query", DataType::Int64, false),
        Field::new("rows", DataType::LargeBinary, false),
    ]))
});

/// The columns that every task returns.
pub fn schema() -> SchemaRef {
    SCHEMA.clone()
}

/// Rows of a query as rows of a task, in pieces of bounded size.
pub fn wrap(query: u32, batch: &RecordBatch) -> Vec<Result<RecordBatch>> {
    let rows = batch.num_rows();
    let pieces = batch.get_array_memory_size().div_ceil(PIECE_BYTES).clamp(1, rows.max(1));
    let step = rows.div_ceil(pieces).max(1);
    (0..rows)
        .step_by(step)
        .map(|from| {
            let piece = batch.slice(from, step.min(rows - from));
            let bytes = to_ipc(&piece.schema(), std::slice::from_ref(&piece))?;
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Int64Array::from(vec![i64::from(query)])),
                Arc::new(LargeBinaryArray::from(vec![bytes.as_slice()])),
            ];
            Ok(RecordBatch::try_new(schema(), columns)?)
        })
        .collect()
}

/// The rows of queries that a batch of a task holds.
pub fn unwrap(batch: &RecordBatch) -> Result<Vec<(u32, Vec<RecordBatch>)>> {
    let wrong = || exec_datafusion_err!("an executor returned rows in another form");
    let queries = batch.column(0).as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
    let rows = batch.column(1).as_binary_opt::<i64>().ok_or_else(wrong)?;
    (0..batch.num_rows())
        .map(|at| {
            let query = u32::try_from(queries.value(at)).map_err(|_| wrong())?;
            Ok((query, from_ipc(rows.value(at))?.1))
        })
        .collect()
}

/// Batches as an Arrow IPC stream.
pub fn to_ipc(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

/// The batches of an Arrow IPC stream.
pub fn from_ipc(bytes: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let reader = StreamReader::try_new(bytes, None)?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<Result<_, _>>()?))
}

/// A batch with the columns that a plan expects: texts travel as plain texts, and a query without
/// columns has one, because SQL has no query without columns.
pub fn fit(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    if schema.fields().is_empty() {
        return Ok(RecordBatch::try_new_with_options(schema.clone(), vec![], &options)?);
    }
    if batch.num_columns() != schema.fields().len() {
        return exec_err!(
            "an executor returned {} columns instead of {}",
            batch.num_columns(),
            schema.fields().len()
        );
    }
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        match column.data_type() == field.data_type() {
            true => Ok(column.clone()),
            false => cast(column, field.data_type()),
        }
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};

    use super::{PIECE_BYTES, fit, unwrap, wrap};

    #[test]
    fn rows_come_back_in_pieces_of_bounded_size() {
        let long = "x".repeat(PIECE_BYTES / 4);
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from_iter_values(0..20)) as ArrayRef),
            ("text", Arc::new(StringArray::from_iter_values((0..20).map(|_| &long)))),
        ])
        .expect("a batch");
        let pieces = wrap(7, &batch);
        assert!(pieces.len() >= 5, "{}", pieces.len());
        let mut numbers = Vec::new();
        for piece in pieces {
            for (query, rows) in unwrap(&piece.expect("a piece")).expect("rows") {
                assert_eq!(query, 7);
                for rows in rows {
                    let column = rows.column(0).clone();
                    let column: &Int64Array = column.as_any().downcast_ref().expect("numbers");
                    numbers.extend(column.values().to_vec());
                }
            }
        }
        assert_eq!(numbers, (0..20).collect::<Vec<i64>>());
    }

    #[test]
    fn rows_without_columns_keep_their_number() {
        let batch = RecordBatch::try_from_iter([(
            "nothing",
            Arc::new(Int64Array::from(vec![None, None])) as ArrayRef,
        )]);
        let fitted = fit(&batch.expect("a batch"), &Arc::new(Schema::empty())).expect("rows");
        assert_eq!((fitted.num_rows(), fitted.num_columns()), (2, 0));
    }

    #[test]
    fn texts_become_views_and_other_columns_are_refused() {
        let batch = RecordBatch::try_from_iter([(
            "name",
            Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef,
        )])
        .expect("a batch");
        let views = Arc::new(Schema::new(vec![Field::new("name", DataType::Utf8View, true)]));
        assert_eq!(fit(&batch, &views).expect("rows").schema(), views);
        let two = Arc::new(Schema::new(vec![
            Field::new("name", DataType::Utf8View, true),
            Field::new("more", DataType::Int64, true),
        ]));
        assert!(fit(&batch, &two).is_err());
    }
}

//! Parameters of statements: how a text names them, and the values that a client binds to them.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use tonic::Status;
use tracesql::sql_text::lex::{self, Kind};

use super::bound;

/// The values of the parameters of one execution, by the name of the parameter without `$`.
pub type Values = Vec<(String, ScalarValue)>;

/// The text with each `?` replaced by `$1`, `$2`, …, because the query engine knows numbered and
/// named parameters only.
pub fn numbered(sql: &str) -> Result<String, Status> {
    if !sql.contains('?') {
        return Ok(sql.to_owned());
    }
    let (mut text, mut marks, mut others) = (String::with_capacity(sql.len() + 16), 0, 0);
    for token in lex::tokens(sql) {
        match (token.kind, token.text) {
            (Kind::Parameter, "?") => {
                marks += 1;
                text.push_str(&format!("${marks}"));
            }
            (kind, other) => {
                others += usize::from(kind == Kind::Parameter);
                text.push_str(other);
            }
        }
    }
    if marks > 0 && others > 0 {
        return Err(Status::invalid_argument(
            "the statement has parameters written as ? and as $NAME; use one of the two forms",
        ));
    }
    Ok(text)
}

/// The parameters of a statement as a client sees them, in the order in which values are bound.
pub fn schema(parameters: &[(String, DataType)]) -> Schema {
    let field = |(name, data_type): &(String, DataType)| Field::new(name, data_type.clone(), true);
    Schema::new(parameters.iter().map(field).collect::<Vec<_>>())
}

/// The values of each execution: one for each row of the batches. Columns are matched by name if
/// the batches have all names, else by position.
pub fn values(names: &[String], batches: &[RecordBatch]) -> Result<Vec<Values>, Status> {
    let rows = batches.iter().fold(0, |rows: usize, b| rows.saturating_add(b.num_rows()));
    bound::check_rows(rows)?;
    let (mut executions, mut bytes) = (Vec::with_capacity(rows), 0);
    for batch in batches {
        let columns = columns(names, batch)?;
        for row in 0..batch.num_rows() {
            let value = |(name, column): &(String, usize)| {
                ScalarValue::try_from_array(batch.column(*column), row)
                    .map(|value| (name.clone(), value))
                    .map_err(|e| Status::invalid_argument(format!("parameter ${name}: {e}")))
            };
            // A value that many rows refer to was sent once, and is kept for each of them.
            let mut values = Values::with_capacity(columns.len());
            for column in &columns {
                let (name, value) = value(column)?;
                bytes += size_of::<String>() + name.len() + own_bytes(&value);
                bound::check_bytes(bytes)?;
                values.push((name, value));
            }
            executions.push(values);
        }
    }
    Ok(executions)
}

/// The bytes of a value. Lists share the buffers of their batch, so only their own part counts.
fn own_bytes(value: &ScalarValue) -> usize {
    let list: &dyn Array = match value {
        ScalarValue::List(list) => list.as_ref(),
        ScalarValue::LargeList(list) => list.as_ref(),
        ScalarValue::FixedSizeList(list) => list.as_ref(),
        ScalarValue::Struct(fields) => fields.as_ref(),
        other => return other.size(),
    };
    let shown = list.to_data().get_slice_memory_size();
    size_of::<ScalarValue>() + shown.unwrap_or_else(|_| list.get_buffer_memory_size())
}

/// The column of the batch for each parameter.
fn columns(names: &[String], batch: &RecordBatch) -> Result<Vec<(String, usize)>, Status> {
    if names.len() != batch.num_columns() {
        return Err(Status::invalid_argument(format!(
            "the statement has {} parameters and {} values were bound",
            names.len(),
            batch.num_columns()
        )));
    }
    let schema = batch.schema();
    let by_name: Option<Vec<_>> = names
        .iter()
        .map(|name| schema.index_of(name).ok().map(|column| (name.clone(), column)))
        .collect();
    let by_position = || names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
    // Clients that bind by position name the columns 0, 1, …, which could be taken for $1, $2, ….
    let numbered = names.iter().all(|name| name.parse::<u32>().is_ok());
    Ok(match by_name {
        Some(columns) if !numbered => columns,
        _ => by_position(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, DictionaryArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    };
    use arrow::datatypes::Int64Type;
    use datafusion::common::ScalarValue;
    use tonic::Code;

    use super::{numbered, values};
    use crate::flight::bound::{MAX_BYTES, MAX_ROWS};

    #[test]
    fn question_marks_are_numbered_and_texts_are_left_alone() {
        assert_eq!(
            numbered("SELECT ?, '?' -- ?\nFROM a WHERE x > ? LIMIT ?").expect("numbered"),
            "SELECT $1, '?' -- ?\nFROM a WHERE x > $2 LIMIT $3"
        );
        assert_eq!(numbered("SELECT '?', $1").expect("numbered"), "SELECT '?', $1");
        assert!(numbered("SELECT ?, $1").is_err(), "two forms in one statement");
    }

    #[test]
    fn values_are_bound_by_name_or_by_position() {
        let batch = |names: [&str; 2]| {
            let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
            let texts: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
            RecordBatch::try_from_iter([(names[0], numbers), (names[1], texts)]).expect("a batch")
        };
        let names = |names: [&str; 2]| names.map(str::to_owned);
        let named = values(&names(["a", "b"]), &[batch(["b", "a"])]).expect("values");
        assert_eq!(named.len(), 2);
        assert_eq!(named[1][0], ("a".to_owned(), ScalarValue::from("y")));
        let placed = values(&names(["1", "2"]), &[batch(["2", "1"])]).expect("values");
        assert_eq!(placed[0][0], ("1".to_owned(), ScalarValue::from(1_i64)));
        assert!(values(&names(["a", "b"]), &vec![batch(["a", "b"]); MAX_ROWS]).is_err());
        assert!(values(&[], &[batch(["a", "b"])]).is_err());
    }

    #[test]
    fn a_value_counts_for_each_row_that_refers_to_it() {
        let refused = |column: ArrayRef| {
            let batch = RecordBatch::try_from_iter([("a", column)]).expect("a batch");
            values(&["a".to_owned()], &[batch]).map_err(|status| status.code()).err()
        };
        let text = "x".repeat(MAX_BYTES / 100);
        let once: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let rows = Int32Array::from(vec![0; 101]);
        let many = DictionaryArray::try_new(rows, once.clone()).expect("a dictionary");
        assert_eq!(refused(Arc::new(many)), Some(Code::ResourceExhausted));
        assert_eq!(refused(once), None);
        // Each list is small. The buffer that they share is not copied.
        let list = || Some((0..100).map(Some));
        let lists =
            ListArray::from_iter_primitive::<Int64Type, _, _>((0..MAX_ROWS).map(|_| list()));
        assert_eq!(refused(Arc::new(lists)), None);
    }

    #[test]
    fn small_values_count_with_what_each_takes() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1; MAX_ROWS]));
        let columns = (0..1_000).map(|at| (format!("c{at}"), numbers.clone()));
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let names: Vec<String> = (1..=1_000).map(|at| at.to_string()).collect();
        let refused = values(&names, &[batch]).expect_err("refused");
        assert_eq!(refused.code(), Code::ResourceExhausted);
    }
}

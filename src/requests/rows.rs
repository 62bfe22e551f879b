//! Rows of a result as JSON values within bounds.

use std::iter::repeat_with;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::json::WriterBuilder;
use arrow::json::writer::JsonArray;
use serde_json::{Map, Value};

use super::{Cut, common};
use crate::error::{Error, Result};

/// The largest integer up to which each integer is a different double, 2^53. Programs that read
/// JSON numbers as doubles would round beyond it, so larger integers are sent as texts.
pub const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Rows that are converted at once. A row may be long.
const ROWS_AT_ONCE: usize = 64;

/// Bounds of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub max_rows: usize,
    /// Bytes of the answer as JSON, with its columns.
    pub max_bytes: usize,
    /// Characters of a text. A longer one is cut, and its length is appended.
    pub max_text: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { max_rows: 100, max_bytes: 20_000, max_text: 500 }
    }
}

/// The rows of an answer so far.
pub(super) struct Rows {
    shape: Shape,
    rows: Vec<Value>,
    bytes: usize,
    cut: Option<Cut>,
}

impl Rows {
    pub fn new(shape: Shape) -> Self {
        Self { shape, rows: Vec::new(), bytes: 0, cut: None }
    }

    /// Adds rows. Returns false if the answer is full.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<bool> {
        for start in (0..batch.num_rows()).step_by(ROWS_AT_ONCE) {
            let length = ROWS_AT_ONCE.min(batch.num_rows() - start);
            for row in values(&batch.slice(start, length), self.shape.max_text)? {
                if self.rows.len() == self.shape.max_rows {
                    self.cut = Some(Cut::Rows(self.shape.max_rows));
                    return Ok(false);
                }
                let row = Value::Array(row);
                let bytes = json_bytes(&row) + 1;
                if self.bytes + bytes > self.shape.max_bytes {
                    self.cut = Some(Cut::Bytes(bytes));
                    return Ok(false);
                }
                self.bytes += bytes;
                self.rows.push(row);
            }
        }
        Ok(true)
    }

    pub fn done(self) -> (Vec<Value>, Option<Cut>) {
        (self.rows, self.cut)
    }
}

/// The values of each row, in the order of the columns: integers beyond 2^53 as texts, texts with
/// at most `max_text` characters.
pub fn values(batch: &RecordBatch, max_text: usize) -> Result<Vec<Vec<Value>>> {
    let empty = || Vec::with_capacity(batch.num_columns());
    let mut rows: Vec<Vec<Value>> = repeat_with(empty).take(batch.num_rows()).collect();
    for column in batch.columns() {
        match common::values(column, max_text) {
            Some(values) => rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value)),
            None => {
                let values = any_values(column)?.into_iter().map(|value| plain(value, max_text));
                rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value));
            }
        }
    }
    Ok(rows)
}

/// The values of a column of any type, as Arrow writes them.
fn any_values(column: &ArrayRef) -> Result<Vec<Value>> {
    let failed = |e: &dyn std::fmt::Display| Error::Query(format!("rows as JSON: {e}"));
    let column = exact(column)?;
    let field = Field::new("value", column.data_type().clone(), true);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column])
        .map_err(|e| failed(&e))?;
    let mut writer =
        WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
    writer.write(&batch).map_err(|e| failed(&e))?;
    writer.finish().map_err(|e| failed(&e))?;
    let objects: Vec<Map<String, Value>> =
        serde_json::from_slice(&writer.into_inner()).map_err(|e| failed(&e))?;
    let values = objects.into_iter().flat_map(|object| object.into_iter().map(|(_, value)| value));
    Ok(values.collect())
}

/// The column with decimal numbers as texts, because JSON readers would round them.
fn exact(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => {
            cast(column, &DataType::Utf8).map_err(|e| Error::Query(format!("rows as JSON: {e}")))
        }
        _ => Ok(column.clone()),
    }
}

/// The length of a value as JSON.
fn json_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Nothing is written anywhere, and a value has no keys that are not texts.
    serde_json::to_writer(&mut count, value).ok();
    count.0
}

/// A value as programs can read it: large integers as texts, long texts cut.
fn plain(value: Value, max_text: usize) -> Value {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            match size {
                Some(size) if size > MAX_EXACT_INTEGER => Value::String(number.to_string()),
                _ => Value::Number(number),
            }
        }
        Value::String(text) => Value::String(text_of(text, max_text)),
        Value::Array(values) => values.into_iter().map(|v| plain(v, max_text)).collect(),
        Value::Object(values) => {
            values.into_iter().map(|(k, v)| (text_of(k, max_text), plain(v, max_text))).collect()
        }
        other => other,
    }
}

/// A text with at most this number of characters. If it was longer, its length follows.
pub fn text_of(text: String, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text,
        Some((end, _)) => {
            format!("{}… ({} characters)", &text[..end], text.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int64Array, StringArray, UInt64Array};

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .expect("columns of equal length")
    }

    #[test]
    fn integers_beyond_two_to_the_53_are_texts() {
        let exact = MAX_EXACT_INTEGER as i64;
        let signed = Int64Array::from(vec![exact, exact + 1, -exact - 1, i64::MIN]);
        let unsigned = UInt64Array::from(vec![0, 1, MAX_EXACT_INTEGER + 1, u64::MAX]);
        let rows = values(&batch(vec![("a", Arc::new(signed)), ("b", Arc::new(unsigned))]), 10);
        assert_eq!(
            serde_json::to_string(&rows.expect("rows")).expect("JSON"),
            "[[9007199254740992,0],[\"9007199254740993\",1],\
             [\"-9007199254740993\",\"9007199254740993\"],\
             [\"-9223372036854775808\",\"18446744073709551615\"]]"
        );
    }

    #[test]
    fn common_types_have_the_values_that_arrow_writes() {
        use arrow::array::{BooleanArray, DictionaryArray, StringViewArray};
        use arrow::datatypes::Int32Type;

        let texts = [Some("plain"), None, Some("a \"quote\"\nand \u{1f600}"), Some("")];
        let names: DictionaryArray<Int32Type> = texts.iter().copied().collect();
        let floats = vec![Some(-0.0), None, Some(1e300), Some(0.1)];
        let columns: [ArrayRef; 7] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(names),
            Arc::new(Float64Array::from(floats)),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(0), Some(7)])),
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0), Some(7)])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])),
        ];
        for column in columns.iter().flat_map(|column| [column.clone(), column.slice(1, 3)]) {
            let wanted: Vec<Value> =
                any_values(&column).expect("values").into_iter().map(|v| plain(v, 9)).collect();
            assert_eq!(common::values(&column, 9), Some(wanted), "{}", column.data_type());
        }
    }

    #[test]
    fn values_without_a_number_are_null() {
        let numbers = Float64Array::from(vec![Some(f64::NAN), Some(f64::INFINITY), None]);
        let rows = values(&batch(vec![("a", Arc::new(numbers))]), 10).expect("rows");
        assert_eq!(rows, vec![vec![Value::Null]; 3]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(text_of("äöü".to_owned(), 3), "äöü");
        assert_eq!(text_of("äöüß".to_owned(), 3), "äöü… (4 characters)");
    }

    #[test]
    fn answers_are_cut_at_whole_rows() {
        let names = || batch(vec![("a", Arc::new(StringArray::from(vec!["one", "two"])))]);
        let shape = |max_rows, max_bytes| Shape { max_rows, max_bytes, max_text: 500 };
        let of = |shape| {
            let mut rows = Rows::new(shape);
            let is_complete = rows.add(&names()).expect("rows");
            let (rows, cut) = rows.done();
            assert_eq!(is_complete, cut.is_none());
            (rows.len(), cut)
        };
        assert_eq!(of(shape(2, 100)), (2, None));
        assert_eq!(of(shape(1, 100)), (1, Some(Cut::Rows(1))));
        assert_eq!(of(shape(2, 8)), (1, Some(Cut::Bytes(8))));
        assert_eq!(of(shape(2, 3)), (0, Some(Cut::Bytes(8))));
    }
}

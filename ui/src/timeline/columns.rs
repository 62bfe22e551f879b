//! Reads columns of results without copies of their texts.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use tracesql::{Error, Result};

/// The columns of a batch by position.
pub struct Columns(Vec<ArrayRef>);

impl Columns {
    /// Integers become 64 bits wide, other numbers doubles, texts `Utf8`.
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        let column = |column: &ArrayRef| {
            let to = match column.data_type() {
                t if t.is_integer() => DataType::Int64,
                t if t.is_numeric() => DataType::Float64,
                _ => DataType::Utf8,
            };
            cast(column, &to).map_err(|e| Error::Query(format!("columns of the timeline: {e}")))
        };
        Ok(Self(batch.columns().iter().map(column).collect::<Result<_>>()?))
    }

    /// An integer; `None` for NULL and for columns of another type.
    pub fn int(&self, column: usize, row: usize) -> Option<i64> {
        let values = self.0.get(column)?.as_primitive_opt::<Int64Type>()?;
        (row < values.len() && values.is_valid(row)).then(|| values.value(row))
    }

    /// A number; `None` for NULL and for columns of another type.
    pub fn number(&self, column: usize, row: usize) -> Option<f64> {
        let values = self.0.get(column)?.as_primitive_opt::<Float64Type>()?;
        (row < values.len() && values.is_valid(row)).then(|| values.value(row))
    }

    /// A text; `None` for NULL and for columns of another type.
    pub fn text(&self, column: usize, row: usize) -> Option<&str> {
        let values = self.0.get(column)?.as_string_opt::<i32>()?;
        (row < values.len() && values.is_valid(row)).then(|| values.value(row))
    }
}

//! The columns of `events` from which an element is built, looked up by name.

use crate::error::{Error, Result};
use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, StringViewArray,
};
use arrow::datatypes::Int64Type;

/// A string column in either of the forms that a query engine returns.
pub enum Texts<'a> {
    Plain(&'a StringArray),
    View(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::Plain(a) => a.is_valid(row).then(|| a.value(row)),
            Self::View(a) => a.is_valid(row).then(|| a.value(row)),
        }
    }
}

/// The columns of one record batch.
pub struct Columns<'a> {
    pub event_id: &'a Int64Array,
    pub track_id: &'a Int64Array,
    pub pid: &'a Int64Array,
    pub tid: &'a Int64Array,
    pub ts_ns: &'a Int64Array,
    pub dur_ns: &'a Int64Array,
    pub ph: Texts<'a>,
    pub cat: Texts<'a>,
    pub name: Texts<'a>,
    pub id: Texts<'a>,
    pub args: Texts<'a>,
    pub extra: Texts<'a>,
}

impl<'a> Columns<'a> {
    pub fn of(batch: &'a RecordBatch) -> Result<Self> {
        let ints = |name: &str| {
            let column = column(batch, name)?;
            column.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong(name, column))
        };
        let texts = |name: &str| {
            let column = column(batch, name)?;
            let plain = column.as_string_opt::<i32>().map(Texts::Plain);
            plain
                .or_else(|| column.as_string_view_opt().map(Texts::View))
                .ok_or_else(|| wrong(name, column))
        };
        Ok(Self {
            event_id: ints("event_id")?,
            track_id: ints("track_id")?,
            pid: ints("pid")?,
            tid: ints("tid")?,
            ts_ns: ints("ts_ns")?,
            dur_ns: ints("dur_ns")?,
            ph: texts("ph")?,
            cat: texts("cat")?,
            name: texts("name")?,
            id: texts("id")?,
            args: texts("args")?,
            extra: texts("extra")?,
        })
    }
}

/// Returns the value of an integer column, or `None` for NULL.
#[inline]
pub fn int(column: &Int64Array, row: usize) -> Option<i64> {
    column.is_valid(row).then(|| column.value(row))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch
        .column_by_name(name)
        .ok_or_else(|| Error::Input(format!("the rows of events lack the column {name}")))
}

fn wrong(name: &str, column: &ArrayRef) -> Error {
    Error::Input(format!("the column {name} of events is {}", column.data_type()))
}

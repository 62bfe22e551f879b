//! Typed access to the columns of collected rows.

use arrow::array::{Array, AsArray, Int64Array, StringArray, StructArray};
use arrow::datatypes::Int64Type;

/// The columns of collected rows by position.
pub struct Rows<'a>(pub &'a StructArray);

impl<'a> Rows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A column of integers.
    pub fn ints(&self, column: usize) -> Ints<'a> {
        Ints(self.0.column(column).as_primitive::<Int64Type>())
    }

    /// A column of texts.
    pub fn texts(&self, column: usize) -> Texts<'a> {
        Texts(self.0.column(column).as_string::<i32>())
    }
}

/// A column of integers.
#[derive(Clone, Copy)]
pub struct Ints<'a>(&'a Int64Array);

impl Ints<'_> {
    /// The value of a row; `None` for NULL.
    #[inline]
    pub fn get(self, row: usize) -> Option<i64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// A column of texts.
#[derive(Clone, Copy)]
pub struct Texts<'a>(&'a StringArray);

impl<'a> Texts<'a> {
    /// The value of a row; the empty text for NULL.
    pub fn get(self, row: usize) -> &'a str {
        if self.0.is_valid(row) { self.0.value(row) } else { "" }
    }
}

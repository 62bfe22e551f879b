//! Columns of a table's rows that have no meaning of their own, as args.

use crate::import::typed::{Args, Key};
use crate::sqlite::{Column, Encoding, Row, Table, Value, decode};

/// Maximum length of a text or of bytes that are kept in args, in bytes.
const MAX_VALUE: usize = 1 << 20;

/// The value that NVIDIA's tools write for an unsigned number that is not there.
const NO_U32: i64 = 0xffff_ffff;

/// The columns of a table that become args under their own names.
pub struct Rest {
    columns: Vec<(Key, Column)>,
    has_zeros: bool,
}

impl Rest {
    /// Returns all columns of a table except those in `taken`.
    pub fn of(table: &Table, taken: &[&str]) -> Self {
        let is_taken = |name: &str| taken.iter().any(|t| t.eq_ignore_ascii_case(name));
        let columns = table.columns.iter().filter(|(name, _)| !is_taken(name));
        let columns = columns.map(|(name, column)| (Key::new(name), *column)).collect();
        Self { columns, has_zeros: true }
    }

    /// Leaves out zeros, for columns in which 0 says that there is nothing.
    pub fn without_zeros(self) -> Self {
        Self { has_zeros: false, ..self }
    }

    /// Adds the values of a row; NULL and the number for "none" are left out.
    #[inline]
    pub fn push(&self, row: &Row<'_>, encoding: Encoding, args: &mut Args) {
        for (key, column) in &self.columns {
            match row.value(*column) {
                Value::Null | Value::Int(NO_U32) => {}
                Value::Int(0) if !self.has_zeros => {}
                Value::Int(value) => args.any_int(key, value),
                other => push_other(key, other, encoding, args),
            }
        }
    }
}

#[cold]
fn push_other(key: &Key, value: Value<'_>, encoding: Encoding, args: &mut Args) {
    match value {
        Value::Real(value) => args.any_float(key, value),
        Value::Text(raw) if raw.len() <= MAX_VALUE => args.any_text(key, &decode(raw, encoding)),
        Value::Blob(raw) if raw.len() <= MAX_VALUE => {
            let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
            args.any_text(key, &hex);
        }
        Value::Text(raw) | Value::Blob(raw) => {
            args.any_text(key, &format!("({} bytes, too long)", raw.len()));
        }
        Value::Null | Value::Int(_) => {}
    }
}

/// Returns a number, or nothing for the number that stands for "none".
pub fn real_u32(value: Option<i64>) -> Option<i64> {
    value.filter(|value| *value != NO_U32)
}

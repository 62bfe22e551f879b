//! Columns of a table's rows that have no meaning of their own, as args.

use crate::sqlite::{Column, Encoding, Row, Table, Value, decode};
use crate::typed::Args;

/// Maximum length of a text or of bytes that are kept in args, in bytes.
const MAX_VALUE: usize = 1 << 20;

/// The value that NVIDIA's tools write for an unsigned number that is not there.
const NO_U32: i64 = 0xffff_ffff;

/// The columns of a table that become args under their own names.
pub struct Rest(Vec<(String, Column)>);

impl Rest {
    /// Returns all columns of a table except those in `taken`.
    pub fn of(table: &Table, taken: &[&str]) -> Self {
        let is_taken = |name: &str| taken.iter().any(|t| t.eq_ignore_ascii_case(name));
        Self(table.columns.iter().filter(|(name, _)| !is_taken(name)).cloned().collect())
    }

    /// Adds the values of a row; NULL and the number for "none" are left out.
    #[inline]
    pub fn push(&self, row: &Row<'_>, encoding: Encoding, args: &mut Args) {
        for (name, column) in &self.0 {
            match row.value(*column) {
                Value::Null | Value::Int(NO_U32) => {}
                Value::Int(value) => args.int(name, value),
                Value::Real(value) => args.float(name, value),
                Value::Text(raw) if raw.len() <= MAX_VALUE => {
                    args.text(name, &decode(raw, encoding));
                }
                Value::Blob(raw) if raw.len() <= MAX_VALUE => {
                    let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
                    args.text(name, &hex);
                }
                Value::Text(raw) | Value::Blob(raw) => {
                    args.text(name, &format!("({} bytes, too long)", raw.len()));
                }
            }
        }
    }
}

/// Returns a number, or nothing for the number that stands for "none".
pub fn real_u32(value: Option<i64>) -> Option<i64> {
    value.filter(|value| *value != NO_U32)
}

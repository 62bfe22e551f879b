//! Values to Parquet pages.
//!
//! A general writer takes arrays, looks each string up in a table of its own, and writes down for
//! each row whether it is NULL. Here most of that is known beforehand: strings have numbers, most
//! columns of a row are NULL, and the layout of a column is fixed by its table. So columns encode
//! values as they come, NULLs cost nothing until a page ends, and the `parquet` crate is left with
//! headers, row groups and the footer.
//!
//! A table is written through a struct with one field per column: [`columns!`] declares the
//! encoders of the columns, [`row!`] the values of a row. Both are checked against
//! [`crate::schema`] by the compiler.

mod bits;
mod columns;
mod delta;
mod dictionary;
mod dictionary_strings;
mod flags;
mod ints;
mod nulls;
mod pages;
mod plain_strings;
mod rows;
mod table;

pub(crate) use columns::columns;
pub use columns::{ColumnEncoder, Columns, Encoder, RowGroups, check_columns};
pub use dictionary_strings::DictionaryStrings;
pub use flags::Flags;
pub use ints::Ints;
pub use pages::{Codec, Effort};
pub use plain_strings::PlainStrings;
#[cfg(test)]
pub use rows::AnyColumns;
pub(crate) use rows::row;
pub use rows::{Field, Interned, Row, RowWriter, TableRows, check_row};
pub use table::{EncodedGroup, descriptors};

/// Rows in a row group.
pub const GROUP_ROWS: usize = 1 << 16;

/// Rows in a page of a large trace.
const PAGE_ROWS: usize = 1 << 14;

/// Bytes of text after which a page ends before it has all its rows.
const PAGE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;

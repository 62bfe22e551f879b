//! Encodes values as Parquet pages.
//!
//! A general Parquet writer takes arrays, looks up each string in a table of its own, and records
//! for each row whether it is NULL. Here most of that is known in advance: strings have numbers,
//! most columns of a row are NULL, and the layout of a column is fixed by its table. So columns
//! encode values as they arrive, and NULLs cost nothing until a page ends. The `parquet` crate
//! writes only headers, row groups and the footer.
//!
//! A table is written through a struct with one field per column: [`columns!`] declares the
//! encoders of the columns, and [`row!`] declares the values of a row. The compiler checks both
//! against [`crate::schema`].

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

/// Number of rows in a row group.
pub const GROUP_ROWS: usize = 1 << 16;

/// Number of rows in a page of a large trace.
const PAGE_ROWS: usize = 1 << 14;

/// Size of the text in a page, in bytes, at which the page ends before it has all its rows.
const PAGE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;

//! Values to Parquet pages.
//!
//! A general writer takes arrays, looks every text up in a table of its own, and writes down for
//! each row whether it is NULL. Here most of that is known before: texts have numbers, most columns
//! of a row are NULL, and a column's layout is fixed by its table. So columns encode values as they
//! come, NULLs cost nothing until a page ends, and what is left to the `parquet` crate are headers,
//! row groups and the footer.

mod bits;
mod delta;
mod dictionary;
mod flags;
mod ints;
mod labels;
mod nulls;
mod pages;
mod table;
mod texts;

pub use flags::Flags;
pub use ints::Ints;
pub use labels::Labels;
pub use pages::{Codec, Effort};
pub use table::{EncodedGroup, TableRows, descriptors};
pub use texts::Texts;

/// Rows in a row group.
pub const GROUP_ROWS: usize = 1 << 16;

/// Rows in a page of a large trace.
const PAGE_ROWS: usize = 1 << 14;

/// Bytes of text after which a page ends before it has all its rows.
const PAGE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;

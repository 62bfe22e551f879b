//! Reads plain tables of an SQLite database, row by row in the order of rowid.
//!
//! No SQL is executed: the reader walks the pages of a table's b-tree and decodes its records. So
//! views, triggers, virtual tables, generated columns, indexes and recursive definitions of a
//! hostile file are text that nothing looks at. Each page is read at most once per scan, which
//! bounds the work by the size of the file.
//!
//! The format is described at <https://www.sqlite.org/fileformat2.html>.

mod database;
mod pages;
mod record;
mod schema;
mod tree;

pub use database::{Database, Lookup, is_sqlite};
pub use pages::Encoding;
pub use record::{Row, Value, decode};
pub use schema::{Column, Table};

//! Encoded row groups, and the Parquet schema of each table.

use std::collections::HashMap;
use std::sync::LazyLock;

use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::column::writer::ColumnCloseResult;
use parquet::schema::types::SchemaDescPtr;

use crate::error::{IngestError, Result};
use crate::schema::{TABLES, Table};

/// The pages of one column of a row group.
pub struct Chunk {
    /// The bytes of the pages, dictionary first.
    pub bytes: Bytes,
    /// The chunk's entry in the footer.
    pub close: ColumnCloseResult,
}

/// An encoded row group of a table.
pub struct EncodedGroup {
    /// Number of rows.
    pub rows: usize,
    /// Column chunks in the order of the table.
    pub chunks: Vec<Chunk>,
}

/// Returns the Parquet schema of a table.
pub fn descriptors(table: &Table) -> Result<SchemaDescPtr> {
    static ALL: LazyLock<HashMap<&'static str, SchemaDescPtr>> = LazyLock::new(|| {
        let made = TABLES.iter().filter_map(|t| {
            Some((t.name, ArrowSchemaConverter::new().convert(&t.schema()).ok()?.into()))
        });
        made.collect()
    });
    ALL.get(table.name)
        .cloned()
        .ok_or_else(|| IngestError::input(table.name, "this table has no Parquet schema"))
}

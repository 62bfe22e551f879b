//! Parquet files of a trace: how they are laid out, and writing them.

use std::fs::File;
use std::path::Path;

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use crate::error::{IngestError, Result};
use crate::schema::{Kind, Layout, SCHEMA_VERSION, Table};

/// Rows in a row group of `events`.
pub const GROUP_ROWS: usize = 1 << 16;

/// Columns of `events` by which readers skip pages; the others have statistics for each row group only.
const PRUNED_BY: &[&str] = &["track_id", "ts_ns", "end_ns", "event_id", "parent_id", "step", "correlation"];

/// Version of this crate, written to every file.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How hard to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For small traces, whose time does not matter.
    Small,
    /// For large ones.
    Fast,
}

impl Effort {
    /// What suits a trace of this size.
    pub fn for_text(bytes: u64) -> Self {
        if bytes < 128 << 20 { Self::Small } else { Self::Fast }
    }
}

/// How a table's file is encoded.
pub fn properties(table: &Table, effort: Effort) -> WriterProperties {
    let small = effort == Effort::Small;
    let zstd = |level| Compression::ZSTD(ZstdLevel::try_new(if small { 12 } else { level }).unwrap_or_default());
    let mut p = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(zstd(1))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_key_value_metadata(Some(vec![
            KeyValue::new("tracesql.schema_version".to_owned(), SCHEMA_VERSION.to_string()),
            KeyValue::new("tracesql.version".to_owned(), VERSION.to_owned()),
            KeyValue::new("tracesql.table".to_owned(), table.name.to_owned()),
        ]));
    if table.name == "events" {
        let at = |name: &str| table.columns.iter().position(|c| c.name == name).unwrap_or_default() as i32;
        let sorted = |name| SortingColumn { column_idx: at(name), descending: false, nulls_first: true };
        p = p.set_sorting_columns(Some(vec![sorted("track_id"), sorted("ts_ns")]));
    }
    for c in table.columns {
        let path = ColumnPath::from(c.name);
        if table.name == "events" && !PRUNED_BY.contains(&c.name) {
            p = p.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk);
        }
        p = match (c.layout, c.kind) {
            (Layout::Near, _) => p.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            // The encoding is what a dictionary that grows too large is given up for.
            (Layout::Repeats, Kind::Int) => p.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            (Layout::Plain, Kind::Text) => p
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path.clone(), EnabledStatistics::None)
                .set_column_compression(path, zstd(2)),
            _ => p,
        };
    }
    p.build()
}

/// A table's file in the making.
pub struct TableFile {
    writer: ArrowWriter<File>,
    rows: u64,
}

impl TableFile {
    /// Creates `<table>.parquet` in a folder.
    pub fn create(folder: &Path, table: &'static Table, effort: Effort) -> Result<Self> {
        let file = create(folder, table)?;
        Ok(Self { writer: ArrowWriter::try_new(file, table.schema(), Some(properties(table, effort)))?, rows: 0 })
    }

    /// Appends rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        Ok(self.writer.write(batch)?)
    }

    /// Completes the file; returns the number of its rows.
    pub fn finish(self) -> Result<u64> {
        let file = self.writer.into_inner()?;
        sync(&file)?;
        Ok(self.rows)
    }
}

/// Creates the file of a table.
pub fn create(folder: &Path, table: &Table) -> Result<File> {
    let path = folder.join(format!("{}.parquet", table.name));
    File::create(&path).map_err(|e| IngestError::io(path, e))
}

/// Makes sure that a file's bytes have left the machine's memory.
pub fn sync(file: &File) -> Result<()> {
    file.sync_data().map_err(|e| IngestError::io("store", e))
}

//! Parquet files of a trace.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::encode::{EncodedGroup, descriptors};
use crate::error::{IngestError, Result};
use crate::schema::{EVENTS, SCHEMA_VERSION, Table};

/// Version of this crate. It is written to every file.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the contents of a file's footer other than its row groups.
fn properties(table: &Table) -> WriterProperties {
    let p = WriterProperties::builder()
        .set_created_by(format!("tracesql {VERSION}"))
        .set_key_value_metadata(Some(vec![
            KeyValue::new("tracesql.schema_version".to_owned(), SCHEMA_VERSION.to_string()),
            KeyValue::new("tracesql.version".to_owned(), VERSION.to_owned()),
            KeyValue::new("tracesql.table".to_owned(), table.name.to_owned()),
        ]));
    if table.name != EVENTS.name {
        return p.build();
    }
    const TRACK: usize = EVENTS.position("track_id");
    const TS: usize = EVENTS.position("ts_ns");
    let sorted =
        |at: usize| SortingColumn { column_idx: at as i32, descending: false, nulls_first: true };
    p.set_sorting_columns(Some(vec![sorted(TRACK), sorted(TS)])).build()
}

/// The file of a table while it is being written.
pub struct TableFile {
    writer: SerializedFileWriter<File>,
    rows: u64,
}

impl TableFile {
    /// Creates `<table>.parquet` in a folder.
    pub fn create(folder: &Path, table: &'static Table) -> Result<Self> {
        let path = folder.join(format!("{}.parquet", table.name));
        let file = File::create(&path).map_err(|e| IngestError::io(path, e))?;
        let schema = descriptors(table)?.root_schema_ptr();
        Ok(Self {
            writer: SerializedFileWriter::new(file, schema, Arc::new(properties(table)))?,
            rows: 0,
        })
    }

    /// Appends a row group.
    pub fn write(&mut self, group: EncodedGroup) -> Result<()> {
        self.rows += group.rows as u64;
        let mut out = self.writer.next_row_group()?;
        for chunk in group.chunks {
            out.append_column(&chunk.bytes, chunk.close)?;
        }
        out.close()?;
        Ok(())
    }

    /// Completes the file and syncs it to disk; returns its number of rows.
    pub fn finish(mut self) -> Result<u64> {
        self.writer.finish()?;
        self.writer.inner().sync_data().map_err(|e| IngestError::io("store", e))?;
        Ok(self.rows)
    }
}

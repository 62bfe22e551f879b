//! The manifest of a trace: what it is and what its folder holds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::write_whole;
use crate::error::{IngestError, Result};

/// Name of the file.
pub const FILE: &str = "manifest.json";

/// What is known of one trace of a store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the tables.
    pub schema_version: u32,
    /// Version that wrote them.
    pub tracesql_version: String,
    /// Name of the trace and of its folder.
    pub trace_id: String,
    /// BLAKE3 of the input's bytes, hexadecimal.
    pub content_hash: String,
    /// The input as it was named.
    pub path: String,
    /// Size of the input as it lay on disk.
    pub input_bytes: u64,
    /// Size of its JSON text.
    pub text_bytes: u64,
    /// Elements of its event list.
    pub element_count: u64,
    /// The files by table.
    pub tables: BTreeMap<String, TableFacts>,
}

/// What is known of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TableFacts {
    /// Rows.
    pub rows: u64,
    /// Size.
    pub bytes: u64,
    /// BLAKE3 of the file, hexadecimal.
    pub blake3: String,
}

impl Manifest {
    /// Reads the manifest of a trace's folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let bytes = fs::read(&path).map_err(|e| IngestError::io(&path, e))?;
        serde_json::from_slice(&bytes).map_err(|e| IngestError::Store {
            path,
            reason: format!(
                "the manifest is damaged ({e}); remove this folder and ingest the trace anew"
            ),
        })
    }

    /// Writes it to a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| IngestError::Store { path: path.clone(), reason: e.to_string() })?;
        text.push(b'\n');
        write_whole(&path, &text)
    }

    /// Size of all files.
    pub fn bytes(&self) -> u64 {
        self.tables.values().map(|t| t.bytes).sum()
    }

    /// Rows of a table.
    pub fn rows(&self, table: &str) -> u64 {
        self.tables.get(table).map_or(0, |t| t.rows)
    }
}

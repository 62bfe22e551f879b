//! The manifest of a trace: the properties of the trace and the files in its folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::write_whole;
use crate::error::{IngestError, Result};
use crate::side::flight::rank_after_word;

/// Name of the manifest file.
pub const FILE: &str = "manifest.json";

/// A trace in a store: its origin and its files.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// Version of the tables.
    pub schema_version: u32,
    /// Version of the program that wrote the tables.
    pub tracesql_version: String,
    /// Name of the trace and of its folder.
    pub trace_id: String,
    /// BLAKE3 hash of the input's bytes, in hexadecimal.
    pub content_hash: String,
    /// The input as the user named it.
    pub path: String,
    /// Whether the user names the input otherwise than when it was read. Then `path` is what it is
    /// called now, and the table of traces has the earlier name.
    #[serde(skip)]
    pub is_renamed: bool,
    /// Size of the input on disk, in bytes.
    pub input_bytes: u64,
    /// The version of the input, if it was read by a URL and its server reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_etag: Option<String>,
    /// Size of the trace's JSON text in bytes.
    pub text_bytes: u64,
    /// Number of elements in the event list.
    pub element_count: u64,
    /// The names of ranges that are its steps, if the user chose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_from: Option<String>,
    /// The file of each table.
    pub tables: BTreeMap<String, TableFacts>,
}

/// The file of one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableFacts {
    /// Number of rows.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of the file, in hexadecimal.
    pub blake3: String,
}

impl Manifest {
    /// Reads the manifest of a trace from its folder. Fails if the manifest is missing or damaged.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let bytes = fs::read(&path).map_err(|e| IngestError::io(&path, e))?;
        serde_json::from_slice(&bytes).map_err(|e| IngestError::Store {
            path,
            reason: format!(
                "the manifest is damaged ({e}); remove this folder and ingest the trace again"
            ),
        })
    }

    /// Whether the trace is that of an input with these bytes. Names that state different ranks make
    /// different traces of the same bytes: files of ranks that recorded nothing are often equal.
    pub fn is_of(&self, content_hash: &str, name: &str) -> bool {
        self.content_hash == content_hash && rank_after_word(&self.path) == rank_after_word(name)
    }

    /// Writes the manifest to a folder. Fails if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| IngestError::Store { path: path.clone(), reason: e.to_string() })?;
        text.push(b'\n');
        write_whole(&path, &text)
    }

    /// Returns the total size of all tables in bytes.
    pub fn bytes(&self) -> u64 {
        self.tables.values().map(|t| t.bytes).sum()
    }

    /// Returns the number of rows of a table; 0 if there is no such table.
    pub fn rows(&self, table: &str) -> u64 {
        self.tables.get(table).map_or(0, |t| t.rows)
    }
}

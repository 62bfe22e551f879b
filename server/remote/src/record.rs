//! A manifest object: one line of JSON, and the Parquet files of the small tables after it.

use std::ops::Range;

use bytes::Bytes;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use tracesql_ingest::Manifest;

use crate::layout;

/// Tables with smaller files travel in the manifest object.
pub const INLINE_BELOW: u64 = 256 << 10;
/// The beginning of a manifest object that is read when a store is opened. It contains the JSON
/// line, and all small tables of most traces.
pub const HEAD: u64 = 64 << 10;
/// No JSON line is longer.
pub const MAX_LINE: u64 = 16 << 20;

/// The JSON line of a manifest object.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The manifest, as in a store on this machine.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The folder of the files that are objects of their own.
    pub generation: String,
    /// The tables whose files follow the line, in this order.
    pub inline: Vec<String>,
}

/// A manifest object of a store, as it was read.
#[derive(Debug)]
pub struct Entry {
    /// Its JSON line.
    pub record: Record,
    /// Its key.
    pub key: Path,
    /// Its ETag, if the server has them.
    pub etag: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// The length of the line with its end.
    pub line: u64,
    /// The beginning of the object.
    pub head: Bytes,
}

/// Where the file of a table is.
#[derive(Debug, Clone)]
pub struct FilePlace {
    /// The object.
    pub key: Path,
    /// The bytes of the object that are the file.
    pub range: Range<u64>,
    /// The size of the object.
    pub object: u64,
    /// The ETag of the object, if it matters.
    pub etag: Option<String>,
}

impl Entry {
    /// Reads the beginning of a manifest object. Fails with the reason if it is damaged.
    pub fn read(key: Path, etag: Option<String>, size: u64, head: Bytes) -> Result<Self, String> {
        let end = head.iter().position(|&b| b == b'\n').ok_or("its first line has no end")?;
        let record: Record = serde_json::from_slice(&head[..end]).map_err(|e| e.to_string())?;
        let entry = Self { record, key, etag, size, line: end as u64 + 1, head };
        entry.check()?;
        Ok(entry)
    }

    fn check(&self) -> Result<(), String> {
        let Record { manifest, generation, inline, .. } = &self.record;
        if !layout::is_trace_id(&manifest.trace_id) {
            return Err(format!("{:?} cannot be the id of a trace", manifest.trace_id));
        }
        if !layout::is_generation(generation) {
            return Err(format!("{generation:?} cannot be a generation"));
        }
        if self.key.filename() != Some(manifest.content_hash.as_str()) {
            return Err(format!("it describes the input {}", manifest.content_hash));
        }
        let mut bytes = self.line;
        for (at, table) in inline.iter().enumerate() {
            let facts = manifest.tables.get(table).filter(|_| !inline[..at].contains(table));
            let facts = facts.ok_or_else(|| format!("the table {table:?} is not described"))?;
            bytes = bytes.checked_add(facts.bytes).ok_or("its sizes are too large")?;
        }
        if bytes != self.size {
            return Err(format!("it has {} bytes, but {bytes} were written", self.size));
        }
        Ok(())
    }

    /// Where the file of a table is; `None` if the trace has no such table.
    pub fn file(&self, prefix: &Path, table: &str) -> Option<FilePlace> {
        let Record { manifest, generation, inline, .. } = &self.record;
        let bytes = manifest.tables.get(table)?.bytes;
        let Some(at) = inline.iter().position(|name| name == table) else {
            let key = layout::table(prefix, &manifest.trace_id, generation, table);
            return Some(FilePlace { key, range: 0..bytes, object: bytes, etag: None });
        };
        let before = inline[..at].iter().filter_map(|name| manifest.tables.get(name));
        let start = self.line + before.map(|facts| facts.bytes).sum::<u64>();
        Some(FilePlace {
            key: self.key.clone(),
            range: start..start + bytes,
            object: self.size,
            etag: self.etag.clone(),
        })
    }

    /// The part of the object that was read with it, if it contains this range.
    pub fn in_head(&self, range: &Range<u64>) -> Option<Bytes> {
        (range.end <= self.head.len() as u64)
            .then(|| self.head.slice(range.start as usize..range.end as usize))
    }

    /// The tables that are objects of their own.
    pub fn own_objects(&self) -> impl Iterator<Item = &str> {
        let Record { manifest, inline, .. } = &self.record;
        manifest.tables.keys().map(String::as_str).filter(|name| !inline.iter().any(|i| i == name))
    }
}

/// The tables that travel in the manifest object, smallest first, so that the beginning of the
/// object contains as many as possible. Their files are smaller than `below`.
pub fn inline_tables(manifest: &Manifest, below: u64) -> Vec<String> {
    let mut small: Vec<(u64, &String)> = manifest
        .tables
        .iter()
        .filter(|(_, facts)| facts.bytes < below)
        .map(|(name, facts)| (facts.bytes, name))
        .collect();
    small.sort();
    small.into_iter().map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use serde_json::json;

    pub fn record() -> Record {
        let facts = |bytes: u64| json!({"rows": 1, "bytes": bytes, "blake3": ""});
        serde_json::from_value(json!({
            "schema_version": 1, "tracesql_version": "0", "trace_id": "rank0-0a0a",
            "content_hash": "0a".repeat(32), "path": "rank0.json", "input_bytes": 1,
            "text_bytes": 1, "element_count": 1,
            "tables": {"devices": facts(3), "events": facts(1_000_000), "steps": facts(2)},
            "generation": "ab".repeat(16), "inline": ["steps", "devices"],
        }))
        .expect("a record")
    }

    fn object() -> (Path, Vec<u8>) {
        let mut bytes = serde_json::to_vec(&record()).expect("JSON");
        bytes.extend_from_slice(b"\nssddd");
        (layout::manifest(&Path::from("p"), &"0a".repeat(32)), bytes)
    }

    fn read(key: &Path, bytes: &[u8]) -> Result<Entry, String> {
        Entry::read(key.clone(), None, bytes.len() as u64, Bytes::copy_from_slice(bytes))
    }

    #[test]
    fn small_tables_are_ranges_of_the_manifest_object() {
        let (key, bytes) = object();
        let entry = read(&key, &bytes).expect("sound");
        let prefix = Path::from("p");
        let devices = entry.file(&prefix, "devices").expect("a table");
        assert_eq!((&devices.key, entry.in_head(&devices.range)), (&key, Some("ddd".into())));
        let events = entry.file(&prefix, "events").expect("a table");
        let generation = "ab".repeat(16);
        assert_eq!(events.key.as_ref(), format!("p/rank0-0a0a/{generation}/events.parquet"));
        assert_eq!(events.range, 0..1_000_000);
        assert!(entry.file(&prefix, "kernels").is_none());
        assert_eq!(entry.own_objects().collect::<Vec<_>>(), ["events"]);
        let tables = |below| inline_tables(&record().manifest, below);
        assert_eq!(tables(INLINE_BELOW), ["steps", "devices"]);
        assert!(tables(0).is_empty());
    }

    #[test]
    fn cut_and_hostile_manifests_are_refused() {
        let (key, bytes) = object();
        let cut = read(&key, &bytes[..bytes.len() - 1]).expect_err("cut");
        assert!(cut.contains("bytes, but"), "{cut}");
        assert!(read(&key, &bytes[..20]).is_err());
        assert!(read(&Path::from("p/manifests/other"), &bytes).is_err());
        let text = String::from_utf8(bytes).expect("text");
        for (from, to) in [
            ("rank0-0a0a", "../escape"),
            (&"ab".repeat(16), "x/y"),
            ("[\"steps\",\"devices\"]", "[\"steps\",\"steps\"]"),
            ("[\"steps\",\"devices\"]", "[\"nothing\"]"),
            ("\"bytes\":3", "\"bytes\":18446744073709551615"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(read(&key, text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }
}

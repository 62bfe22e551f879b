//! A manifest object: one line of JSON, and the Parquet files of the small tables after it.

use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectMeta, UpdateVersion};
use serde::{Deserialize, Serialize};
use tracesql_ingest::{Manifest, schema};

use crate::layout;

/// The beginning of a manifest object that is read when a store is opened. It contains the JSON
/// line and the small tables, so that sessions need no other read of the object, which may be
/// replaced meanwhile.
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
    /// Its version.
    pub version: Version,
    /// Its size in bytes.
    pub size: u64,
    /// The length of the line with its end.
    pub line: u64,
    /// The beginning of the object.
    pub head: Bytes,
}

/// A version of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its ETag as it was returned with the object, if the server has them.
    pub etag: Option<String>,
    /// Its number, on servers that count versions.
    pub number: Option<String>,
    /// The time at which it was written.
    pub written: SystemTime,
}

impl Version {
    /// The version that a server returned with an object.
    pub fn of(meta: &ObjectMeta) -> Self {
        Self {
            etag: meta.e_tag.clone(),
            number: meta.version.clone(),
            written: meta.last_modified.into(),
        }
    }

    /// The condition that the object still has this version.
    pub fn condition(&self) -> UpdateVersion {
        UpdateVersion { e_tag: self.etag.clone(), version: self.number.clone() }
    }
}

/// An ETag without quotation marks. Some servers leave them out in lists, and some mark an ETag as
/// weak there.
pub fn bare(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')
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
    pub fn read(key: Path, version: Version, size: u64, head: Bytes) -> Result<Self, String> {
        let end = head.iter().position(|&b| b == b'\n').ok_or("its first line has no end")?;
        let record: Record = serde_json::from_slice(&head[..end]).map_err(|e| e.to_string())?;
        let entry = Self { record, key, version, size, line: end as u64 + 1, head };
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
        // The names become names of files.
        if let Some(table) = manifest.tables.keys().find(|name| schema::table(name).is_none()) {
            return Err(format!("{table:?} cannot be a table"));
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
            etag: self.version.etag.clone(),
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

/// The tables whose files fit into the first `room` bytes of the manifest object, smallest first.
pub fn inline_tables(manifest: &Manifest, generation: &str, room: u64) -> Vec<String> {
    let mut small: Vec<(u64, &String)> =
        manifest.tables.iter().map(|(name, facts)| (facts.bytes, name)).collect();
    small.sort();
    // The line is longest if it names all tables.
    let record = Record {
        manifest: manifest.clone(),
        generation: generation.to_owned(),
        inline: manifest.tables.keys().cloned().collect(),
    };
    let line = serde_json::to_vec(&record).map_or(u64::MAX, |line| line.len() as u64 + 1);
    let mut end = line;
    let fits = small.into_iter().take_while(|(bytes, _)| {
        end = end.saturating_add(*bytes);
        end <= room
    });
    fits.map(|(_, name)| name.clone()).collect()
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

    fn version() -> Version {
        Version { etag: None, number: None, written: SystemTime::UNIX_EPOCH }
    }

    fn object() -> (Path, Vec<u8>) {
        let mut bytes = serde_json::to_vec(&record()).expect("JSON");
        bytes.extend_from_slice(b"\nssddd");
        (layout::manifest(&Path::from("p"), &"0a".repeat(32)), bytes)
    }

    fn read(key: &Path, bytes: &[u8]) -> Result<Entry, String> {
        Entry::read(key.clone(), version(), bytes.len() as u64, Bytes::copy_from_slice(bytes))
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
    }

    #[test]
    fn tables_in_the_manifest_object_fit_into_its_beginning() {
        let record = record();
        let tables = |room| inline_tables(&record.manifest, &record.generation, room);
        assert_eq!(tables(HEAD), ["steps", "devices"]);
        let line = serde_json::to_vec(&Record {
            inline: record.manifest.tables.keys().cloned().collect(),
            ..record.clone()
        });
        let line = line.expect("JSON").len() as u64 + 1;
        assert_eq!(tables(line + 5), ["steps", "devices"]);
        assert_eq!(tables(line + 4), ["steps"]);
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
        // The table is described, in line, and its name is the path of another folder.
        let escape = text.replace("\"steps\"", "\"../../../tmp/evil\"");
        let error = read(&key, escape.as_bytes()).expect_err("hostile");
        assert!(error.contains("cannot be a table"), "{error}");
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

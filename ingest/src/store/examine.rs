//! Checks whether a store is undamaged: manifests, files, checksums, footers and every page.
//!
//! Nothing is changed, and nothing is assumed to be valid: a store that cannot be opened can still
//! be examined.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::manifest::{self, Manifest};
use super::{LOCK, MARKER, scratch};
use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::ingest::file_facts;
use crate::schema::{SCHEMA_VERSION, TABLES, Table};

/// Number of rows that are decoded at a time.
const ROWS_AT_ONCE: usize = 1024;
/// Number of rows that are decoded at a time where texts are long: args may be 64 MiB each.
const LONG_ROWS_AT_ONCE: usize = 16;
/// Size in bytes from which on a row group is treated as one with long texts.
const LONG_GROUP: i64 = 1 << 30;

/// How serious a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Nothing is lost, and no action is needed.
    Note,
    /// Stored data cannot be used or trusted.
    Damage,
}

/// A fault of a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The path of the file or folder within the store.
    pub place: String,
    /// The severity of the problem.
    pub gravity: Gravity,
    /// The kind of the problem. The code is stable across versions.
    pub code: &'static str,
    /// A description of the problem, with figures.
    pub what: String,
    /// The action to take.
    pub advice: String,
}

impl Problem {
    /// Describes a problem of a store.
    pub fn new(
        place: impl Into<String>,
        gravity: Gravity,
        code: &'static str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), gravity, code, what: what.into(), advice: advice.into() }
    }
}

/// The result of an examination.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Examined {
    /// Number of traces with a readable manifest.
    pub traces: usize,
    /// Number of files that were read completely.
    pub files: usize,
    /// Total size of these files in bytes.
    pub bytes: u64,
    /// Number of rows that were decoded.
    pub rows: u64,
    /// The problems that were found.
    pub problems: Vec<Problem>,
}

impl Examined {
    /// Whether no data is damaged.
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|p| p.gravity < Gravity::Damage)
    }

    fn add(
        &mut self,
        place: &str,
        gravity: Gravity,
        code: &'static str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.problems.push(Problem::new(place, gravity, code, what, advice));
    }

    fn damage(
        &mut self,
        place: &str,
        code: &'static str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(place, Gravity::Damage, code, what, advice);
    }
}

/// Reads and checks the entire store. Fails if `root` is not a store or cannot be read.
pub fn examine(root: &Path) -> Result<Examined> {
    let mut found = Examined::default();
    let mut entries: Vec<PathBuf> = fs::read_dir(root)
        .and_then(|all| all.map(|e| Ok(e?.path())).collect::<std::io::Result<_>>())
        .map_err(|e| IngestError::io(root, e))?;
    entries.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_ours =
        |path: &Path| path.join(manifest::FILE).is_file() || scratch::is_scratch(&name(path));
    if !root.join(MARKER).is_file() && !entries.iter().any(|e| is_ours(e)) {
        return Err(IngestError::Store {
            path: root.to_owned(),
            reason: "not a tracesql store; there is nothing to examine".to_owned(),
        });
    }
    marker(root, &mut found);
    let mut hashes: HashMap<String, String> = HashMap::new();
    for path in &entries {
        let name = name(path);
        if name == MARKER || name == LOCK {
            continue;
        }
        if scratch::is_scratch(&name) {
            leftover(path, &name, &mut found);
        } else if path.is_dir() && path.join(manifest::FILE).is_file() {
            if let Some(hash) = trace(path, &name, &mut found)
                && let Some(other) = hashes.insert(hash, name.clone())
            {
                let advice = format!("remove one with `tracesql remove {} {name}`", root.display());
                found.damage(
                    &name,
                    "twice",
                    format!("the same input is stored as {other} too, so its rows count twice"),
                    advice,
                );
            }
        } else if path.is_dir() && TABLES.iter().any(|t| path.join(file_name(t)).exists()) {
            found.damage(
                &name,
                "no_manifest",
                "a trace without manifest.json; readers do not see it",
                "remove the folder and ingest the trace again",
            );
        } else {
            found.add(
                &name,
                Gravity::Note,
                "unknown",
                "no file or folder of a store; readers do not look at it",
                "remove it if it is not needed",
            );
        }
    }
    Ok(found)
}

fn file_name(table: &Table) -> String {
    format!("{}.parquet", table.name)
}

fn marker(root: &Path, found: &mut Examined) {
    let advice = "make a new store and ingest the traces again; if they are lost, \
                  a store of the same version can take the folders of traces";
    match fs::read(root.join(MARKER)) {
        Err(e) => found.damage(MARKER, "marker", format!("cannot be read: {e}"), advice),
        Ok(bytes) => match serde_json::from_slice::<serde_json::Value>(&bytes)
            .ok()
            .and_then(|v| v.get("schema_version")?.as_u64())
        {
            Some(version) if version == u64::from(SCHEMA_VERSION) => {}
            Some(version) => found.damage(
                MARKER,
                "version",
                format!("schema version {version}; this tracesql reads {SCHEMA_VERSION}"),
                "ingest the traces again, or use the tracesql that wrote the store",
            ),
            None => found.damage(MARKER, "marker", "is damaged", advice),
        },
    }
}

fn leftover(path: &Path, name: &str, found: &mut Examined) {
    if scratch::lives(path) {
        found.add(name, Gravity::Note, "in_progress", "a process is reading a trace", "nothing");
    } else {
        found.add(
            name,
            Gravity::Note,
            "leftover",
            "left by a process that died; nothing that was stored is in it",
            "nothing: the next ingest removes it",
        );
    }
}

/// Examines a trace; returns the hash of its input.
fn trace(folder: &Path, name: &str, found: &mut Examined) -> Option<String> {
    let place = |file: &str| format!("{name}/{file}");
    let again = || "ingest the trace again with --replace";
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(e) => {
            let cause = if let IngestError::Io { source, .. } = &e {
                source.to_string()
            } else {
                "it is not what a manifest is".to_owned()
            };
            found.damage(
                &place(manifest::FILE),
                "manifest",
                format!("cannot be read: {cause}"),
                "remove the folder and ingest the trace again",
            );
            return None;
        }
    };
    found.traces += 1;
    if manifest.schema_version != SCHEMA_VERSION {
        let what = format!(
            "schema version {}; this tracesql reads {SCHEMA_VERSION}",
            manifest.schema_version
        );
        found.damage(&place(manifest::FILE), "version", what, again());
        return None;
    }
    if manifest.trace_id != name {
        let what = format!("says that the trace is {}, the folder is {name}", manifest.trace_id);
        found.damage(
            &place(manifest::FILE),
            "name",
            what,
            format!("rename the folder to {}", manifest.trace_id),
        );
    }
    for table in TABLES {
        let file = file_name(table);
        let place = place(&file);
        let Some(facts) = manifest.tables.get(table.name) else {
            found.damage(&place, "not_in_manifest", "the manifest does not name it", again());
            continue;
        };
        let path = folder.join(&file);
        let (bytes, blake3) = match file_facts(&path) {
            Ok(facts) => facts,
            Err(e) => {
                let cause = if let IngestError::Io { source, .. } = &e {
                    source.to_string()
                } else {
                    e.to_string()
                };
                found.damage(&place, "missing", format!("cannot be read: {cause}"), again());
                continue;
            }
        };
        found.files += 1;
        found.bytes += bytes;
        if bytes != facts.bytes {
            found.damage(
                &place,
                "size",
                format!("it has {}, but {} were written", counted(bytes, "byte"), facts.bytes),
                again(),
            );
        } else if blake3 != facts.blake3 {
            found.damage(&place, "checksum", "its bytes are not those that were written", again());
        } else {
            // Only files with the right checksum are decoded, so a fault found here was already
            // present when the file was written.
            match decode(&path, table) {
                Ok(rows) => {
                    found.rows += rows;
                    if rows != facts.rows {
                        found.damage(
                            &place,
                            "rows",
                            format!(
                                "it has {}, but {} by the manifest",
                                counted(rows, "row"),
                                facts.rows
                            ),
                            again(),
                        );
                    }
                }
                Err(e) => found.damage(&place, "decode", e.to_string(), again()),
            }
        }
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file != manifest::FILE && !TABLES.iter().any(|t| file_name(t) == file) {
            found.add(
                &place(&file),
                Gravity::Note,
                "unknown",
                "no file of a trace; readers do not look at it",
                "remove it if it is not needed",
            );
        }
    }
    Some(manifest.content_hash)
}

/// Decodes every page of a file; returns the number of rows.
fn decode(path: &Path, table: &Table) -> Result<u64> {
    let wrong = |reason: String| IngestError::Store { path: path.to_owned(), reason };
    let open = || File::open(path).map_err(|e| IngestError::io(path, e));
    let reader = ParquetRecordBatchReaderBuilder::try_new(open()?)?;
    let said = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let version =
        said.filter(|kv| kv.key == "tracesql.schema_version").find_map(|kv| kv.value.clone());
    if version.as_deref() != Some(SCHEMA_VERSION.to_string().as_str()) {
        return Err(wrong(format!("its footer says schema version {version:?}")));
    }
    let names: Vec<&str> = reader.schema().fields().iter().map(|f| f.name().as_str()).collect();
    if !names.iter().eq(table.columns.iter().map(|c| &c.name)) {
        return Err(wrong(format!("its columns are {}", names.join(", "))));
    }
    // Read strings as views, because the strings of a batch may exceed 32-bit offsets.
    let fields = reader.schema().fields().iter().map(|f| match f.data_type() {
        DataType::Utf8 => f.as_ref().clone().with_data_type(DataType::Utf8View),
        _ => f.as_ref().clone(),
    });
    let options =
        ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(open()?, options)?;
    let has_long_rows =
        reader.metadata().row_groups().iter().any(|group| group.total_byte_size() > LONG_GROUP);
    let mut rows = 0;
    for batch in reader
        .with_batch_size(if has_long_rows { LONG_ROWS_AT_ONCE } else { ROWS_AT_ONCE })
        .build()?
    {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{AnyColumns, Effort, RowGroups};
    use crate::schema::DEVICES;
    use crate::store::TableFile;

    #[test]
    fn rows_may_hold_more_text_than_32_bits_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "n".repeat(2_100_000);
        let effort = Effort::of(u64::MAX, 0);
        let mut rows = RowGroups::new(AnyColumns::new(&DEVICES, effort), effort);
        for _ in 0..1024 {
            rows.push(|columns, at, codec| {
                let mut row = columns.row(at, codec);
                row.put(&"t")?;
                (2..DEVICES.columns.len()).for_each(|_| row.skip());
                row.put(&text.as_str())
            })
            .expect("a row");
        }
        let mut file = TableFile::create(folder.path(), &DEVICES).expect("a file");
        rows.finish()
            .expect("encoded")
            .into_iter()
            .try_for_each(|group| file.write(group))
            .expect("written");
        file.finish().expect("finished");
        assert_eq!(decode(&folder.path().join("devices.parquet"), &DEVICES).expect("sound"), 1024);
    }
}

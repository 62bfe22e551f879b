//! The contents of the cache: the traces of every version that are in it, and their removal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tracesql_ingest::schema::SCHEMA_VERSION;
use tracesql_ingest::{IngestError, Store};

use super::cache_folder;
use crate::error::Result;

/// The names of stores in the cache begin with this; the schema version follows.
pub(super) const STORE: &str = "traces-v";

/// A trace in the cache.
#[derive(Debug, Clone)]
pub struct CachedTrace {
    /// The store that it belongs to.
    store: PathBuf,
    /// The schema version of its tables.
    pub version: u32,
    /// Its id.
    pub trace_id: String,
    /// The path of its input; `None` if its manifest cannot be read.
    pub path: Option<String>,
    /// The size of its files in bytes.
    pub bytes: u64,
    /// The time at which it was read into the cache.
    pub read: SystemTime,
}

impl CachedTrace {
    /// Whether this version of the program can use the trace.
    pub fn is_current(&self) -> bool {
        self.version == SCHEMA_VERSION
    }
}

/// All traces in the cache, the newest first. Without a cache there are none.
pub fn cached_traces() -> Vec<CachedTrace> {
    let mut all = Vec::new();
    for store in cache_folder().iter().flat_map(|folder| folders(folder)) {
        let name = store.file_name().unwrap_or_default().to_string_lossy();
        let Some(version) = name.strip_prefix(STORE).and_then(|v| v.parse().ok()) else { continue };
        if Store::is_store(&store) {
            all.extend(folders(&store).iter().filter_map(|folder| cached(&store, version, folder)));
        }
    }
    all.sort_by(|a, b| b.read.cmp(&a.read).then_with(|| a.trace_id.cmp(&b.trace_id)));
    all
}

/// Removes traces from the cache: all, or those that were read longer ago than `older_than`.
/// Returns the removed ones.
pub fn clear_cache(older_than: Option<Duration>) -> Result<Vec<CachedTrace>> {
    let now = SystemTime::now();
    let is_old = |trace: &CachedTrace| {
        let age = now.duration_since(trace.read).unwrap_or_default();
        older_than.is_none_or(|limit| age >= limit)
    };
    let mut removed = Vec::new();
    for trace in cached_traces().into_iter().filter(is_old) {
        if trace.is_current() {
            Store::open(&trace.store)?.remove(&trace.trace_id)?;
        } else {
            let folder = trace.store.join(&trace.trace_id);
            fs::remove_dir_all(&folder).map_err(|e| IngestError::io(&folder, e))?;
        }
        removed.push(trace);
    }
    // A store of another version is of no use without traces.
    for store in removed.iter().filter(|t| !t.is_current()).map(|t| &t.store) {
        let is_empty = folders(store).iter().all(|f| !f.join("manifest.json").is_file());
        if is_empty && Store::is_store(store) {
            fs::remove_dir_all(store).map_err(|e| IngestError::io(store, e))?;
        }
    }
    Ok(removed)
}

fn cached(store: &Path, version: u32, folder: &Path) -> Option<CachedTrace> {
    let trace_id = folder.file_name()?.to_str()?.to_owned();
    let manifest = folder.join("manifest.json");
    let read = manifest.metadata().and_then(|m| m.modified()).ok()?;
    // Manifests of other versions have other keys.
    let facts: Option<serde_json::Value> =
        fs::read(&manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let path = facts.and_then(|facts| Some(facts.get("path")?.as_str()?.to_owned()));
    let sizes = fs::read_dir(folder).ok()?.flatten().filter_map(|e| Some(e.metadata().ok()?.len()));
    let store = store.to_owned();
    Some(CachedTrace { store, version, trace_id, path, bytes: sizes.sum(), read })
}

/// The visible folders in a folder; none if it cannot be read.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let visible = entries.filter(|e| !e.file_name().to_string_lossy().starts_with('.'));
    visible.map(|e| e.path()).filter(|path| path.is_dir() && !path.is_symlink()).collect()
}

//! A store: one folder per trace with a Parquet file per table and a manifest.
//!
//! A trace is written to a hidden folder of the store and is published by one rename. So readers
//! never see an incomplete trace, and a crash leaves the store unchanged.

mod examine;
mod manifest;
mod parquet_file;
mod scratch;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use examine::{Examined, Gravity, Problem, examine};
pub use manifest::{Manifest, TableFacts};
pub use parquet_file::{TableFile, VERSION};
pub(crate) use scratch::Scratch;

use crate::error::{IngestError, Result};

const MARKER: &str = "tracesql-store.json";
const LOCK: &str = ".lock";

/// The number of digits of the content hash at the end of a trace's name.
const HASH_DIGITS: usize = 12;

/// A store on disk.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// The sizes of the inputs of known traces by name. The name of a trace has the hash of its
    /// input, so its size never changes.
    input_bytes: Arc<Mutex<HashMap<String, u64>>>,
    /// What the inputs of traces are called now, by the names of the traces.
    paths: Arc<Mutex<HashMap<String, String>>>,
}

impl Store {
    /// Opens a store. Fails if there is no store, or if its tables have another version.
    pub fn open(root: &Path) -> Result<Self> {
        let refuse = |reason: &str| {
            Err(IngestError::Store { path: root.to_owned(), reason: reason.to_owned() })
        };
        if !root.exists() {
            return refuse("no such store; make one with `tracesql ingest INPUT -o STORE`");
        }
        if !Self::is_store(root) {
            return refuse("not a tracesql store; make one with `tracesql ingest INPUT -o STORE`");
        }
        let marker = fs::read(root.join(MARKER)).map_err(|e| IngestError::io(root, e))?;
        let marker = serde_json::from_slice::<serde_json::Value>(&marker).unwrap_or_default();
        if marker.get("layout").is_some() {
            let path = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            return refuse(&format!(
                "this store has the layout of object storage; name it by its URL, which \
                 tracesql-full opens: file://{}",
                path.display()
            ));
        }
        let version = marker.get("schema_version").and_then(serde_json::Value::as_u64);
        match version {
            Some(v) if v == crate::schema::SCHEMA_VERSION as u64 => Ok(Self::at(root)),
            Some(found) => Err(IngestError::StoreVersion {
                path: root.to_owned(),
                found,
                expected: crate::schema::SCHEMA_VERSION,
            }),
            None => refuse(&format!("{MARKER} is damaged; ingest its traces again")),
        }
    }

    fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), input_bytes: Arc::default(), paths: Arc::default() }
    }

    /// Opens a store, or creates an empty one if the folder is missing or empty. Fails if the
    /// folder contains something else or cannot be written.
    pub fn open_or_create(root: &Path) -> Result<Self> {
        if Self::is_store(root) {
            return Self::open(root);
        }
        if root.is_file() {
            return Err(IngestError::Store {
                path: root.to_owned(),
                reason: "a file is in the way; name a folder for the store".to_owned(),
            });
        }
        let io = |e| IngestError::io(root, e);
        fs::create_dir_all(root).map_err(io)?;
        let foreign = fs::read_dir(root)
            .map_err(io)?
            .flatten()
            .any(|e| !e.file_name().to_string_lossy().starts_with('.'));
        if foreign && !Self::is_store(root) {
            let reason = "the folder is not empty and not a store; name a new folder".to_owned();
            return Err(IngestError::Store { path: root.to_owned(), reason });
        }
        let store = Self::at(root);
        let _lock = store.lock()?;
        let marker = format!(
            "{{\"schema_version\":{},\"created_by\":\"tracesql {VERSION}\"}}\n",
            crate::schema::SCHEMA_VERSION
        );
        write_whole(&root.join(MARKER), marker.as_bytes())?;
        Ok(store)
    }

    /// Whether a folder is a store.
    pub fn is_store(root: &Path) -> bool {
        root.join(MARKER).is_file()
    }

    /// Returns the folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The names of the folders that may be traces.
    fn names(&self) -> Result<impl Iterator<Item = String>> {
        let entries = fs::read_dir(&self.root).map_err(|e| IngestError::io(&self.root, e))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| !name.starts_with('.')))
    }

    /// Returns all traces, in the order of their names. Fails if a manifest cannot be read.
    pub fn traces(&self) -> Result<Vec<Manifest>> {
        let mut all = Vec::new();
        for name in self.names()? {
            let folder = self.root.join(name);
            if folder.join(manifest::FILE).is_file() {
                all.push(Manifest::read(&folder)?);
            }
        }
        all.sort_by(|a, b| a.trace_id.cmp(&b.trace_id));
        let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        for manifest in &mut all {
            if let Some(path) = paths.get(&manifest.trace_id).filter(|path| **path != manifest.path)
            {
                manifest.path.clone_from(path);
                manifest.is_renamed = true;
            }
        }
        Ok(all)
    }

    /// Sets what the input of a trace is called now, for this value and its clones. The files of the
    /// store stay as they are.
    pub fn rename(&self, trace_id: &str, path: String) {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.insert(trace_id.to_owned(), path);
    }

    /// The name of the trace that is created from the input with a hash. `slug` is the readable
    /// part of the name.
    pub(crate) fn trace_id(slug: &str, content_hash: &str) -> String {
        format!("{slug}-{}", digits(content_hash))
    }

    /// Returns the trace that was created from an input with this hash and the rank that its name
    /// states ([`Manifest::is_of`]), if the store contains it in this schema version. Only manifests
    /// of traces with such an id are read. Fails if one of them cannot be read.
    pub fn find(&self, content_hash: &str, name: &str) -> Result<Option<Manifest>> {
        let ending = format!("-{}", digits(content_hash));
        for id in self.names()?.filter(|id| id.ends_with(&ending)) {
            let folder = self.root.join(id);
            if !folder.join(manifest::FILE).is_file() {
                continue;
            }
            let manifest = Manifest::read(&folder)?;
            if manifest.is_of(content_hash, name)
                && manifest.schema_version == crate::schema::SCHEMA_VERSION
            {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    /// Whether the store contains a trace whose input has this size. Each manifest is read once.
    /// Fails if a manifest cannot be read.
    pub(crate) fn has_input_of(&self, bytes: u64) -> Result<bool> {
        let mut known = self.input_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = false;
        for name in self.names()? {
            if let Some(&size) = known.get(&name) {
                found |= size == bytes;
                continue;
            }
            let folder = self.root.join(&name);
            if folder.join(manifest::FILE).is_file() {
                let size = Manifest::read(&folder)?.input_bytes;
                found |= size == bytes;
                known.insert(name, size);
            }
        }
        Ok(found)
    }

    /// Returns the folder of a trace.
    pub fn trace_folder(&self, trace_id: &str) -> PathBuf {
        self.root.join(trace_id)
    }

    /// Creates a hidden folder for unfinished files. It is removed when the value is dropped.
    pub(crate) fn scratch(&self) -> Result<Scratch> {
        let _lock = self.lock()?;
        Scratch::new(&self.root)
    }

    fn lock(&self) -> Result<File> {
        let path = self.root.join(LOCK);
        let file = File::create(&path).map_err(|e| IngestError::io(&path, e))?;
        file.lock().map_err(|e| IngestError::io(&path, e))?;
        Ok(file)
    }

    /// Publishes a finished folder as a trace, and replaces any trace with the same name. If
    /// another process has stored the same bytes first, its trace is kept unless `replace` is set.
    /// Returns the manifest of the trace that is kept.
    pub(crate) fn commit(
        &self,
        folder: &Path,
        manifest: &Manifest,
        replace: bool,
    ) -> Result<Manifest> {
        manifest.write(folder)?;
        let _lock = self.lock()?;
        if !replace && let Some(existing) = self.find(&manifest.content_hash, &manifest.path)? {
            return Ok(existing);
        }
        let target = self.trace_folder(&manifest.trace_id);
        let io = |e| IngestError::io(&target, e);
        sync_folder(folder)?;
        if target.exists() {
            // Exchange the folders, so that both names are valid at every moment.
            rustix::fs::renameat_with(
                rustix::fs::CWD,
                folder,
                rustix::fs::CWD,
                &target,
                rustix::fs::RenameFlags::EXCHANGE,
            )
            .map_err(|e| io(e.into()))?;
        } else {
            fs::rename(folder, &target).map_err(io)?;
        }
        sync_folder(&self.root)?;
        Ok(manifest.clone())
    }

    /// Stores a trace that exists already, for example in another store. `fill` writes its tables
    /// to a folder. Returns the manifest of the trace that is kept, and whether the store contained
    /// it before.
    pub fn add<E: From<IngestError>>(
        &self,
        manifest: &Manifest,
        replace: bool,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(Manifest, bool), E> {
        if !replace && let Some(existing) = self.find(&manifest.content_hash, &manifest.path)? {
            return Ok((existing, true));
        }
        let scratch = self.scratch()?;
        let folder = scratch.folder("trace")?;
        fill(&folder)?;
        for table in manifest.tables.keys() {
            sync_file(&folder.join(format!("{table}.parquet")))?;
        }
        Ok((self.commit(&folder, manifest, replace)?, false))
    }

    /// Removes a trace. Fails if the store does not contain it or cannot be written.
    pub fn remove(&self, trace_id: &str) -> Result<()> {
        let target = self.trace_folder(trace_id);
        if trace_id.is_empty()
            || trace_id.contains(['/', '\\'])
            || trace_id.starts_with('.')
            || !target.join(manifest::FILE).is_file()
        {
            let names: Vec<_> = self.traces()?.into_iter().map(|m| m.trace_id).collect();
            let reason = format!("holds no trace {trace_id:?}; it holds: {}", names.join(", "));
            return Err(IngestError::Store { path: self.root.clone(), reason });
        }
        let scratch = self.scratch()?;
        let _lock = self.lock()?;
        fs::rename(&target, scratch.path().join("removed"))
            .map_err(|e| IngestError::io(&target, e))?;
        sync_folder(&self.root)
    }
}

fn sync_file(file: &Path) -> Result<()> {
    File::open(file).and_then(|f| f.sync_all()).map_err(|e| IngestError::io(file, e))
}

fn digits(content_hash: &str) -> &str {
    content_hash.get(..HASH_DIGITS).unwrap_or(content_hash)
}

fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| IngestError::io(folder, e))
}

/// Writes a file atomically, so that it is either complete or missing.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let io = |e| IngestError::io(path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are private by default, whereas other files of a store follow the user's
    // umask.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let mut file = tempfile::Builder::new()
        .prefix(".tmp-file-")
        .permissions(mode)
        .tempfile_in(folder)
        .map_err(io)?;
    std::io::Write::write_all(&mut file, bytes).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}

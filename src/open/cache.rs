//! A store for traces that the user opens without naming a store. Its entries are keyed by content.
//!
//! A file is not hashed again if its path, size, inode and modification time are the same as when
//! it was read.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Store};

use crate::error::{Error, Result};

/// The cache of this user: `$TRACESQL_CACHE`, or `tracesql` in the user's cache folder.
pub struct Cache {
    store: Store,
    seen: PathBuf,
}

/// The properties of a file at the time when it was read.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    path: PathBuf,
    size: u64,
    inode: u64,
    changed_ns: i128,
    trace_id: String,
}

impl Cache {
    /// Opens the cache, or creates it.
    pub fn open() -> Result<Self> {
        let root = folder().ok_or_else(|| {
            Error::Usage(
                "there is no folder for caches; set TRACESQL_CACHE or use `tracesql ingest`".into(),
            )
        })?;
        // There is a folder for each schema version, so an older program can still read the traces
        // that it stored.
        let version = tracesql_ingest::schema::SCHEMA_VERSION;
        let root = root.join(format!("{}{version}", super::cached::STORE));
        let store = Store::open_or_create(&root).map_err(unusable)?;
        Ok(Self { store, seen: root.join(".seen") })
    }

    /// The store of the cache.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The options for reading into the cache.
    pub fn options(of_user: &IngestOptions) -> IngestOptions {
        IngestOptions { replace: of_user.strict, ..of_user.clone() }
    }

    /// The current state of an input, by which it is found again; `None` if it must be read.
    pub fn state(&self, input: &Input, options: &IngestOptions) -> Option<FileState> {
        match input {
            // A call with `strict` reads the file again, because issues are found only while
            // reading.
            Input::File(path) if !options.strict => FileState::of(path),
            _ => None,
        }
    }

    /// The name of the trace that was read from a file in this state.
    pub fn find(&self, state: Option<&FileState>) -> Option<String> {
        let state = state?;
        let seen = self.read(&state.key)?;
        let is_same = Seen { trace_id: seen.trace_id.clone(), ..state.as_seen() } == seen;
        let folder = self.store.trace_folder(&seen.trace_id);
        (is_same && folder.join("manifest.json").is_file()).then_some(seen.trace_id)
    }

    /// The name of an input's trace. Where it was read under another path, its path is that of now.
    pub fn named(&self, trace_id: String, input: &Input) -> String {
        self.store.rename(&trace_id, input.name());
        trace_id
    }

    /// The name of the trace that `read` reads from an input. `state` is that of the file before it
    /// was read.
    pub fn add(
        &self,
        input: &Input,
        state: Option<FileState>,
        read: impl FnOnce() -> Result<Outcome>,
    ) -> Result<String> {
        let outcome = match read() {
            Err(Error::Input(e @ IngestError::Io { .. })) if is_in(&e, self.store.root()) => {
                return Err(unusable(e));
            }
            other => other?,
        };
        let trace_id = outcome.manifest.trace_id;
        if let Some(state) = state {
            // If this fails, the only effect is that the next call hashes the file again.
            let _ = self.write(&state, &trace_id);
        }
        Ok(self.named(trace_id, input))
    }

    fn read(&self, key: &str) -> Option<Seen> {
        serde_json::from_slice(&std::fs::read(self.seen.join(key)).ok()?).ok()
    }

    fn write(&self, state: &FileState, trace_id: &str) -> std::io::Result<()> {
        let seen = Seen { trace_id: trace_id.to_owned(), ..state.as_seen() };
        let key = &state.key;
        std::fs::create_dir_all(&self.seen)?;
        let partial = self.seen.join(format!("{key}.{}", std::process::id()));
        std::fs::write(&partial, serde_json::to_vec(&seen)?)?;
        std::fs::rename(partial, self.seen.join(key))
    }
}

/// Whether an error is about a file in a folder.
fn is_in(error: &IngestError, folder: &Path) -> bool {
    matches!(error, IngestError::Io { path, .. } if path.starts_with(folder))
}

/// The error about a cache that cannot be written. Homes are often read-only in containers.
fn unusable(error: IngestError) -> Error {
    match error {
        IngestError::Io { path, source } => IngestError::Store {
            path,
            reason: format!(
                "the folder for opened traces cannot be used ({source}); set TRACESQL_CACHE to a \
                 folder that can be written, or make a store: `tracesql ingest TRACE -o STORE`"
            ),
        }
        .into(),
        other => other.into(),
    }
}

/// The user's folder for cached traces and the history of the shell.
pub fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("TRACESQL_CACHE").filter(|v| !v.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(dirs::cache_dir()?.join("tracesql")))
}

/// The state of a file.
pub struct FileState {
    /// The name under which it is stored.
    key: String,
    path: PathBuf,
    size: u64,
    inode: u64,
    changed_ns: i128,
}

impl FileState {
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let meta = path.metadata().ok().filter(|m| m.is_file())?;
        let changed_ns = meta.ctime() as i128 * 1_000_000_000 + meta.ctime_nsec() as i128;
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&path, &mut hasher);
        let key = format!("{:016x}.json", std::hash::Hasher::finish(&hasher));
        Some(Self { key, path, size: meta.len(), inode: meta.ino(), changed_ns })
    }

    fn as_seen(&self) -> Seen {
        Seen {
            path: self.path.clone(),
            size: self.size,
            inode: self.inode,
            changed_ns: self.changed_ns,
            trace_id: String::new(),
        }
    }
}

//! Hidden folders for work in the making.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{IngestError, Result};

const PREFIX: &str = ".tmp-";

/// A hidden folder of a store; removed when dropped, and by the next process if this one dies.
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one, and removes what dead processes left. The caller holds the lock of the store, so
    /// nobody else is about to make one: between a folder and its lock file another process would
    /// take it for a leftover.
    pub(super) fn new(root: &Path) -> Result<Self> {
        sweep(root);
        let io = |e| IngestError::io(root, e);
        let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root).map_err(io)?.keep();
        let lock = File::create(path.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        Ok(Self { path, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new folder in it.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).map_err(|e| IngestError::io(&path, e))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether a folder of a store is one of these, by its name; files in the making are called so too.
pub fn is_scratch(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Removes folders whose owner no longer holds their lock, or that have none: a process may die at
/// any moment, also before it made the lock file and after it removed it again.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|e| is_scratch(&e.file_name().to_string_lossy()))
    {
        let path = entry.path();
        if !path.is_dir() {
            let _ = fs::remove_file(path);
        } else if !lives(&path) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Whether a process holds the lock of one of these folders.
pub fn lives(folder: &Path) -> bool {
    File::open(folder.join("lock")).is_ok_and(|lock| lock.try_lock().is_err())
}

//! Hidden folders for unfinished files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{IngestError, Result};

const PREFIX: &str = ".tmp-";

/// A hidden folder of a store. It is removed when dropped. If this process dies, the next process
/// removes the folder.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Creates a folder, and removes the folders that dead processes left. The caller must hold the
    /// lock of the store. Otherwise another process could take this folder for a leftover before
    /// its lock file exists.
    pub(super) fn new(root: &Path) -> Result<Self> {
        sweep(root);
        let io = |e| IngestError::io(root, e);
        let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root).map_err(io)?.keep();
        let lock = File::create(path.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        Ok(Self { path, _lock: lock })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a folder inside it.
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

/// Whether an entry of a store is such a folder or an unfinished file, judged by its name.
pub fn is_scratch(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Removes folders whose lock is not held or does not exist. A process may die at any moment,
/// including before it has created the lock file or after it has removed it.
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

/// Whether a process holds the lock of a folder.
pub fn lives(folder: &Path) -> bool {
    File::open(folder.join("lock")).is_ok_and(|lock| lock.try_lock().is_err())
}

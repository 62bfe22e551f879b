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
    /// Makes one, and removes those that dead processes left.
    pub fn new(root: &Path) -> Result<Self> {
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

/// Removes folders whose owner no longer holds their lock. Those without a lock file are just being made or removed.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if is_scratch(&entry.file_name().to_string_lossy())
            && let Ok(lock) = File::open(entry.path().join("lock"))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

//! The folder in which traces are built that are stored elsewhere.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::Path;

use tempfile::TempDir;

use crate::error::{Error, Result};

/// How the names of these folders begin.
const PREFIX: &str = "tracesql-ingest-";
/// A file in each of them that is locked while its process lives. It contains the id of the running
/// system, because a lock is not visible on other machines that share the folder.
const LOCK: &str = "lock";
/// The file while it is not locked yet.
const UNLOCKED: &str = "unlocked";
/// The id of the running system, which changes when it starts again.
const SYSTEM: &str = "/proc/sys/kernel/random/boot_id";

/// A folder that is removed when the value is dropped, or by the next process if this one is
/// killed.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes a folder among the temporary files, and removes those of killed processes.
    pub fn new() -> Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    fn within(all: &Path) -> Result<Self> {
        let failed = |source| Error::Start { what: "a folder for unfinished traces", source };
        remove_abandoned(all);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(all).map_err(failed)?;
        let unlocked = folder.path().join(UNLOCKED);
        fs::write(&unlocked, system()).map_err(failed)?;
        let lock = File::open(&unlocked).map_err(failed)?;
        // Some file systems have no locks. Then the folder of a killed process stays.
        if lock.try_lock().is_ok() {
            fs::rename(&unlocked, folder.path().join(LOCK)).map_err(failed)?;
        }
        Ok(Self { folder, _lock: lock })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The id of the running system. Empty if it is not known.
fn system() -> String {
    fs::read_to_string(SYSTEM).unwrap_or_default().trim().to_owned()
}

/// Removes the folders whose processes were killed. Those that cannot be removed stay.
fn remove_abandoned(all: &Path) {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the process that made a folder on this system is dead.
fn is_abandoned(folder: &Path) -> bool {
    let Ok(mut lock) = File::open(folder.join(LOCK)) else { return false };
    let mut content = String::new();
    if lock.read_to_string(&mut content).is_err() || content.is_empty() || content != system() {
        return false;
    }
    match lock.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_dead_processes_of_this_system_are_removed() {
        let all = tempfile::tempdir().expect("a folder");
        let alive = Scratch::within(all.path()).expect("a folder");
        let folder = |name: &str, content: &str| {
            let path = all.path().join(name);
            fs::create_dir_all(path.join("store")).expect("a folder");
            fs::write(path.join(LOCK), content).expect("a file");
            path
        };
        let dead = folder("tracesql-ingest-dead", &system());
        let elsewhere = folder("tracesql-ingest-elsewhere", "another system");
        let other = folder("other", &system());
        let second = Scratch::within(all.path()).expect("a folder");
        assert!(!dead.exists(), "its process is dead");
        for path in [alive.path(), second.path(), &elsewhere, &other] {
            assert!(path.exists(), "{}", path.display());
        }
    }
}

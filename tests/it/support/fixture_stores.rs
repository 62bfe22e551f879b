//! Stores of all fixtures. Reading the fixtures takes about a second, and nextest runs each test in
//! a separate process, so a store is built once and kept among Cargo's temporary files. Its name
//! contains a hash of the test program and of the fixtures, so it is built again when either of
//! them changes.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tracesql_ingest::Store;

use super::{TestStore, root};

/// A store that tests must not change.
pub struct Kept(pub Store);

/// A store with all fixtures except those that show bottlenecks.
pub fn fixtures() -> TestStore {
    kept_fixtures().copy()
}

/// A store with all fixtures, including those that show bottlenecks.
pub fn bottlenecks() -> TestStore {
    kept_bottlenecks().copy()
}

/// The store of [`fixtures`] for tests that only read.
pub fn kept_fixtures() -> Kept {
    kept("fixtures", &[root().join("fixtures")])
}

/// The store of [`bottlenecks`] for tests that only read.
pub fn kept_bottlenecks() -> Kept {
    let folder = root().join("fixtures/bottlenecks");
    let (balanced, skewed) = (folder.join("balanced"), folder.join("skewed"));
    kept("bottlenecks", &[root().join("fixtures"), folder, balanced, skewed])
}

/// A store with the ranks of the job with a pipeline, for tests that only read.
pub fn kept_pipeline() -> Kept {
    kept("pipeline", &[root().join("fixtures/pipeline")])
}

/// A store with the memory snapshots, for tests that only read.
pub fn kept_snapshots() -> Kept {
    kept("snapshots", &[root().join("fixtures/snapshots")])
}

/// A store with the traces of single kernels and operators, for tests that only read.
pub fn kept_kernels() -> Kept {
    kept("kernels", &[root().join("fixtures/kernels")])
}

/// A store with the files beside a trace, for tests that only read.
pub fn kept_beside() -> Kept {
    let folder = |name: &str| root().join("fixtures").join(name);
    let flight = ["chain", "mismatch", "missing", "not_scheduled", "not_started", "rolled", "fine"];
    let mut folders: Vec<PathBuf> =
        flight.iter().map(|job| folder(&format!("flight/{job}"))).collect();
    folders.extend(["beside", "beside/execution", "beside/job"].map(folder));
    kept("beside", &folders)
}

/// A store with the XPlane files and Perfetto traces, for tests that only read.
pub fn kept_protobufs() -> Kept {
    kept("protobufs", &[root().join("fixtures/protobufs")])
}

impl Kept {
    /// A copy of the store in a separate folder.
    fn copy(&self) -> TestStore {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("store");
        copy(self.0.root(), &path);
        let store = Store::open(&path).expect("the copy is a store");
        TestStore { folder, store }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("a folder").map(|e| e.expect("an entry").path()) {
        let to = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).expect("a copy");
        }
    }
}

/// The store with the traces of these folders. It is built if it does not exist.
fn kept(name: &str, folders: &[PathBuf]) -> Kept {
    let traces: Vec<PathBuf> = folders.iter().flat_map(|folder| traces_in(folder)).collect();
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stores");
    fs::create_dir_all(&all).expect("a folder for stores");
    let path = all.join(format!("{name}-{:016x}", key(&traces)));
    // The lock is released when the file is closed.
    let lock = File::create(all.join(format!(".{name}.lock"))).expect("a lock");
    lock.lock().expect("the lock is taken");
    if !path.exists() {
        remove_old(&all, name);
        let scratch = tempfile::tempdir_in(&all).expect("a folder");
        let built = scratch.path().join("store");
        let store = Store::open_or_create(&built).expect("a new store");
        for trace in &traces {
            super::ingest_into(&store, trace);
        }
        fs::rename(&built, &path).expect("the store takes its place");
    }
    Kept(Store::open(&path).expect("the store opens"))
}

/// The traces of a folder, without those in its subfolders.
fn traces_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|path| {
        let path = path.to_string_lossy();
        let endings = [".json", ".pickle", ".xplane.pb", ".pftrace", ".folded", "nccl_trace_rank_"];
        endings.iter().any(|ending| path.contains(ending)) && !path.contains("key_averages")
    });
    paths.sort();
    paths
}

/// A hash of everything that a store depends on: the program that reads traces, and the traces.
fn key(traces: &[PathBuf]) -> u64 {
    let program = std::env::current_exe().expect("the test program has a path");
    let mut hasher = DefaultHasher::new();
    for path in std::iter::once(&program).chain(traces) {
        let facts = fs::metadata(path).expect("the file is there");
        (path, facts.len(), facts.modified().expect("a time")).hash(&mut hasher);
    }
    hasher.finish()
}

/// Removes the stores that other programs left more than a day ago. Younger stores may be in use.
fn remove_old(all: &Path, name: &str) {
    let day = Duration::from_hours(24);
    for entry in fs::read_dir(all).expect("the stores").flatten() {
        let is_old = entry
            .metadata()
            .and_then(|facts| facts.modified())
            .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > day));
        if is_old && entry.file_name().to_string_lossy().starts_with(&format!("{name}-")) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

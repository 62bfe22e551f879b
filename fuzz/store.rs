//! Bytes into a store of their own, and what must hold then.

use std::path::Path;

use tracesql_ingest::{IngestOptions, Progress, Store, examine, expand, ingest};

pub fn store(data: &[u8]) {
    // In memory where there is such a place: each run writes eleven files.
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, data).expect("a file");
    let Ok(inputs) = expand(&[path.display().to_string()]) else { return };
    let store = Store::open_or_create(&folder.path().join("store")).expect("a store");
    let options = IngestOptions { threads: 1, memory_limit: 200 << 20, ..IngestOptions::default() };
    for input in inputs.iter().take(4) {
        let Ok(outcome) = ingest(input, &store, &options, &Progress::default()) else { continue };
        if !outcome.was_there {
            let skipped = outcome.issues.iter().filter(|(code, _)| code.skips()).map(|(_, issue)| issue.count).sum::<u64>();
            assert_eq!(outcome.manifest.rows("events") + skipped, outcome.manifest.element_count);
        }
    }
    let found = examine(store.root()).expect("the store can be read");
    assert!(found.is_sound(), "{:?}", found.problems);
}

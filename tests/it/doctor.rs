//! `tracesql doctor` finds every kind of damage, and reports that an undamaged store is sound.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tracesql_ingest::{Gravity, examine};

use crate::support::{TestStore, fixture, texts, tracesql};

/// A store of two traces, and the folder of the first.
fn store() -> (TestStore, PathBuf) {
    let store = TestStore::new();
    store.ingest(&fixture("chrome_mixed.json")).expect("it is read");
    let outcome = store.ingest(&fixture("synthetic_gpu_rank0.json.gz")).expect("it is read");
    let folder = store.store.trace_folder(&outcome.manifest.trace_id);
    (store, folder)
}

fn doctor(store: &TestStore) -> (Option<i32>, Value) {
    let output =
        tracesql(&["doctor", &store.store.root().display().to_string(), "--format", "json"]);
    let (out, error) = texts(&output);
    let found = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{error}"));
    (output.status.code(), found)
}

/// The codes of the problems with their places.
fn problems(found: &Value) -> Vec<String> {
    let text = |p: &Value, key: &str| p[key].as_str().expect("a text").to_owned();
    found["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| {
            format!(
                "{} {}",
                text(p, "code"),
                text(p, "place").rsplit('/').next().unwrap_or_default()
            )
        })
        .collect()
}

#[track_caller]
fn damaged(store: &TestStore, want: &[&str]) {
    let (code, found) = doctor(store);
    assert_eq!((code, problems(&found)), (Some(3), want.iter().map(|w| (*w).to_owned()).collect()));
    assert_eq!(found["sound"], false);
}

fn flip(path: &Path, at: impl Fn(usize) -> usize) {
    let mut bytes = fs::read(path).expect("a file");
    let at = at(bytes.len());
    bytes[at] ^= 0x40;
    fs::write(path, bytes).expect("it is written");
}

fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    change(&mut value);
    fs::write(path, value.to_string()).expect("it is written");
}

#[test]
fn a_sound_store_is_sound_and_read_whole() {
    let (store, _) = store();
    let (code, found) = doctor(&store);
    assert_eq!((code, problems(&found)), (Some(0), vec![]));
    assert_eq!((found["traces"].as_i64(), found["files"].as_i64()), (Some(2), Some(34)));
    let tables = tracesql_ingest::schema::TABLES
        .iter()
        .map(|t| store.ints(&format!("SELECT count(*) FROM {}", t.name))[0]);
    assert_eq!(found["rows"].as_i64(), Some(tables.sum()));
    let output = tracesql(&["doctor", &store.store.root().display().to_string()]);
    assert!(
        output.status.success() && texts(&output).0.contains(": sound; 2 traces, 34 files"),
        "{}",
        texts(&output).0
    );
}

#[test]
fn files_that_are_cut_changed_or_gone_are_found() {
    let (store, folder) = store();
    let table = |name: &str| folder.join(format!("{name}.parquet"));
    let whole = fs::read(table("events")).expect("a file");
    fs::write(table("events"), &whole[..whole.len() / 2]).expect("it is written");
    damaged(&store, &["size events.parquet"]);
    fs::write(table("events"), b"").expect("it is written");
    damaged(&store, &["size events.parquet"]);
    fs::write(table("events"), &whole).expect("it is written");
    // Changes a bit in the data, in the footer and in the last byte.
    for at in [|n: usize| n / 3, |n: usize| n - 40, |n: usize| n - 1] {
        flip(&table("events"), at);
        damaged(&store, &["checksum events.parquet"]);
        flip(&table("events"), at);
    }
    fs::remove_file(table("kernels")).expect("it is there");
    fs::write(table("flows"), b"x").expect("it is written");
    damaged(&store, &["missing kernels.parquet", "size flows.parquet"]);
}

#[test]
fn manifests_that_are_damaged_or_lie_are_found() {
    let (store, folder) = store();
    let manifest = folder.join("manifest.json");
    let whole = fs::read(&manifest).expect("a file");
    fs::write(&manifest, &whole[..whole.len() - 9]).expect("it is written");
    damaged(&store, &["manifest manifest.json"]);
    fs::write(&manifest, &whole).expect("it is written");
    edit(&manifest, |m| m["tables"]["memory"]["rows"] = 7.into());
    damaged(&store, &["rows memory.parquet"]);
    fs::write(&manifest, &whole).expect("it is written");
    edit(&manifest, |m| m["schema_version"] = 1.into());
    damaged(&store, &["version manifest.json"]);
    fs::write(&manifest, &whole).expect("it is written");
    edit(&manifest, |m| {
        m["tables"].as_object_mut().expect("an object").remove("steps");
    });
    damaged(&store, &["not_in_manifest steps.parquet"]);
    fs::write(&manifest, &whole).expect("it is written");
    // This is the file of another table with matching size and checksum. Its footer shows the
    // error.
    fs::copy(folder.join("steps.parquet"), folder.join("flows.parquet")).expect("it is copied");
    edit(&manifest, |m| m["tables"]["flows"] = m["tables"]["steps"].clone());
    damaged(&store, &["decode flows.parquet"]);
    fs::remove_file(&manifest).expect("it is there");
    damaged(
        &store,
        &[&format!("no_manifest {}", folder.file_name().expect("a name").to_string_lossy())],
    );
}

#[test]
fn folders_that_were_renamed_or_copied_are_found() {
    let (store, folder) = store();
    let other = store.store.root().join("renamed");
    fs::rename(&folder, &other).expect("it is renamed");
    damaged(&store, &["name manifest.json"]);
    fs::create_dir(&folder).expect("a folder");
    for entry in fs::read_dir(&other).expect("a folder").flatten() {
        fs::copy(entry.path(), folder.join(entry.file_name())).expect("it is copied");
    }
    let (_, found) = doctor(&store);
    assert!(problems(&found).iter().any(|p| p.starts_with("twice ")), "{found}");
}

#[test]
fn damage_of_the_stores_own_file_is_found() {
    let (store, _) = store();
    let marker = store.store.root().join("tracesql-store.json");
    fs::write(&marker, "{").expect("it is written");
    damaged(&store, &["marker tracesql-store.json"]);
    fs::write(&marker, "{\"schema_version\":1}").expect("it is written");
    damaged(&store, &["version tracesql-store.json"]);
    fs::remove_file(&marker).expect("it is there");
    damaged(&store, &["marker tracesql-store.json"]);
    let nothing = tempfile::tempdir().expect("a folder");
    let output = tracesql(&["doctor", &nothing.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(texts(&output).1.contains("not a tracesql store"));
}

#[test]
fn what_interrupted_ingests_leave_is_no_damage() {
    let (store, folder) = store();
    let left = store.store.root().join(".tmp-left");
    fs::create_dir(&left).expect("a folder");
    fs::write(left.join("lock"), b"").expect("it is written");
    // The processes were killed before the lock file was made, while the folder was removed, and
    // while the store's own file was written.
    let others =
        [".tmp-empty", ".tmp-half", ".tmp-file-x"].map(|name| store.store.root().join(name));
    fs::create_dir(&others[0]).expect("a folder");
    fs::create_dir_all(others[1].join("trace")).expect("a folder");
    fs::write(others[1].join("trace/events.parquet"), b"PAR1").expect("it is written");
    fs::write(&others[2], b"{").expect("it is written");
    fs::write(store.store.root().join("notes.txt"), b"mine").expect("it is written");
    fs::write(folder.join("notes.txt"), b"mine").expect("it is written");
    let scratch = tracesql_ingest::internals::scratch(&store.store).expect("a folder");
    // Starting another process removed the files of killed processes.
    assert!(!left.exists() && others.iter().all(|path| !path.exists()));
    fs::create_dir(&left).expect("a folder");
    fs::write(left.join("lock"), b"").expect("it is written");
    let (code, found) = doctor(&store);
    let mut kinds: Vec<String> = problems(&found)
        .iter()
        .map(|p| p.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    kinds.sort();
    assert_eq!(
        (code, kinds),
        (
            Some(0),
            vec!["in_progress".to_owned(), "leftover".into(), "unknown".into(), "unknown".into()]
        )
    );
    assert!(left.exists(), "nothing is changed");
    drop(scratch);
}

#[test]
fn any_flipped_byte_is_found() {
    let (store, folder) = store();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "parquet"))
        .collect();
    files.sort();
    for (i, path) in files.iter().enumerate() {
        let at = |n: usize| (n * (2 * i + 1)) / (2 * files.len());
        flip(path, at);
        let found = examine(store.store.root()).expect("it is examined");
        let bad: Vec<_> = found
            .problems
            .iter()
            .filter(|p| p.gravity == Gravity::Damage)
            .map(|p| p.code)
            .collect();
        assert_eq!(bad, ["checksum"], "{}", path.display());
        flip(path, at);
    }
    assert!(examine(store.store.root()).expect("it is examined").is_sound());
}

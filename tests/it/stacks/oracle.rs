//! Compares stacks and their values with a second program in Python, on every fixture and every
//! trace of the corpus.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::tools;
use crate::support::{TestStore, needs, root};

/// The results of `tests/oracle/stacks.py` for files.
fn oracle(paths: &[PathBuf]) -> Vec<Value> {
    let out = Command::new("python3")
        .arg(root().join("tests/oracle/stacks.py"))
        .args(paths)
        .output()
        .expect("python3 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout)
        .expect("text")
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect()
}

fn check(set: &str, paths: &[PathBuf]) -> usize {
    let wanted: Vec<Value> = oracle(paths).into_iter().filter(|w| w["kind"] == "trace").collect();
    let store = TestStore::new();
    for want in &wanted {
        let path = Path::new(want["path"].as_str().expect("a path"));
        store.ingest(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    // All stacks of all traces in one query. The oracle sorts its lines by their bytes.
    let sql = "SELECT t.path, fold_stack(s.stack), count(*), sum(s.time_ns)
               FROM track_stacks s JOIN traces t ON t.trace_id = s.trace_id
                   GROUP BY t.path, fold_stack(s.stack)";
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in store.rows(sql) {
        lines.entry(row[0].clone()).or_default().push(row[1..].join("\t"));
    }
    for want in &wanted {
        let path = want["path"].as_str().expect("a path");
        let mut found = lines.remove(path).unwrap_or_default();
        found.sort();
        assert_eq!(
            found.len() as u64,
            want["stacks"].as_u64().expect("a number"),
            "{path}: number of stacks"
        );
        let sum: i64 = found
            .iter()
            .map(|l| l.rsplit('\t').next().expect("ns").parse::<i64>().expect("a number"))
            .sum();
        assert_eq!(sum, want["self_ns"].as_i64().expect("a number"), "{path}: sum of self times");
        assert_eq!(adler(&found), want["adler32"].as_u64().expect("a number"), "{path}: stacks");
        if want["overlaps"] == 0 {
            assert_eq!(
                want["self_ns"], want["busy_ns"],
                "{path}: without overlaps self times are the busy time"
            );
        }
    }
    tools::check(set, &store, &wanted);
    wanted.len()
}

/// The Adler-32 checksum of the lines, as Python's zlib computes it.
pub fn adler(lines: &[String]) -> u64 {
    let (mut a, mut b) = (1u64, 0u64);
    for byte in lines.iter().flat_map(|l| l.bytes().chain([b'\n'])) {
        a = (a + u64::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    b << 16 | a
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files(&entry, into) } else { into.push(entry) }
    }
}

#[test]
fn stacks_of_fixtures_equal_the_oracle() {
    let mut paths = Vec::new();
    files(&root().join("fixtures"), &mut paths);
    // nasty.json contains its event list twice. Python's JSON reader keeps only the second list,
    // and tracesql reads both.
    paths.retain(|p| {
        p.parent() == Some(root().join("fixtures").as_path())
            && p.to_string_lossy().contains(".json")
            && !p.ends_with("nasty.json")
    });
    assert!(check("fixtures", &paths) >= 7);
}

#[test]
fn stacks_of_the_corpus_equal_the_oracle() {
    let Some(corpus) = needs::corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus.join("public"), &mut paths);
    files(&corpus.join("made"), &mut paths);
    assert!(check("corpus", &paths) > 100);
}

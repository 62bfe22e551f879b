//! Every trace of the public corpus against an independent exact recount in Python.
//!
//! The corpus is in a folder next to the project. Without it these tests are skipped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::recount::differences;
use crate::support::{needs, root};

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// The counts of the oracle for each file. One run of the oracle reads all files.
pub fn recount(paths: &[PathBuf]) -> Vec<Value> {
    let mut child = Command::new("python3")
        .arg(root().join("tests/oracle/recount.py"))
        .args(paths)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs the recount oracle");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let values = lines.map(|l| serde_json::from_str(&l.expect("a line")).expect("JSON")).collect();
    assert!(child.wait().expect("it ends").success());
    values
}

fn check(part: &str) {
    let Some(corpus) = needs::corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus.join(part), &mut paths);
    // The recount reads JSON only; memory snapshots have expected figures of their own.
    paths.retain(|path| !path.to_string_lossy().ends_with(".pickle.gz"));
    let wanted = recount(&paths);
    assert_eq!(wanted.len(), paths.len());
    let mut failures = Vec::new();
    let mut traces = 0;
    for (path, want) in paths.iter().zip(&wanted) {
        traces += usize::from(want["kind"] == "trace");
        for difference in differences(path, want) {
            failures.push(format!("{}: {difference}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
    assert!(traces > 30, "only {traces} traces were found");
}

#[test]
fn public_traces_equal_the_recount() {
    check("public");
}

#[test]
fn made_traces_equal_the_recount() {
    check("made");
}

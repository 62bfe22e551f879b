//! Compares stores and query results with a recount, with Python's json module and with DuckDB.
//! `scripts/differential` does the same for any folder.

use std::process::Command;

use crate::support::{fixture, needs, root, texts};

const TRACES: [&str; 5] = [
    "chrome_mixed.json",
    "ddp_rank0.pt.trace.json.gz",
    "old_kineto.json.gz",
    "perf.json",
    "synthetic_gpu_rank0.json.gz",
];

#[test]
fn others_count_and_answer_the_same() {
    let Some(python) = needs::python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for name in TRACES {
        std::fs::copy(fixture(name), folder.path().join(name)).expect("a copy");
    }
    let mut command = Command::new(python);
    command
        .arg(root().join("scripts/differential"))
        .arg(folder.path())
        .args(["--program", env!("CARGO_BIN_EXE_tracesql")]);
    let output = command.output().expect("python runs");
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains(&format!("{} traces; 0 differences", TRACES.len())), "{stdout}");
}

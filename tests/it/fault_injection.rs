//! Files that are damaged while they are queried, killed processes, full disks, and inputs that
//! change while they are read.

use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::atomic::Ordering;

use tracesql_ingest::{IngestOptions, Input, Progress, examine, ingest};

use crate::support::{TestStore, fixture, needs, root, texts, tracesql, within_a_minute};

fn store() -> (TestStore, String) {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let path = store.store.root().display().to_string();
    (store, path)
}

#[test]
fn damaged_files_give_errors_and_not_answers() {
    let (store, path) = store();
    let folder = store.store.trace_folder(&store.store.traces().expect("traces")[0].trace_id);
    let file = folder.join("events.parquet");
    let whole = std::fs::read(&file).expect("a file");
    let sum = "SELECT count(*), sum(dur_ns), sum(length(args)), sum(length(name)) FROM events";
    let right = texts(&tracesql(&["query", &path, "--format", "csv", "-c", sum])).0;
    let (mut failed, mut same) = (0, 0);
    for i in 0..24 {
        let mut bytes = whole.clone();
        let at = bytes.len() * i / 24;
        match i % 4 {
            0 => bytes.truncate(at),
            1 => bytes.extend(b"PAR1"),
            2 => bytes[at] ^= 0xff,
            _ => bytes[at..(at + 200).min(whole.len())].fill(0),
        }
        std::fs::write(&file, &bytes).expect("it is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
        let output = within_a_minute(
            command.args(["query", &path, "--format", "csv", "-c", sum]).env("NO_COLOR", "1"),
        );
        let (out, error) = texts(&output);
        match output.status.code() {
            Some(0) if out == right => same += 1,
            // Parquet pages carry no checksum of ours, so a changed value can stay unnoticed.
            // `tracesql doctor` finds it.
            Some(0) => {}
            Some(3 | 4) => {
                assert!(error.lines().any(|l| l.starts_with("error: ")), "{error}");
                failed += 1;
            }
            code => panic!("{i}: {code:?}: {out}{error}"),
        }
        assert!(
            !tracesql_ingest::examine(store.store.root()).expect("it is examined").is_sound()
                || bytes == whole,
            "{i}: doctor finds it"
        );
    }
    std::fs::write(&file, &whole).expect("it is written");
    assert!(failed >= 12, "{failed} failed, {same} gave the same");
    assert_eq!(
        texts(&tracesql(&["query", &path, "--format", "csv", "-c", sum])).0,
        right,
        "the store is as it was"
    );
}

/// Runs `bench/faults.py` with small numbers. docs/evidence/robustness.md gives the results with
/// large numbers.
#[test]
fn faults_lose_nothing() {
    let output = Command::new("python3")
        .arg(root().join("bench/faults.py"))
        .arg(env!("CARGO_BIN_EXE_tracesql"))
        .args([
            "--kills", "12", "--damages", "24", "--disks", "4", "--changes", "4", "--seconds", "3",
        ])
        .output()
        .expect("python3 runs");
    let (out, error) = texts(&output);
    assert!(output.status.success(), "{out}{error}");
    for line in out.lines().filter(|line| line.contains("skipped")) {
        needs::skip("root", line);
    }
}

#[test]
fn an_input_that_changes_while_it_is_read_is_refused() {
    let element = r#"{"ph":"X","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1},"#;
    let text = format!("[{}]", element.repeat(300_000).trim_end_matches(','));
    for change in ["cut", "longer", "written anew"] {
        let store = TestStore::new();
        let path = store.folder.path().join("trace.json");
        std::fs::write(&path, &text).expect("a trace");
        let progress = Progress::default();
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| {
                while progress.bytes.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the trace");
                match change {
                    "cut" => file.set_len(1000),
                    "longer" => file.set_len(text.len() as u64 + 1),
                    _ => file.write_all_at(b"[ ", 0),
                }
                .expect("changed");
            });
            let options = IngestOptions { threads: 1, ..IngestOptions::default() };
            ingest(&Input::File(path.clone()), &store.store, &options, &progress).err()
        });
        let said = refused.unwrap_or_else(|| panic!("{change}: it was stored")).to_string();
        assert!(
            said.contains("changed by another process") && said.contains("trace.json"),
            "{change}: {said}"
        );
        assert!(store.store.traces().expect("the store").is_empty(), "{change}");
        assert!(examine(store.store.root()).expect("the store").is_sound(), "{change}");
    }
}

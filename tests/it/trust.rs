//! Limits: time, files outside the store, what small inputs may unpack to; damaged files while they
//! are queried, inputs that change while they are read.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tracesql_ingest::{IngestOptions, Input, Progress, examine, ingest};

use crate::support::{TestStore, fixture, root, texts, tracesql, within_a_minute};

fn store() -> (TestStore, String) {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let path = store.store.root().display().to_string();
    (store, path)
}

/// Rows multiplied for longer than anybody waits.
const ENDLESS: &str = "SELECT count(*) FROM events a, events b, events c, events d WHERE a.ts_ns + b.ts_ns < c.ts_ns + d.ts_ns";

#[test]
fn queries_end_when_their_time_is_up() {
    let (store, path) = store();
    let out = store.folder.path().join("out.csv").display().to_string();
    for (args, what) in [
        (vec!["query", &path, "--timeout", "300ms", "-c", ENDLESS], "an aggregate"),
        (
            vec![
                "query",
                &path,
                "--timeout",
                "0.3",
                "--format",
                "csv",
                "-o",
                &out,
                "-c",
                "SELECT a.name FROM events a, events b, events c",
            ],
            "a file",
        ),
        (
            vec![
                "query",
                &path,
                "--timeout",
                "300ms",
                "-c",
                "SELECT max(x.value * y.value) FROM generate_series(1, 10000000) x, generate_series(1, 100000) y",
            ],
            "series",
        ),
        (
            vec![
                "export", &path, "--timeout", "300ms", "--format", "csv", "-o", &out, "-c", ENDLESS,
            ],
            "an export",
        ),
    ] {
        let start = Instant::now();
        let output = tracesql(&args);
        assert_eq!(output.status.code(), Some(4), "{what}: {}", texts(&output).1);
        assert!(
            texts(&output).1.contains("stopped after 0.3 s, which is what --timeout allows"),
            "{what}: {}",
            texts(&output).1
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: {:?}", start.elapsed());
        assert!(!store.folder.path().join("out.csv").exists(), "{what} leaves no result");
    }
    let output =
        tracesql(&["query", &path, "--timeout", "1m", "-c", "SELECT 1 AS one", "--format", "csv"]);
    assert_eq!(texts(&output).0, "one\n1\n");
    assert_eq!(
        tracesql(&["query", &path, "--timeout", "soon", "-c", "SELECT 1"]).status.code(),
        Some(2)
    );
}

#[test]
fn statements_stay_within_the_store() {
    let (store, path) = store();
    let secret = store.folder.path().join("secret.csv");
    std::fs::write(&secret, "word\nhidden\n").expect("a file");
    let target = store.folder.path().join("copied.csv");
    let external = format!(
        "CREATE EXTERNAL TABLE s STORED AS CSV LOCATION '{}' OPTIONS ('format.has_header' 'true'); SELECT * FROM s",
        secret.display()
    );
    for sql in [
        external.clone(),
        format!("COPY (SELECT 1) TO '{}'", target.display()),
        format!("SELECT * FROM '{}'", secret.display()),
        format!("SELECT * FROM read_csv('{}')", secret.display()),
        "INSERT INTO events SELECT * FROM events".to_owned(),
        "DROP TABLE events".to_owned(),
        "SET datafusion.runtime.temp_directory = '/'".to_owned(),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{}'", target.display()),
    ] {
        let output = tracesql(&["query", &path, "-c", &sql]);
        let (out, error) = texts(&output);
        assert_eq!(output.status.code(), Some(4), "{sql}: {out}{error}");
        assert!(!out.contains("hidden"), "{sql}");
    }
    assert!(!target.exists());
    let error = texts(&tracesql(&["query", &path, "-c", &external])).1;
    assert!(error.contains("--allow-files"), "{error}");
    let output = tracesql(&["query", &path, "--allow-files", "--format", "csv", "-c", &external]);
    assert_eq!(texts(&output).0, "word\nhidden\n", "{}", texts(&output).1);
    // Writing stays with the program's own options.
    assert_eq!(
        tracesql(&[
            "query",
            &path,
            "--allow-files",
            "-c",
            &format!("COPY (SELECT 1) TO '{}'", target.display())
        ])
        .status
        .code(),
        Some(4)
    );
}

#[test]
fn commands_can_be_refused() {
    let (store, path) = store();
    let target = store.folder.path().join("out.csv");
    let text = format!("\\o {}\nSELECT 1 AS one;", target.display());
    let output = tracesql(&["query", &path, "--no-commands", "-c", &text]);
    assert_eq!(output.status.code(), Some(2));
    assert!(texts(&output).1.contains("--no-commands"), "{}", texts(&output).1);
    assert!(!target.exists(), "nothing ran");
    assert!(tracesql(&["query", &path, "-c", &text]).status.success());
    assert!(target.exists());
}

#[test]
fn small_inputs_do_not_fill_the_disk() {
    let store = TestStore::new();
    // 1.3 GB of blanks in an event list: about 1.3 MB of gzip.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    packed.write_all(b"[").expect("memory");
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..1300 {
        packed.write_all(&blanks).expect("memory");
    }
    let path = store.folder.path().join("bomb.json.gz");
    std::fs::write(&path, packed.finish().expect("memory")).expect("a file");
    let error = store.ingest(&path).expect_err("it is refused").to_string();
    assert!(error.contains("no trace is packed so densely"), "{error}");
    assert_eq!(store.store.traces().expect("traces").len(), 0);
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
            // Parquet pages carry no checksum of ours, so a changed value can pass: `tracesql
            // doctor` finds it.
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

/// `bench/faults.py` with small numbers; docs/trust.md says what it gave with large ones.
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
    out.lines().filter(|l| l.contains("left out")).for_each(|l| eprintln!("{l}"));
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

//! Size, memory and threads. They affect how a trace is read, but never what is stored.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tracesql_ingest::IngestOptions;
use tracesql_ingest::schema::TABLES;

use crate::support::{TestStore, peak_memory, root};

/// The reader processes blocks of this many bytes.
const STRETCH: usize = 4 << 20;

/// A trace of about this size, made from the synthetic GPU job.
fn big_trace(folder: &Path, size: &str) -> PathBuf {
    let path = folder.join("big.json");
    let made = Command::new("python3")
        .arg(root().join("bench/make_trace.py"))
        .arg(&path)
        .args(["--size", size])
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("python3 runs").success());
    path
}

fn ingested(path: &Path, threads: usize, memory_limit: usize) -> TestStore {
    let store = TestStore::new();
    store
        .ingest_with(path, &IngestOptions { threads, memory_limit, ..IngestOptions::default() })
        .unwrap_or_else(|e| panic!("{e}"));
    store
}

/// The bytes of the file of a table.
fn bytes(store: &TestStore, table: &str) -> Vec<u8> {
    let trace = store.store.traces().expect("traces").remove(0).trace_id;
    std::fs::read(store.store.root().join(trace).join(format!("{table}.parquet"))).expect("a table")
}

fn same_files(a: &TestStore, b: &TestStore) {
    for table in TABLES {
        assert!(bytes(a, table.name) == bytes(b, table.name), "{} differs", table.name);
    }
}

#[test]
fn neither_memory_nor_threads_change_a_byte() {
    let folder = TempDir::new().expect("a folder");
    let path = big_trace(folder.path(), "100MB");
    let free = ingested(&path, 4, 0);
    assert!(free.ints("SELECT count(*) FROM events")[0] > 250_000, "large enough to go to disk");
    same_files(&free, &ingested(&path, 1, 0));
    for limit in [64_000_000, 100_000_000] {
        same_files(&free, &ingested(&path, 2, limit));
    }
}

/// The peak memory of the program while it ingests a trace, in bytes.
fn peak_of(path: &Path, limit: &str) -> usize {
    let store = TempDir::new().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
    command
        .args(["ingest", "--threads", "2", "--memory-limit", limit])
        .arg(path)
        .arg("-o")
        .arg(store.path().join("store"));
    peak_memory(
        &mut command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs"),
    )
}

#[test]
fn memory_stays_within_its_limit() {
    let folder = TempDir::new().expect("a folder");
    let path = big_trace(folder.path(), "100MB");
    for (limit, bytes) in [("400MB", 400_000_000), ("600MB", 600_000_000)] {
        let peak = peak_of(&path, limit);
        assert!(peak <= bytes, "{limit}: {} MB", peak / 1_000_000);
    }
}

#[test]
fn memory_does_not_grow_with_the_trace() {
    let folder = TempDir::new().expect("a folder");
    let peak = peak_of(&big_trace(folder.path(), "400MB"), "400MB");
    assert!(peak <= 400_000_000, "{} MB for a trace of 400 MB", peak / 1_000_000);
}

/// Flow elements and launches are collected from all tracks before they can be connected.
#[test]
fn memory_does_not_grow_with_flows() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("flows.json");
    let mut text = String::from("[");
    for i in 0..2_500_000 {
        let (ph, id) = (["s", "f"][i % 2], i / 2);
        text += &format!(
            r#"{{"ph":"{ph}","id":{id},"pid":1,"tid":{},"ts":{i},"cat":"ac2g","name":"ac2g"}},"#,
            i % 2
        );
        text.push('\n');
    }
    text.push(']');
    std::fs::write(&path, text).expect("written");
    let peak = peak_of(&path, "300MB");
    assert!(peak <= 315_000_000, "{} MB, more than 5 % above the limit", peak / 1_000_000);
}

/// An instant `n` whose args make it exactly `size` bytes long.
fn sized(n: usize, size: usize) -> String {
    let around =
        format!(r#"{{"ph":"i","name":"n{n}","pid":1,"tid":1,"ts":{n},"args":{{"pad":""}}}}"#).len();
    format!(
        r#"{{"ph":"i","name":"n{n}","pid":1,"tid":1,"ts":{n},"args":{{"pad":"{}"}}}}"#,
        "x".repeat(size - around)
    )
}

/// A list of elements without an enclosing object.
fn list(elements: &[String]) -> String {
    format!("[{}]", elements.join(","))
}

/// Reads a text with one thread and with several. Every element must be present and in its place.
fn reads_all(text: &str, elements: usize, what: &str) {
    for threads in [1, 3] {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("t.json");
        std::fs::write(&path, text).expect("a trace");
        let store = ingested(&path, threads, 0);
        let got = store.ints(
            "SELECT count(*), count(DISTINCT event_id), sum(event_id), count(*) FILTER \
                (WHERE name = concat('n', event_id)) FROM events",
        );
        let n = elements as i64;
        assert_eq!(got, [n, n, n * (n - 1) / 2, n], "{what}, {threads} threads");
        assert!(store.issues().is_empty(), "{what}: {:?}", store.issues());
    }
}

#[test]
fn elements_may_begin_and_end_anywhere_around_a_boundary() {
    for shift in [-66, -3, -2, -1, 0, 1, 2, 3, 66] {
        // The bracket, the first element and its comma fill the first block except for the shift.
        let first = (STRETCH as i64 - 2 + shift) as usize;
        let elements =
            [sized(0, first), sized(1, 100), sized(2, STRETCH - 150), sized(3, 300), sized(4, 200)];
        reads_all(&list(&elements), 5, &format!("shift {shift}"));
    }
}

#[test]
fn many_small_elements_across_boundaries_are_read() {
    for size in [97, 101, 4093] {
        let n = 3 * STRETCH / size;
        let elements: Vec<String> = (0..n).map(|i| sized(i, size)).collect();
        reads_all(&list(&elements), n, &format!("elements of {size} bytes"));
    }
}

#[test]
fn elements_longer_than_a_stretch_are_read() {
    for size in [STRETCH - 1, STRETCH, STRETCH + 1, 2 * STRETCH + 7, 5 * STRETCH] {
        let elements = [sized(0, 90), sized(1, size), sized(2, 90), sized(3, size), sized(4, 90)];
        reads_all(&list(&elements), 5, &format!("elements of {size} bytes"));
    }
}

#[test]
fn text_that_looks_like_elements_within_a_long_string_stays_text() {
    // Just before each boundary, a text contains what looks like the start of an element.
    let decoy = r#"},{\"ph\":\"X\",\"name\":\"decoy\"},{'ph':1},"#.repeat(STRETCH / 30);
    let long = |n: usize| {
        format!(r#"{{"ph":"i","name":"n{n}","pid":1,"tid":1,"ts":{n},"args":{{"k":"{decoy}"}}}}"#)
    };
    reads_all(
        &list(&[sized(0, 90), long(1), sized(2, 90), long(3), sized(4, 90)]),
        5,
        "decoys in a text",
    );
}

#[test]
fn what_looks_like_elements_within_args_stays_there() {
    let inner =
        vec![r#"{"ph":"X","name":"inner","pid":1,"tid":1,"ts":1,"dur":1}"#; STRETCH / 40].join(",");
    let long = |n: usize| {
        format!(r#"{{"ph":"i","name":"n{n}","pid":1,"tid":1,"ts":{n},"args":{{"k":[{inner}]}}}}"#)
    };
    reads_all(
        &list(&[sized(0, 90), long(1), sized(2, 90), long(3), sized(4, 90)]),
        5,
        "elements in args",
    );
}

#[test]
fn white_space_longer_than_a_stretch_is_skipped() {
    let space = " ".repeat(6 * STRETCH);
    reads_all(
        &format!(
            "[{space}{},{space}{}{space},{}{space}]{space}",
            sized(0, 90),
            sized(1, 90),
            sized(2, 90)
        ),
        3,
        "white space",
    );
}

#[test]
fn a_broken_element_across_a_boundary_costs_itself_only() {
    for shift in [-40, -20, -10, -1, 0, 1] {
        let first = (STRETCH as i64 - 2 + shift) as usize;
        let broken = r#"{"ph":"i","name":"say "hello" twice","pid":1,"tid":1,"ts":1}"#.to_owned();
        let text =
            list(&[sized(0, first), broken, sized(2, 100), sized(3, STRETCH), sized(4, 100)]);
        for threads in [1, 3] {
            let folder = TempDir::new().expect("a folder");
            let path = folder.path().join("t.json");
            std::fs::write(&path, &text).expect("a trace");
            let store = ingested(&path, threads, 0);
            assert_eq!(
                store.lines("SELECT event_id, name FROM events ORDER BY 1"),
                ["0 n0", "2 n2", "3 n3", "4 n4"],
                "shift {shift}"
            );
            assert_eq!(store.issues(), ["malformed_event 1"], "shift {shift}");
        }
    }
}

#[test]
fn commas_around_a_boundary_are_counted_once() {
    for shift in [-3, -2, -1, 0, 1, 2, 3] {
        let first = sized(0, (STRETCH as i64 - 2 + shift) as usize);
        let (a, b) = (sized(1, 100), sized(2, 100));
        for (text, issue) in [
            (format!("[{first} {a},{b}]"), "missing_comma 1"),
            (format!("[{first},,{a},{b}]"), "extra_comma 1"),
            (format!("[{first} \n,\n ,{a},{b}]"), "extra_comma 1"),
        ] {
            let (store, _) = TestStore::of_text(&text);
            assert_eq!(
                store.lines("SELECT name FROM events ORDER BY event_id"),
                ["n0", "n1", "n2"]
            );
            assert_eq!(store.issues(), [issue], "shift {shift}");
        }
    }
}

#[test]
fn args_of_more_than_64_mebibytes_are_replaced_by_their_size() {
    let (store, _) =
        TestStore::of_text(list(&[sized(0, 90), sized(1, (64 << 20) + 200), sized(2, 90)]));
    let args = store.value("SELECT args FROM events WHERE event_id = 1");
    assert!(args.starts_with(r#"{"dropped_bytes":671090"#), "{args}");
    assert_eq!(store.issues(), ["args_cut 1"]);
    assert_eq!(store.ints("SELECT count(*) FROM events"), [3]);
}

#[test]
fn a_query_that_needs_more_than_its_limit_is_refused_before_it_takes_it() {
    let folder = TempDir::new().expect("a folder");
    let path = root().join("fixtures/synthetic_gpu_rank0.json.gz");
    let ask = |sql: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
        command
            .args(["--threads", "2", "--memory-limit", "300MB"])
            .arg(&path)
            .args(["-c", sql])
            .env("TRACESQL_CACHE", folder.path());
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let peak = peak_memory(&mut child);
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        (peak, said)
    };
    // A window over about 12 million rows, which takes 1.3 GB without a limit.
    let (peak, said) = ask("SELECT max(x + y + z + n + length(name)) \
            FROM (SELECT a.name, a.end_ns AS x, b.event_id AS y, b.ts_ns AS z, sum(b.dur_ns) OVER \
            () AS n \
         FROM events a CROSS JOIN events b)");
    assert!(said.contains("error: ") && said.contains("limit of memory"), "{said}");
    // On a busy machine, the memory of the process is checked late.
    assert!(peak <= 450_000_000, "{} MB", peak / 1_000_000);
    let (_, said) = ask("SELECT count(DISTINCT concat(name, event_id)) FROM events");
    assert!(!said.contains("error"), "{said}");
}

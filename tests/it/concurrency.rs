//! Several processes that use one store, and processes that are killed.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracesql_ingest::Store;

use crate::support::{TestStore, texts};

/// A folder for traces and a store.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder") }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A trace with many operators on four threads. The names differ from those of other traces.
    fn trace(&self, name: &str, events: usize) -> PathBuf {
        let mut text = String::from("{\"traceEvents\":[\n");
        for i in 0..events {
            let comma = if i == 0 { "" } else { ",\n" };
            text += &format!(
                r#"{comma}{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{},"ts":{}.125,"dur":2,"args":{{"External id":{i}}}}}"#,
                i % 4,
                i * 3
            );
        }
        let path = self.folder.path().join(format!("{name}.json"));
        std::fs::write(&path, text + "\n]}").expect("a trace");
        path
    }

    fn ingest(&self, inputs: &[&Path], more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
        command
            .arg("ingest")
            .args(inputs)
            .args(more)
            .arg("-o")
            .arg(self.store())
            .stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        let store = TestStore {
            folder: TempDir::new().expect("a folder"),
            store: Store::open(&self.store()).expect("the store"),
        };
        store.lines(sql)
    }

    fn hidden(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.store()).expect("the store").flatten();
        entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .filter(|n| n.starts_with(".tmp"))
            .collect()
    }
}

/// Waits for all processes; returns their standard outputs.
fn all_succeed(children: Vec<Child>) -> Vec<String> {
    let outputs = children.into_iter().map(|c| c.wait_with_output().expect("it ends"));
    let check = |output: std::process::Output| {
        assert!(output.status.success(), "{}", texts(&output).1);
        texts(&output).0
    };
    outputs.map(check).collect()
}

#[test]
fn four_processes_ingest_the_same_file_once() {
    let place = Place::new();
    let trace = place.trace("same", 20_000);
    let children = (0..4).map(|_| place.ingest(&[&trace], &[]).spawn().expect("it runs")).collect();
    let names = all_succeed(children);
    assert!(names.iter().all(|n| *n == names[0]), "{names:?}");
    assert_eq!(place.rows("SELECT name, count(*) FROM events GROUP BY 1"), ["same 20000"]);
    assert_eq!(place.rows("SELECT count(*) FROM traces"), ["1"]);
    assert!(place.hidden().is_empty(), "{:?}", place.hidden());
}

#[test]
fn four_processes_ingest_different_files() {
    let place = Place::new();
    let traces: Vec<PathBuf> = (0..4).map(|i| place.trace(&format!("t{i}"), 5_000 + i)).collect();
    all_succeed(traces.iter().map(|t| place.ingest(&[t], &[]).spawn().expect("it runs")).collect());
    assert_eq!(
        place.rows("SELECT name, count(*) FROM events GROUP BY 1 ORDER BY 1"),
        ["t0 5000", "t1 5001", "t2 5002", "t3 5003"]
    );
    assert!(place.hidden().is_empty(), "{:?}", place.hidden());
}

#[test]
fn processes_that_replace_the_same_trace_leave_one() {
    let place = Place::new();
    let trace = place.trace("same", 5_000);
    for _ in 0..3 {
        all_succeed(
            (0..2)
                .map(|_| place.ingest(&[&trace], &["--replace"]).spawn().expect("it runs"))
                .collect(),
        );
    }
    assert_eq!(place.rows("SELECT name, count(*) FROM events GROUP BY 1"), ["same 5000"]);
    assert!(place.hidden().is_empty(), "{:?}", place.hidden());
}

#[test]
fn a_reader_sees_whole_traces_only() {
    let place = Place::new();
    let traces: Vec<PathBuf> = (0..12).map(|i| place.trace(&format!("t{i}"), 4_000)).collect();
    all_succeed(vec![place.ingest(&[&traces[0]], &[]).spawn().expect("it runs")]);
    let inputs: Vec<&Path> = traces.iter().map(PathBuf::as_path).collect();
    let mut writer = place.ingest(&inputs, &["--replace"]).spawn().expect("it runs");
    let (mut reads, mut seen) = (0, 1);
    while writer.try_wait().expect("it can be waited for").is_none() {
        // The tables are opened one after the other while traces are added and replaced.
        let rows = place.rows(
            "SELECT name, count(*), max(event_count) FROM events \
            JOIN traces USING (trace_id) GROUP BY 1",
        );
        assert!(rows.iter().all(|r| r.ends_with(" 4000 4000")), "{rows:?}");
        assert!(rows.len() >= seen, "traces do not go away");
        (reads, seen) = (reads + 1, rows.len());
    }
    all_succeed(vec![writer]);
    assert!(reads > 1, "only {reads} reads while the traces were written");
    assert_eq!(place.rows("SELECT count(*) FROM traces"), ["12"]);
}

#[test]
fn a_killed_process_leaves_the_store_as_it_was() {
    let place = Place::new();
    let trace = place.trace("killed", 200_000);
    let other = place.trace("other", 10);
    all_succeed(vec![place.ingest(&[&other], &[]).spawn().expect("it runs")]);
    let start = Instant::now();
    all_succeed(vec![place.ingest(&[&trace], &[]).spawn().expect("it runs")]);
    let mut whole = start.elapsed();
    let name = place.rows("SELECT trace_id FROM traces WHERE path LIKE '%killed.json'").remove(0);
    let forget =
        || Store::open(&place.store()).expect("the store").remove(&name).expect("it is there");
    forget();

    const KILLS: u32 = 20;
    let (mut died, mut left_behind, mut tries) = (0, 0, 0);
    while died < KILLS {
        tries += 1;
        assert!(tries <= 10 * KILLS, "only {died} of {tries} were killed in time");
        let start = Instant::now();
        let mut child = place.ingest(&[&trace], &[]).spawn().expect("it runs");
        let moment = whole * died / KILLS + Duration::from_millis(2);
        let mut ended = false;
        while start.elapsed() < moment && !ended {
            std::thread::sleep(Duration::from_millis(1));
            ended = child.try_wait().expect("it can be waited for").is_some();
        }
        if ended {
            // Other work on the machine slowed down the first measurement.
            whole = start.elapsed();
        }
        child.kill().expect("it can be killed");
        let status = child.wait().expect("it ends");
        assert!(status.success() || status.signal() == Some(9), "{status}");
        died += u32::from(!status.success());
        left_behind += usize::from(!place.hidden().is_empty());
        let rows = place.rows("SELECT name, count(*) FROM events GROUP BY 1 ORDER BY 1");
        let whole_or_nothing = rows == ["other 10"] || rows == ["killed 200000", "other 10"];
        assert!(whole_or_nothing, "after kill {died}: {rows:?}");
        if rows.len() == 2 {
            forget();
        }
    }
    assert!(left_behind > 0, "no kill came while files were written");

    all_succeed(vec![place.ingest(&[&trace], &[]).spawn().expect("it runs")]);
    assert!(place.hidden().is_empty(), "the next process cleans up: {:?}", place.hidden());
    assert_eq!(
        place.rows("SELECT name, count(*) FROM events GROUP BY 1 ORDER BY 1"),
        ["killed 200000", "other 10"]
    );
}

#[test]
fn folders_of_living_processes_are_left_alone() {
    let place = Place::new();
    let slow = place.trace("slow", 150_000);
    let quick = place.trace("quick", 10);
    let mut living = place.ingest(&[&slow], &[]).spawn().expect("it runs");
    while living.try_wait().expect("it can be waited for").is_none() {
        all_succeed(vec![place.ingest(&[&quick], &["--replace"]).spawn().expect("it runs")]);
    }
    all_succeed(vec![living]);
    assert_eq!(
        place.rows("SELECT name, count(*) FROM events GROUP BY 1 ORDER BY 1"),
        ["quick 10", "slow 150000"]
    );
}

/// The files of a store with their bytes, by path in the store.
fn files(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(store).expect("the store").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let path = file.path().strip_prefix(store).expect("in the store").to_owned();
            files.push((path, std::fs::read(file.path()).expect("a file")));
        }
    }
    files.sort();
    files
}

#[test]
fn small_traces_that_are_read_at_the_same_time_give_what_one_thread_gives() {
    let traces = Place::new();
    // The first takes longest. One file has the bytes of another, and one is no trace.
    let inputs = [15_000, 50, 300, 10, 900, 40].into_iter().enumerate();
    let mut inputs: Vec<_> =
        inputs.map(|(at, events)| traces.trace(&format!("trace{at}"), events)).collect();
    let folder = traces.folder.path().to_owned();
    std::fs::copy(&inputs[1], folder.join("same.json")).expect("a copy");
    std::fs::write(folder.join("damaged.json"), "{\"traceEvents\":[{\"ph\":").expect("a file");
    std::fs::write(folder.join("other.json"), "{\"a\":1}").expect("a file");
    inputs.insert(2, folder.join("damaged.json"));
    inputs.insert(4, folder.join("same.json"));
    inputs.insert(5, folder.join("other.json"));
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let results = ["1", "2", "8"].map(|threads| {
        let place = Place::new();
        let more = ["--threads", threads, "--verbose", "--memory-limit", "4GiB"];
        let output = place.ingest(&inputs, &more).output().expect("it runs");
        assert!(!output.status.success(), "{threads} threads: two inputs are no traces");
        let (out, messages) = texts(&output);
        // Times differ between runs.
        let messages = messages.lines().map(|line| line.split(" in ").next().unwrap_or(line));
        let messages: Vec<String> = messages.map(str::to_owned).collect();
        (threads, out, messages, files(&place.store()))
    });
    let [(_, out, messages, stored), others @ ..] = results;
    assert_eq!(out.lines().count(), 7, "{out}");
    assert!(out.lines().nth(1) == out.lines().nth(3), "equal bytes are one trace: {out}");
    for (threads, other_out, other_messages, other_stored) in others {
        assert_eq!(other_out, out, "{threads} threads");
        assert_eq!(other_messages, messages, "{threads} threads");
        assert!(other_stored == stored, "{threads} threads store other bytes");
    }
}

#[test]
fn a_folder_of_traces_is_opened_once_and_shows_their_present_names() {
    let (traces, cache) = (Place::new(), TempDir::new().expect("a folder"));
    let folder = traces.folder.path();
    for at in 0..5 {
        traces.trace(&format!("trace{at}"), 20 + at);
    }
    let open = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
        let sql = "SELECT path, element_count FROM traces ORDER BY path";
        command.current_dir(folder).env("TRACESQL_CACHE", cache.path());
        command.args([name, "-c", sql, "--format", "csv"]).stdin(Stdio::null());
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", texts(&output).1);
        texts(&output)
    };
    let (first, messages) = open(".");
    assert_eq!(first.lines().count(), 6, "{first}");
    assert!(messages.contains("5 traces"), "{messages}");
    assert_eq!(open("."), (first.clone(), String::new()));
    // Only what is new is read, and the others keep their traces.
    std::fs::rename(folder.join("trace1.json"), folder.join("trace9.json")).expect("renamed");
    traces.trace("trace5", 100);
    let (second, messages) = open(".");
    assert_eq!(second.lines().count(), 7, "{second}");
    assert!(second.contains("trace9.json,21") && !second.contains("trace1.json"), "{second}");
    assert!(second.contains("trace5.json,100"), "{second}");
    assert!(messages.contains("100 events"), "{messages}");
}

//! Inputs that are damaged, of another kind, or hostile. For each case, the tests check what the
//! program reports and does.
//!
//! Verdicts: `ok` means that everything is read without a warning. `warn` means that the valid part
//! is read and one line reports the rest. `error` means that nothing is stored, the exit code is 3
//! and one line gives the reason. `--strict` turns warnings into errors. Nothing ever panics.

mod cases;
mod mutations;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tracesql_ingest::Store;

use crate::support::{TestStore, needs, root, texts, tracesql};

/// The expected result for an input.
struct Case {
    file: String,
    verdict: String,
    events: String,
    says: String,
}

/// The cases in a table, whose columns are the file, the verdict, the number of events and one
/// more.
fn table(path: &Path, columns: [usize; 4]) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let case = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |i: usize| {
            fields
                .get(columns[i])
                .unwrap_or_else(|| panic!("{line:?} has too few fields"))
                .to_string()
        };
        Case { file: field(0), verdict: field(1), events: field(2), says: field(3) }
    };
    text.lines().skip(1).map(case).collect()
}

/// Ingests a file with the program; returns the differences from the expectation.
fn check(path: &Path, case: &Case) -> Vec<String> {
    let store = TempDir::new().expect("a folder");
    let root = store.path().join("store");
    let (input, output) = (path.to_str().expect("a name"), root.to_str().expect("a name"));
    let run = tracesql(&["ingest", input, "-o", output]);
    let (stdout, stderr) = texts(&run);
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            wrong.push(format!(
                "{}: {what}\n    {}",
                case.file,
                stderr.trim_end().replace('\n', "\n    ")
            ));
        }
    };
    let lines = |start: &str| {
        stderr.lines().filter(|l| l.starts_with(start)).map(str::to_owned).collect::<Vec<String>>()
    };
    let (errors, warnings) = (lines("error: "), lines("warning: "));
    expect(!stderr.contains("panicked"), "it panicked".into());
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    if case.verdict == "error" {
        expect(
            run.status.code() == Some(3),
            format!("exit code {:?} for an error", run.status.code()),
        );
        expect(errors.len() == 1 && stderr.lines().count() == 1, "an error is one line".into());
        expect(stderr.contains(&name), "the error names the file".into());
        expect(stderr.contains(&case.says), format!("the error says {:?}", case.says));
        expect(stdout.is_empty(), "there is no result".into());
        expect(
            Store::open(&root).map_or(0, |s| s.traces().map_or(99, |t| t.len())) == 0,
            "nothing is stored".into(),
        );
        return wrong;
    }
    expect(run.status.code() == Some(0), format!("exit code {:?}", run.status.code()));
    expect(errors.is_empty(), "there is no error".into());
    expect(
        warnings.len() == usize::from(case.verdict == "warn"),
        format!("{} warnings for {}", warnings.len(), case.verdict),
    );
    expect(
        warnings.iter().all(|w| w.contains(&name) && w.contains(&case.says)),
        format!("the warning names the file and says {:?}", case.says),
    );
    if run.status.code() == Some(0) {
        let opened = TestStore { folder: store, store: Store::open(&root).expect("the store") };
        // A begin event and its end event count as one.
        let events = opened.value("SELECT count(*) FROM events WHERE ph <> 'E'");
        let right = if case.events == "some" { events != "0" } else { events == case.events };
        expect(right, format!("{events} events, not {}", case.events));
        strict(input, case, &mut wrong);
    }
    wrong
}

/// `--strict` rejects any input that is not clean and stores nothing from it.
fn strict(input: &str, case: &Case, wrong: &mut Vec<String>) {
    let store = TempDir::new().expect("a folder");
    let root = store.path().join("store");
    let run = tracesql(&["ingest", "--strict", input, "-o", root.to_str().expect("a name")]);
    let code = if case.verdict == "warn" { 3 } else { 0 };
    let traces = Store::open(&root).expect("the store").traces().expect("its traces").len();
    if run.status.code() != Some(code) || traces != usize::from(code == 0) {
        wrong.push(format!(
            "{}: --strict: exit code {:?}, {traces} traces; {}",
            case.file,
            run.status.code(),
            texts(&run).1
        ));
    }
}

/// Checks all cases on two threads.
fn check_all(cases: &[(PathBuf, Case)]) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((path, case)) =
                    cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let found = check(path, case);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn bad_inputs_of_our_own_get_their_verdict() {
    let folder = TempDir::new().expect("a folder");
    let cases = table(&root().join("tests/expected/bad_inputs.tsv"), [0, 1, 2, 3]);
    assert!(cases.len() > 70);
    let cases: Vec<_> = cases
        .into_iter()
        .map(|case| {
            let path = folder.path().join(&case.file);
            cases::write(&path, &case.file);
            (path, case)
        })
        .collect();
    check_all(&cases);
}

#[test]
fn bad_inputs_of_the_corpus_get_their_verdict() {
    let Some(corpus) = needs::corpus() else { return };
    let folder = TempDir::new().expect("a folder");
    let made = Command::new("python3")
        .arg(corpus.join("make/bad_inputs.py"))
        .arg(folder.path())
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("python3 runs").success());
    let mut cases = table(&folder.path().join("BAD_INPUTS.tsv"), [0, 2, 3, 1]);
    assert!(cases.len() > 150);
    for case in &mut cases {
        case.says.clear();
        let (verdict, events) = match case.file.as_str() {
            // Archives are supported. This one contains one trace.
            "zip_archive.json" => ("ok", "3"),
            // Elements with an unknown phase become rows, except an element whose phase is a
            // number.
            "ph_odd.json" => ("warn", "4"),
            // Execution traces are read.
            "execution_trace.json" => ("ok", "1"),
            // A size of 2^63 does not fit in the column, which causes a warning.
            "perf_huge.json" => ("warn", "1"),
            _ => continue,
        };
        (case.verdict, case.events) = (verdict.to_owned(), events.to_owned());
    }
    let cases: Vec<_> =
        cases.into_iter().map(|case| (folder.path().join(&case.file), case)).collect();
    check_all(&cases);
}

#[test]
fn memory_does_not_follow_what_a_small_file_unpacks_to() {
    let folder = TempDir::new().expect("a folder");
    for (name, most_mebibytes) in [
        ("bomb_spaces.json.zst", 200),
        ("bomb_one_string.json.zst", 400),
        ("deep_unclosed.json", 200),
    ] {
        let path = folder.path().join(name);
        cases::write(&path, name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_tracesql"))
            .args(["ingest", "--threads", "2", path.to_str().expect("a name"), "-o"])
            .arg(folder.path().join("store"))
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program runs");
        let peak = crate::support::peak_memory(&mut child);
        assert!(peak < most_mebibytes << 20, "{name}: {} MiB", peak >> 20);
    }
}

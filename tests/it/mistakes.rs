//! Mistakes that people make, each with the call, its exit code, and the answer: what to do.
//!
//! `tests/expected/mistakes.tsv` is the table. Its columns are the exit code, the call as a shell
//! takes it, and texts that its output must contain. Rows with exit code 0 are calls that other
//! tools refuse or that look wrong, and that work here.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::support::{fixture, root, texts, within_a_minute};

/// The columns of a row of the table.
struct Mistake {
    code: i32,
    call: String,
    answers: Vec<String>,
}

fn table() -> Vec<Mistake> {
    let path = root().join("tests/expected/mistakes.tsv");
    let text = std::fs::read_to_string(path).expect("the table");
    let row = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let code = fields.next().and_then(|f| f.parse().ok());
        Mistake {
            code: code.unwrap_or_else(|| panic!("no exit code: {line}")),
            call: fields.next().unwrap_or_else(|| panic!("no call: {line}")),
            answers: fields.collect(),
        }
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

/// A folder with traces, stores, and files that are neither.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: TempDir::new().expect("a folder") };
        for folder in ["bin", "traces", "empty"] {
            std::fs::create_dir(place.path(folder)).expect("a folder");
        }
        symlink(env!("CARGO_BIN_EXE_tracesql"), place.path("bin/tracesql")).expect("a link");
        for (from, to) in [
            ("synthetic_gpu_rank0.json.gz", "rank0.json.gz"),
            ("synthetic_gpu_rank1.json.gz", "rank1.json.gz"),
            ("synthetic_gpu_rank0.json.gz", "trace.json.gz"),
            ("chrome_mixed.json", "mixed.json"),
            ("chrome_mixed.json", "traces/mixed.json"),
        ] {
            std::fs::copy(fixture(from), place.path(to)).expect("a copy");
        }
        for (name, text) in [
            ("empty.json", ""),
            ("notes.txt", "bring milk\n"),
            ("table.csv", "a,b\n1,2\n"),
            ("foreign.parquet", "PAR1 not of a store PAR1"),
            ("report.sql", "SELECT count(*) FROM events"),
        ] {
            std::fs::write(place.path(name), text).expect("a file");
        }
        let made = place.shell(
            "tracesql ingest -q rank0.json.gz rank1.json.gz -o runs/base &&
             tracesql ingest -q mixed.json -o runs/new",
        );
        assert!(made.status.success(), "{}", texts(&made).1);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn shell(&self, script: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-c", script])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("TRACESQL_CACHE", self.path("cache"))
            .env("NO_COLOR", "1")
            .stdin(std::process::Stdio::null());
        within_a_minute(&mut command)
    }

    /// The difference of a call's outcome from the table; `None` if there is none.
    fn difference(&self, mistake: &Mistake) -> Option<String> {
        let output = self.shell(&mistake.call);
        let (stdout, stderr) = texts(&output);
        let all = stdout + &stderr;
        let missing: Vec<&String> =
            mistake.answers.iter().filter(|answer| !all.contains(*answer)).collect();
        let is_right = output.status.code() == Some(mistake.code)
            && missing.is_empty()
            && !all.contains("panicked");
        let shown = all.lines().take(8).collect::<Vec<_>>().join("\n      ");
        (!is_right).then(|| {
            format!(
                "{}\n    exit code {:?}, not {}; missing: {missing:?}\n      {shown}",
                mistake.call,
                output.status.code(),
                mistake.code
            )
        })
    }
}

#[test]
fn every_mistake_is_answered_with_what_to_do() {
    let (place, mistakes) = (Place::new(), table());
    assert!(mistakes.len() >= 60, "{} mistakes", mistakes.len());
    let (next, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(mistake) = mistakes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = place.difference(mistake);
                    differences.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(
        differences.is_empty(),
        "{} of {} mistakes:\n{}",
        differences.len(),
        mistakes.len(),
        differences.join("\n")
    );
}

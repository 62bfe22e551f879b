//! Runs everything that the documentation shows: examples of `--help`, and the code in README.md
//! and docs/.

mod help;
mod links;
mod markdown;
mod questions;
mod snippets;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{needs, root, texts, tracesql_in, within_a_minute};

/// Replacements for programs that examples use but that a test cannot run. They consume their
/// input. `go` and `man` read the file that they are given.
const STAND_INS: [(&str, &str); 4] = [
    // `cargo run … -- ARGS` and `cargo install` refer to the built program.
    (
        "cargo",
        r#"[ "$1" = run ] || exit 0
while [ "$1" != -- ]; do shift; done
shift
exec tracesql "$@""#,
    ),
    ("go", r#"for last; do :; done; gzip -t "$last""#),
    ("jq", "grep -q '^{'"),
    ("man", r#"for last; do :; done; grep -q '^.TH' "$last""#),
];

/// A folder in which examples run.
struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with the files of a checkout that examples use.
    fn checkout() -> Self {
        let place = Self { folder: TempDir::new().expect("a folder") };
        let bin = place.path("bin");
        std::fs::create_dir(&bin).expect("a folder");
        // Fixtures are made to have findings, so `check` and `compare` exit with 1. The script must
        // continue after that.
        let built = env!("CARGO_BIN_EXE_tracesql");
        let program = format!(
            r#"case "$1" in
check|compare) '{built}' "$@" || [ $? = 1 ];;
*) exec '{built}' "$@";;
esac"#
        );
        for (name, script) in STAND_INS.into_iter().chain([("tracesql", program.as_str())]) {
            place.write(&format!("bin/{name}"), &format!("#!/bin/bash\nset -e\n{script}\n"));
            place.runs(&format!("chmod +x bin/{name}"));
        }
        for name in ["fixtures", "sql", "docs", "skills"] {
            std::os::unix::fs::symlink(root().join(name), place.path(name)).expect("a link");
        }
        place
    }

    /// A checkout with copies of fixtures under all the file names that examples use.
    fn new() -> Self {
        let place = Self::checkout();
        place.write(
            "report.sql",
            "SELECT step, end_ns - start_ns AS ns FROM steps WHERE step = coalesce($step, step)",
        );
        place.runs(
            "mkdir -p runs/a traces my-rules ci/rules
             for rank in 0 1; do
               cp fixtures/synthetic_gpu_rank$rank.json.gz rank$rank.json.gz
               cp rank$rank.json.gz runs/a/
               cp rank$rank.json.gz rank$rank.pt.trace.json.gz
               cp rank$rank.json.gz traces/rank$rank.pt.trace.json.gz
             done
             for copy in trace base new; do cp rank0.json.gz $copy.json.gz; done
             gzip -dc trace.json.gz > big.json
             cp fixtures/perf.json .
             cp docs/examples/ci/{assertions.sql,thresholds.csv} .
             cp docs/examples/ci/rules/*.sql my-rules/
             cp my-rules/* ci/rules/ && cp assertions.sql thresholds.csv ci/
             tracesql ingest --quiet rank{0,1}.json.gz -o runs/base > names
             for copy in runs/new store baseline candidate main-store; do
               cp -r runs/base $copy
             done
             tracesql ingest --quiet trace.json.gz -o store --replace > /dev/null
             tracesql check store --save-baseline baseline.json > /dev/null
             cp baseline.json ci/",
        );
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path =
            format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        command
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("NO_COLOR", "1")
            .env("HOME", self.folder.path());
        command
            .env("TRACESQL_CACHE", self.path(".cache/tracesql"))
            .stdin(std::process::Stdio::null());
        command
    }

    /// Runs a shell script.
    fn shell(&self, script: &str) -> Output {
        within_a_minute(self.command("bash").args(["-euo", "pipefail", "-c", script]))
    }

    /// Runs a script that prepares a test.
    fn runs(&self, script: &str) {
        let output = self.shell(script);
        assert!(output.status.success(), "{script}\n{}", texts(&output).1);
    }
}

/// The help of a command, or of the program. It is not wrapped, so that examples keep their lines.
fn help(command: &str) -> String {
    let args: &[&str] = if command.is_empty() { &["--help"] } else { &[command, "--help"] };
    texts(&tracesql_in(Path::new("."), args, &[("COLUMNS", Path::new("500"))])).0
}

/// The names of all commands.
fn commands() -> Vec<String> {
    let help = help("");
    let list = help
        .split("\nCommands:\n")
        .nth(1)
        .expect("a list of commands")
        .split("\n\n")
        .next()
        .expect("its end")
        .to_owned();
    // Longer descriptions continue in lines with more indentation.
    let names = list
        .lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next());
    names.filter(|n| *n != "help").map(str::to_owned).collect()
}

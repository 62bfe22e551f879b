//! `tracesql check`: rules, assertions, baselines.

mod assertions;
mod baseline;
mod composed_rules;
mod environment;
mod example;
mod formats;
mod rules;
mod run;

use std::path::PathBuf;

use tempfile::TempDir;

use crate::support::{fixture, texts, tracesql_in};

/// A folder with stores of fixtures. The program runs in it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with a store for each of these fixtures. The name of a store is that of its fixture
    /// up to the first dot.
    pub fn new(fixtures: &[&str]) -> Self {
        let place = Self { folder: TempDir::new().expect("a folder") };
        for name in fixtures {
            let path = fixture(name);
            let store = name.split('.').next().expect("a name");
            let (_, code, stderr) =
                place.run(&["ingest", "-q", path.to_str().expect("a path"), "-o", store]);
            assert_eq!(code, 0, "{stderr}");
        }
        place
    }

    /// The two ranks of the synthetic job.
    pub fn ranks() -> Self {
        Self::new(&["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        std::fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// Runs the program; returns standard output, exit code and standard error.
    pub fn run(&self, args: &[&str]) -> (String, i32, String) {
        let output =
            tracesql_in(self.folder.path(), args, &[("TRACESQL_CACHE", &self.path("cache"))]);
        let (stdout, stderr) = texts(&output);
        (stdout, output.status.code().expect("an exit code"), stderr)
    }

    /// Runs a call that must end with this exit code; returns standard output and error together.
    pub fn ends(&self, code: i32, args: &[&str]) -> String {
        let (stdout, found, stderr) = self.run(args);
        assert_eq!(found, code, "{args:?}\n{stdout}\n{stderr}");
        stdout + &stderr
    }

    /// Runs `check` without the library's rules, which are tested separately.
    pub fn check(&self, code: i32, args: &[&str]) -> String {
        let mut all = vec!["check"];
        all.extend(args);
        all.extend(["--skip", "all"]);
        self.ends(code, &all)
    }

    /// The outcome of `check` as JSON, without the library's rules.
    pub fn json(&self, code: i32, args: &[&str]) -> serde_json::Value {
        let mut all = vec!["check"];
        all.extend(args);
        all.extend(["--format", "json"]);
        if !args.contains(&"--rule") {
            all.extend(["--skip", "all"]);
        }
        let (stdout, found, stderr) = self.run(&all);
        assert_eq!(found, code, "{args:?}\n{stdout}\n{stderr}");
        serde_json::from_str(&stdout).expect("JSON")
    }
}

/// The titles of the checks with this status, sorted.
pub fn of_status(json: &serde_json::Value, status: &str) -> Vec<String> {
    let checks = json["checks"].as_array().expect("checks");
    let title = |c: &serde_json::Value| {
        let subject = c["subject"].as_str().map(|s| format!(" [{s}]")).unwrap_or_default();
        format!("{}{subject}", c["name"].as_str().expect("a name"))
    };
    let mut titles: Vec<String> =
        checks.iter().filter(|c| c["status"] == status).map(title).collect();
    titles.sort();
    titles
}

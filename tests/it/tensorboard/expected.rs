//! The expected figures and their traces.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::root;

/// The plugin's figures for one trace.
pub struct Expected {
    name: String,
    worker: String,
    /// `plain`: the trace unchanged. `relink`: the plugin gets today's names and links by nesting,
    /// with times in ns.
    pub mode: &'static str,
    /// The trace.
    pub trace: PathBuf,
    /// The plugin's figures for the worker.
    pub figures: Value,
}

impl Expected {
    /// Reads `NAME.MODE.json.gz` if it exists, and selects a worker (`*` for the only one).
    pub fn read(
        folder: &Path,
        name: &str,
        mode: &'static str,
        worker: &str,
        trace: PathBuf,
    ) -> Option<Self> {
        let file = std::fs::File::open(folder.join(format!("{name}.{mode}.json.gz"))).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .expect("expected figures unpack");
        // Python writes NaN for memory totals that were not recorded. The tests do not read them.
        let mut all: Value = serde_json::from_str(&text.replace(": NaN", ": null"))
            .expect("expected figures are JSON");
        let workers = all["workers"].as_array_mut().expect("workers");
        let at = workers
            .iter()
            .position(|w| worker == "*" || w["worker"] == worker)
            .unwrap_or_else(|| panic!("{name} has no worker {worker}"));
        assert!(worker != "*" || workers.len() == 1, "{name} has several workers");
        Some(Self {
            name: name.to_owned(),
            worker: worker.to_owned(),
            mode,
            trace,
            figures: workers.swap_remove(at),
        })
    }

    /// The name of the trace with the mode, as in reports and in the list of differences.
    pub fn name(&self) -> String {
        if self.worker == "*" {
            format!("{}.{}", self.name, self.mode)
        } else {
            format!("{}.{}.{}", self.name, self.worker, self.mode)
        }
    }
}

/// The public traces with expected figures: name, worker, and path in the corpus.
pub fn traces() -> Vec<(String, String, String)> {
    let text =
        std::fs::read_to_string(root().join("tests/expected/tb/traces.tsv")).expect("traces.tsv");
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, worker, path] = fields[..] else { panic!("{line:?} has not three fields") };
        (name.to_owned(), worker.to_owned(), path.to_owned())
    };
    text.lines().skip(1).map(line).collect()
}

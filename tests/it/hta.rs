//! Compares the views `hta_*` with the results of Holistic Trace Analysis 0.6.1 (`traceinsight` on
//! PyPI) for public traces, row by row. The results are next to the corpus.
//!
//! Integers and texts must be equal, and floats within 1e-6, but for the places that
//! `Check::loose` names: HTA rounds some figures, and it leaves the order of equal times open, which
//! moves figures of queue lengths. Every other difference is in `DIFFERENCES` with its reason.

mod checks;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, needs, rows_of};
use checks::{CHECKS, Check};

/// Differences by set, figures and number of rows, with the reason.
const DIFFERENCES: &[(&str, &str, usize, &str)] = &[(
    "ns_resolution_trace",
    "memory_bw_summary",
    1,
    "HTA counts points at which only rests of rounding remain, such as 1.1e-16 GB/s",
)];

/// Sets of traces of the corpus: the folder with HTA's results, and the traces.
const SETS: &[(&str, &[&str])] = &[
    ("amd_trace", &["HolisticTraceAnalysis/tests/data/amd_trace"]),
    ("critical_path_alexnet", &["HolisticTraceAnalysis/tests/data/critical_path/alexnet"]),
    (
        "critical_path_cuda_event_sync",
        &["HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync"],
    ),
    (
        "critical_path_cuda_event_sync_multi_stream",
        &["HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync_multi_stream"],
    ),
    (
        "critical_path_simple_add",
        &["HolisticTraceAnalysis/tests/data/critical_path/end_to_end/simple_add/input"],
    ),
    ("dlrm8", &["param/dlrm_kineto"]),
    ("mtia_inference_trace", &["HolisticTraceAnalysis/tests/data/mtia_inference_trace"]),
    ("nccl_parser_config", &["HolisticTraceAnalysis/tests/data/nccl_parser_config"]),
    ("ns_resolution_trace", &["HolisticTraceAnalysis/tests/data/ns_resolution_trace"]),
    ("tl_b200_eager_trace", &["TraceLens/tests/traces/b200"]),
    (
        "tl_h100_gaunernst_bert-small-uncased__1016001",
        &["TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz"],
    ),
    (
        "tl_mi300_gaunernst_bert-small-uncased__1016001",
        &["TraceLens/tests/traces/mi300/gaunernst_bert-small-uncased__1016001.json.gz"],
    ),
    ("trace_compare", &["HolisticTraceAnalysis/tests/data/trace_compare/base"]),
    (
        "trace_filter",
        &[
            "HolisticTraceAnalysis/tests/data/timeline_analysis",
            "HolisticTraceAnalysis/tests/data/trace_filter",
        ],
    ),
    ("triton_example", &["HolisticTraceAnalysis/tests/data/triton_example"]),
];

/// The command that wrote the traces of the set `job8_hta`, whose results are with the generator.
const JOB8: &str = "--hta --ranks 8 --tp 2 --pp 2 --steps 4 --seed 1 --moe --zero --flows \
    --nccl-args seq --slow 5:-1:1.2 --slow-load 2:4:6000 --pause 0:5:5000";

#[test]
fn views_have_the_figures_of_hta() {
    let Some(expected) = needs::in_corpus("../oracle/expected/hta-0.6.1") else { return };
    let mut tally = Tally::default();
    for (set, traces) in SETS {
        let store = TestStore::new();
        for trace in *traces {
            let Some(trace) = needs::in_corpus(&format!("public/{trace}")) else { return };
            ingest(&store, &trace);
        }
        tally.compare(set, &expected.join(set), &store);
    }
    assert!(tally.rows > 5_000, "hardly anything was compared: {} rows", tally.rows);
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
}

#[test]
fn views_have_the_figures_of_hta_for_a_made_up_job() {
    let Some(expected) = needs::in_corpus("../ranks/expected/hta-0.6.1/job8_hta") else { return };
    let Some(generator) = needs::in_corpus("../ranks/make_job.py") else { return };
    let Some(python) = needs::python() else { return };
    let store = TestStore::new();
    let job = store.folder.path().join("job8_hta");
    let made = Command::new(python)
        .arg(generator)
        .arg("--out")
        .arg(&job)
        .args(JOB8.split_whitespace())
        .output()
        .expect("Python runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    ingest(&store, &job);
    let mut tally = Tally::default();
    tally.compare("job8_hta", &expected, &store);
    assert!(tally.rows > 1_500, "hardly anything was compared: {} rows", tally.rows);
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
}

/// Reads a trace, or all traces of a folder.
fn ingest(store: &TestStore, path: &Path) {
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    } else {
        vec![path.to_owned()]
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "gz"));
    files.sort();
    for file in files {
        store.ingest(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
}

#[derive(Default)]
struct Tally {
    rows: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Compares all figures that HTA has for a set.
    fn compare(&mut self, set: &str, expected: &Path, store: &TestStore) {
        for check in CHECKS {
            let Ok(text) = std::fs::read(expected.join(format!("{}.json", check.file))) else {
                continue;
            };
            let document: Value = serde_json::from_slice(&text).expect("JSON");
            let rows = document["rows"].as_array().expect("rows");
            let settings = check.settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            let options =
                EngineOptions { settings: settings.collect(), ..EngineOptions::default() };
            let engine = Engine::open(&store.store, None, &options).expect("the store opens");
            let mut found =
                rows_of(&engine, check.sql).unwrap_or_else(|e| panic!("{set} {}: {e}", check.file));
            let mut wanted: Vec<Vec<String>> = (check.wanted)(rows);
            let key = |row: &Vec<String>| -> Vec<String> {
                check.key.iter().map(|&at| row[at].clone()).collect()
            };
            found.sort_by_cached_key(key);
            wanted.sort_by_cached_key(key);
            self.rows += wanted.len();
            let differ: Vec<String> = wanted
                .iter()
                .zip(&found)
                .filter(|(wanted, found)| !is_equal(check, wanted, found))
                .map(|(wanted, found)| format!("\n  HTA {wanted:?}\n  ours {found:?}"))
                .collect();
            let known = DIFFERENCES
                .iter()
                .find(|(of, file, ..)| of == &set && *file == check.file)
                .map_or(0, |(_, _, rows, _)| *rows);
            if wanted.len() != found.len() || differ.len() != known {
                self.wrong.push(format!(
                    "{set} {}: {} rows of HTA, {} of ours, {} differ, {known} are known to{}",
                    check.file,
                    wanted.len(),
                    found.len(),
                    differ.len(),
                    differ.first().map_or("", String::as_str)
                ));
            }
        }
    }
}

fn is_equal(check: &Check, wanted: &[String], found: &[String]) -> bool {
    let cells = wanted.iter().zip(found).enumerate();
    wanted.len() == found.len()
        && cells.into_iter().all(|(at, (wanted, found))| {
            match (wanted.parse::<f64>(), found.parse::<f64>()) {
                (Ok(wanted), Ok(found)) => {
                    let loose = check.loose.iter().find(|(column, _)| *column == at);
                    let most = loose.map_or(1e-6, |(_, most)| *most);
                    (wanted - found).abs() <= most * wanted.abs().max(found.abs()).max(1.0)
                }
                _ => wanted == found,
            }
        })
}

//! The device timeline against a recount in Python (`tests/oracle/gpu_timeline.py`): fixtures always, the corpus where it is at hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::{TestStore, corpus, root};

const FIGURES: &str = "gpu_events, computation_time_ns, exposed_comm_time_ns, exposed_memcpy_time_ns, busy_time_ns, idle_time_ns, \
    total_time_ns, total_comm_time_ns, total_memcpy_time_ns";

/// A line of expected figures: which rows it counts, on which device, and what they are.
struct Expected {
    rows: String,
    device: String,
    figures: Vec<String>,
}

fn expected() -> BTreeMap<String, Vec<Expected>> {
    let text = std::fs::read_to_string(root().join("tests/expected/gpu_timeline.tsv")).expect("the expected figures");
    let mut traces = BTreeMap::<String, Vec<Expected>>::new();
    for line in text.lines().skip(1) {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [trace, rows, device, figures @ ..] = fields.as_slice() else { panic!("a line of too few fields: {line}") };
        traces.entry(trace.clone()).or_default().push(Expected { rows: rows.clone(), device: device.clone(), figures: figures.to_vec() });
    }
    traces
}

/// The views as files, so that the linked rows can be measured with the same text.
fn view(name: &str) -> String {
    std::fs::read_to_string(root().join("sql/timeline").join(name)).expect("the view's file")
}

fn check(traces: Vec<(PathBuf, Vec<Expected>)>) {
    let store = TestStore::new();
    let mut ids = Vec::new();
    for (path, _) in &traces {
        ids.push(store.ingest(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).manifest.trace_id);
    }
    let figures = |sql: &str, device: &str| -> Vec<Vec<String>> { store.rows(&format!("SELECT trace_id, {device}, {FIGURES} FROM ({sql})")) };
    let whole = view("gpu_timeline.sql");
    let linked = whole.replace("FROM kernels\n", "FROM (SELECT * FROM kernels WHERE launch_id IS NOT NULL)\n");
    assert_ne!(whole, linked, "the view reads kernels");
    let found = [
        ("all", figures(&whole, "''")),
        ("linked", figures(&linked, "''")),
        ("device", figures(&view("gpu_timeline_by_device.sql"), "coalesce(CAST(device AS VARCHAR), 'NULL')")),
    ];
    let mut differences = Vec::new();
    for ((path, wanted), id) in traces.iter().zip(&ids) {
        for (rows, found) in &found {
            let mut own: Vec<&[String]> = found.iter().filter(|r| r[0] == *id).map(|r| &r[1..]).collect();
            let mut want: Vec<Vec<String>> =
                wanted.iter().filter(|w| w.rows == *rows).map(|w| [std::slice::from_ref(&w.device), w.figures.as_slice()].concat()).collect();
            own.sort();
            want.sort();
            if own != want {
                differences.push(format!("{} {rows}:\n  found  {own:?}\n  wanted {want:?}", path.display()));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn fixtures_have_the_expected_timeline() {
    let fixtures = expected().into_iter().filter(|(trace, _)| trace.starts_with("fixtures/"));
    let fixtures: Vec<_> = fixtures.map(|(trace, expected)| (root().join(trace), expected)).collect();
    assert!(fixtures.len() >= 2);
    check(fixtures);
}

#[test]
fn public_traces_have_the_expected_timeline() {
    let Some(corpus) = corpus() else {
        eprintln!("left out: the corpus of public traces is not beside the project");
        return;
    };
    let traces = expected().into_iter().filter(|(trace, _)| !trace.starts_with("fixtures/"));
    let traces: Vec<_> = traces.map(|(trace, expected)| (corpus.join(trace), expected)).collect();
    assert!(traces.len() > 30, "only {} traces are expected", traces.len());
    check(traces);
}

//! Reports: the specification of the JSON, the limits, hostile names, and the page in a browser.

mod bounds;
mod contract;
pub mod injection;
mod page;
mod texts;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{TestStore, fixture, texts as output_texts, tracesql_in};

/// A store with these fixtures.
fn store(names: &[&str]) -> TestStore {
    let store = TestStore::new();
    for name in names {
        store.ingest(&fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    store
}

/// A store with both ranks of the synthetic job.
fn job() -> TestStore {
    store(&["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"])
}

/// The report on a store in this format, from standard output.
fn report(store: &TestStore, format: &str, more: &[&str]) -> String {
    let root = store.store.root().to_string_lossy().into_owned();
    let columns = Path::new("80");
    let out = tracesql_in(
        Path::new("."),
        &[&["report", &root, "--format", format, "-q"], more].concat(),
        &[("COLUMNS", columns)],
    );
    let (stdout, stderr) = output_texts(&out);
    assert!(out.status.success(), "{format} {more:?}: {stderr}");
    stdout
}

fn json(store: &TestStore, more: &[&str]) -> Value {
    serde_json::from_str(&report(store, "json", more)).expect("JSON")
}

/// The report as a page in the folder of the store.
fn page(store: &TestStore) -> PathBuf {
    let path = store.folder.path().join("report.html");
    let (root, file) = (store.store.root().to_string_lossy(), path.to_string_lossy());
    let out = tracesql_in(Path::new("."), &["report", &root, "-o", &file, "-q"], &[]);
    assert!(out.status.success(), "{}", output_texts(&out).1);
    path
}

/// The rows of a section.
fn rows<'a>(report: &'a Value, section: &str) -> &'a Vec<Value> {
    report["sections"][section]["rows"].as_array().unwrap_or_else(|| panic!("{section} has rows"))
}

/// The sum of a column over rows and remainders.
fn total(report: &Value, section: &str, column: &str) -> i64 {
    let whole = |v: &Value| v.as_i64().unwrap_or(0);
    let rests = report["sections"][section]["rest"].as_array().expect("rests");
    rows(report, section).iter().map(|r| whole(&r[column])).sum::<i64>()
        + rests.iter().map(|r| whole(&r["sums"][column])).sum::<i64>()
}

//! Exports: Chrome traces that can be read again as the same rows, merged traces, selections and
//! tables.

mod arbitrary_texts;
mod from_start;
mod merged;
mod round_trip;
mod selections;
mod tables;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::export::{
    ChromeRequest, Extras, PerfRequest, Selection, Written, chrome, perf, traces,
};
use tracesql::output::Target;

use crate::support::TestStore;

/// Writes all traces of a store to a Chrome trace.
fn export(store: &TestStore, selection: Selection, path: &Path) -> Written {
    export_with(store, path, &EngineOptions::default(), |request| ChromeRequest {
        selection,
        ..request
    })
}

fn export_with(
    store: &TestStore,
    path: &Path,
    options: &EngineOptions,
    change: impl FnOnce(ChromeRequest) -> ChromeRequest,
) -> Written {
    let engine = Engine::open(&store.store, None, options).expect("the store opens");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let traces = traces(&engine).await.expect("traces");
        let request = ChromeRequest {
            traces,
            selection: Selection::default(),
            extras: Extras::default(),
            gzip: false,
            memory: 0,
            from_start: false,
        };
        chrome(&engine, &change(request), &Target::File(path.to_owned()))
            .await
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    })
}

/// Exports the traces of a store and reads the file into another store.
fn again(store: &TestStore, selection: Selection) -> (TestStore, PathBuf, Written) {
    let path = store.folder.path().join("exported.json");
    let written = export(store, selection, &path);
    let (other, _) = TestStore::with(&path);
    (other, path, written)
}

/// Exports a store with one trace to a perf.json and reads it into another store.
fn perf_again(store: &TestStore, selection: Selection) -> (TestStore, PathBuf, Written) {
    let path = store.folder.path().join("exported.json");
    let engine = store.engine();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let written = runtime.block_on(async {
        let trace = traces(&engine).await.expect("traces").remove(0);
        perf(&engine, &PerfRequest { trace, selection, gzip: false }, &Target::File(path.clone()))
            .await
            .unwrap_or_else(|e| panic!("{e}"))
    });
    let (other, _) = TestStore::with(&path);
    (other, path, written)
}

/// The elements of a Chrome trace.
fn elements(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the file");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    match document["traceEvents"].take() {
        Value::Array(elements) => elements,
        other => panic!("no list of events: {other}"),
    }
}

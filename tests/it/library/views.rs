//! Every view runs on every store, and its numbers are finite.

use tracesql::library::{Body, Library, View};

use super::rows::rows_of_all;
use super::{library, short};
use crate::support::{PIPELINE, TestStore, bottlenecks, fixture, fixtures, rows_of_each};

/// Views about names. Their rows belong to no trace.
const OF_THE_STORE: &[&str] = &["kernel_names", "operator_forms"];

/// Views that have no rows for any fixture, with the reason.
const EMPTY: &[(&str, &str)] = &[];

#[test]
fn comments_hold_together() {
    let library = library();
    assert_eq!(library.problems(), []);
    for view in library.public_views() {
        assert!(
            view.columns.iter().any(|c| c.name == "trace_id" || c.name == "job")
                || view.file.contains("rules")
                || is_data(&library, &view.name)
                || OF_THE_STORE.contains(&view.name.as_str()),
            "{}: neither trace_id nor job",
            view.file
        );
    }
}

fn is_data(library: &Library, name: &str) -> bool {
    library.view(name).is_some_and(|v| matches!(v.body, Body::Data(_)))
}

#[test]
fn every_view_runs_on_all_fixtures_together_and_has_rows() {
    let store = bottlenecks();
    for name in [
        "beside/execution/rank0.et.json",
        "beside/execution/rank0.pt.trace.json",
        "beside/samples.folded",
        "beside/timeline.raw.json.gz",
        "flight/chain/nccl_trace_rank_0",
        "kernels/checkpointed.json.gz",
        "kernels/moving.json.gz",
        "kernels/own_kernels.json.gz",
        "kernels/profiler_ranges.json.gz",
        "protobufs/gpu.xplane.pb",
        "protobufs/rocprof.pftrace",
        "protobufs/tpu.xplane.pb",
        "snapshots/oom.pickle",
        "snapshots/steps.pickle",
    ] {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    for name in PIPELINE {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    let (library, mut problems) = (library(), Vec::new());
    let rows_of_views = rows_of_each(&store.engine(), &all_of_views(&library));
    for (view, rows) in library.public_views().zip(rows_of_views) {
        match rows {
            Err(e) => problems.push(format!("{}: {}", view.file, short(&e))),
            Ok(rows) => {
                let reason = EMPTY.iter().find(|(name, _)| *name == view.name);
                if rows.is_empty() && reason.is_none() {
                    problems.push(format!("{}: no fixture gives it a row", view.file));
                }
                if !rows.is_empty() && reason.is_some() {
                    problems.push(format!(
                        "{}: has rows, but is listed as one that has none",
                        view.file
                    ));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Only traces that lack much information get their own store.
#[test]
fn every_view_runs_without_traces() {
    every_view_runs(&TestStore::new());
}

#[test]
fn every_view_runs_on_a_trace_of_a_cpu() {
    every_view_runs(&TestStore::with(&fixture("resnet_cpu.pt.trace.json.gz")).0);
}

#[test]
fn every_view_runs_on_traces_that_are_not_of_pytorch() {
    let store = TestStore::with(&fixture("chrome_mixed.json")).0;
    store.ingest(&fixture("perf.json")).expect("the trace is read");
    every_view_runs(&store);
}

/// Views start together, as planning takes most of the time. Each runs alone in `tests/slt`.
fn all_of_views(library: &Library) -> Vec<String> {
    library.public_views().map(|view| format!("SELECT * FROM {}", view.name)).collect()
}

fn every_view_runs(store: &TestStore) {
    let queries = all_of_views(&library());
    assert_eq!(rows_of_all(&store.engine(), &queries).len(), queries.len());
}

#[test]
fn every_example_of_a_view_runs() {
    let library = library();
    let views: Vec<&View> = library.public_views().filter(|v| !v.example.is_empty()).collect();
    let examples: Vec<String> = views.iter().map(|v| v.example.clone()).collect();
    let results = rows_of_each(&fixtures().engine(), &examples);
    let failed: Vec<String> = views
        .iter()
        .zip(results)
        .filter_map(|(v, rows)| Some((v, rows.err()?)))
        .map(|(v, e)| format!("{}: {}: {}", v.file, v.example, short(&e)))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn no_share_or_quotient_is_nan() {
    let store = fixtures();
    let engine = store.engine();
    let mut problems = Vec::new();
    let doubles = |view: &View| -> Vec<String> {
        let of_type = view.columns.iter().filter(|c| c.data_type == "DOUBLE");
        of_type.map(|c| c.name.clone()).collect()
    };
    let library = library();
    let views: Vec<&View> =
        library.public_views().filter(|view| !doubles(view).is_empty()).collect();
    let count = |c: &String| {
        format!("count(*) FILTER (WHERE isnan({c}) OR abs({c}) = 'Infinity'::DOUBLE) AS {c}")
    };
    let queries: Vec<String> = views
        .iter()
        .map(|view| {
            let counts: Vec<String> = doubles(view).iter().map(count).collect();
            format!("SELECT {} FROM {}", counts.join(", "), view.name)
        })
        .collect();
    for (view, rows) in views.iter().zip(rows_of_each(&engine, &queries)) {
        let doubles = doubles(view);
        match rows {
            Ok(rows) => {
                let bad = doubles.iter().zip(&rows[0]).filter(|(_, n)| *n != "0");
                problems.extend(bad.map(|(column, n)| {
                    format!("{}.{column}: {n} values are NaN or infinite", view.name)
                }));
            }
            Err(e) => problems.push(format!("{}: {}", view.file, short(&e))),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

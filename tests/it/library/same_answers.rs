//! Views return the same rows however the engine computes them: with one or several threads, with
//! or without shared parts, and for a trace alone or with others. Planning takes most of the time,
//! so views are planned together where that is not what is compared.

use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::View;

use super::library;
use super::rows::rows_of_all;
use crate::support::{TestStore, fixture};

fn engine_with(store: &TestStore, change: impl FnOnce(&mut EngineOptions)) -> Engine {
    let mut options = EngineOptions::default();
    change(&mut options);
    Engine::open(&store.store, None, &options).expect("the store opens")
}

/// Plans depend on the number of threads: with a single thread, some sorts are left out.
#[test]
fn views_answer_the_same_with_one_thread() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    for name in ["synthetic_gpu_rank1.json.gz", "resnet_cpu.pt.trace.json.gz"] {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    let (one, three) = (
        engine_with(&store, |options| options.threads = 1),
        engine_with(&store, |options| options.threads = 3),
    );
    let queries: Vec<String> =
        library().public_views().map(|view| format!("SELECT * FROM {}", view.name)).collect();
    assert_eq!(differences(&queries, &one, &queries, &three), [""; 0]);
}

/// The differences between the rows of two sessions, for each pair of queries.
fn differences(queries: &[String], a: &Engine, others: &[String], b: &Engine) -> Vec<String> {
    let (rows, other_rows) = (rows_of_all(a, queries), rows_of_all(b, others));
    let pairs = queries.iter().zip(rows.into_iter().zip(other_rows));
    pairs
        .filter_map(|(sql, (rows, other))| Some(format!("{sql}: {}", rows.difference(other)?)))
        .collect()
}

/// If there is enough memory, views that a query names more than once are computed once. Plans that
/// share nothing take seconds each, so the views are divided among three tests.
fn compare_without_sharing(third: usize) {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    store.ingest(&fixture("resnet_cpu.pt.trace.json.gz")).expect("the trace is read");
    let (shares, alone) =
        (store.engine(), engine_with(&store, |options| options.shares_nothing = true));
    let views = library();
    let views = views.public_views().skip(third).step_by(3);
    let queries: Vec<String> = views.map(|view| format!("SELECT * FROM {}", view.name)).collect();
    for (sql, rows) in queries.iter().zip(rows_of_all(&shares, &queries)) {
        let unshared = rows_of_all(&alone, std::slice::from_ref(sql)).remove(0);
        assert_eq!(rows.difference(unshared), None, "{sql}");
    }
}

#[test]
fn views_answer_the_same_whether_they_share_or_not() {
    compare_without_sharing(0);
}

#[test]
fn more_views_answer_the_same_whether_they_share_or_not() {
    compare_without_sharing(1);
}

#[test]
fn all_other_views_answer_the_same_whether_they_share_or_not() {
    compare_without_sharing(2);
}

/// If a store contains a single trace, the trace's name is removed from the keys of windows, groups
/// and joins. A filter on traces is applied to the rows that views share.
#[test]
fn views_answer_the_same_for_a_trace_alone_and_beside_another() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    store.ingest(&fixture("resnet_cpu.pt.trace.json.gz")).expect("the trace is read");
    let both = store.engine();
    let mut compared = 0;
    for trace in both.traces() {
        let only = [trace.trace_id.clone()];
        let alone = Engine::open(&store.store, Some(&only), &EngineOptions::default())
            .expect("the store opens");
        // Views of comparisons compare several traces, and job_files counts those of a folder.
        let has = |view: &View, name: &str| view.columns.iter().any(|c| c.name == name);
        let queries: Vec<String> = library()
            .public_views()
            .filter(|v| v.area != "compare" && v.name != "job_files")
            .filter(|v| !has(v, "base_trace_id") && has(v, "trace_id"))
            .map(|v| format!("SELECT * FROM {}", v.name))
            .collect();
        let of_both: Vec<String> =
            queries.iter().map(|sql| format!("{sql} WHERE trace_id = '{}'", only[0])).collect();
        assert_eq!(differences(&queries, &alone, &of_both, &both), [""; 0], "of {}", only[0]);
        compared += queries.len();
    }
    assert!(compared > 200, "{compared} views were compared");
}

//! Views of single traces that are computed for groups of traces have the same rows.

use futures::TryStreamExt;
use tracesql::engine::{Engine, EngineOptions, Scanned};
use tracesql::library::{Body, Scope, View};

use super::library;
use super::rows::rows_of_all;
use crate::support::{TestStore, fixture, rows_of};

/// Ranks of two jobs, traces without a rank, a recording of MLLM, and a memory snapshot.
const TRACES: &[&str] = &[
    "bottlenecks/inefficient.json.gz",
    "bottlenecks/skewed/skewed_rank0.json.gz",
    "bottlenecks/skewed/skewed_rank1.json.gz",
    "kernels/serving.json.gz",
    "perf.json",
    "resnet_cpu.pt.trace.json.gz",
    "snapshots/steps.pickle",
    "synthetic_gpu_rank0.json.gz",
    "synthetic_gpu_rank1.json.gz",
];

fn store() -> TestStore {
    let store = TestStore::new();
    for name in TRACES {
        store.ingest(&fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    store
}

/// A session that computes at most this number of events at once.
fn at_once(store: &TestStore, events_at_once: u64) -> Engine {
    let options = EngineOptions { events_at_once, ..EngineOptions::default() };
    Engine::open(&store.store, None, &options).expect("the store opens")
}

fn rows(engine: &Engine, sql: &str) -> Vec<Vec<String>> {
    rows_of(engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"))
}

fn plan(engine: &Engine, sql: &str) -> String {
    rows(engine, &format!("EXPLAIN {sql}")).concat().join("\n")
}

#[test]
fn all_views_have_the_same_rows() {
    let library = library();
    let views: Vec<&View> =
        library.public_views().filter(|view| matches!(view.body, Body::Query(_))).collect();
    assert!(views.iter().filter(|view| view.scope() < Scope::Store).count() > 90);
    let queries: Vec<String> =
        views.iter().map(|view| format!("SELECT * FROM {}", view.name)).collect();
    let store = store();
    let [expected, of_groups] =
        [u64::MAX, 5_000].map(|events| rows_of_all(&at_once(&store, events), &queries));
    for ((view, expected), of_groups) in views.iter().zip(expected).zip(of_groups) {
        assert_eq!(expected.difference(of_groups), None, "{}", view.name);
    }
}

#[test]
fn queries_of_groups_have_the_same_rows() {
    let store = store();
    let (all, groups) = (at_once(&store, 0), at_once(&store, 1));
    let view = "SELECT * FROM operator_calls";
    assert!(!plan(&all, view).contains("TraceGroupsExec"));
    assert!(plan(&groups, view).contains("TraceGroupsExec: view=operator_calls"));
    let id = &all.traces()[3].trace_id;
    let queries = [
        // No columns, several columns of one view, other rows of it, and no rows.
        "SELECT count(*) FROM operator_calls".to_owned(),
        "SELECT count(*), sum(host_total_ns), min(name) FROM operator_calls".to_owned(),
        "SELECT name, count(*) AS calls FROM operator_calls WHERE host_total_ns > 100000 AND \
         name LIKE 'aten::%' GROUP BY name ORDER BY calls DESC, name LIMIT 7"
            .to_owned(),
        "SELECT count(*) FROM operator_calls WHERE trace_id = 'none'".to_owned(),
        format!("SELECT count(*) FROM kernels_by_name WHERE trace_id >= '{id}'"),
        "SELECT count(*) FROM (SELECT * FROM operator_calls LIMIT 11)".to_owned(),
        // Several readers of one view, and a join with a table of the store.
        "SELECT count(*) FROM operator_calls a JOIN operator_calls b USING (trace_id, event_id) \
         JOIN events e USING (trace_id, event_id)"
            .to_owned(),
        "SELECT trace_id, (SELECT count(*) FROM step_overlap s WHERE s.trace_id = t.trace_id) AS n \
         FROM traces t ORDER BY trace_id"
            .to_owned(),
        // Each round reads the rows again.
        "WITH RECURSIVE chain AS (SELECT 0 AS n, 0 AS total UNION ALL \
         SELECT n + 1, total + (SELECT count(*) FROM step_overlap) FROM chain WHERE n < 4) \
         SELECT * FROM chain ORDER BY n"
            .to_owned(),
    ];
    for query in queries {
        assert_eq!(rows(&groups, &query), rows(&all, &query), "{query}");
    }
}

#[test]
fn only_traces_that_pass_filters_are_computed() {
    let store = store();
    let groups = at_once(&store, 1);
    let first = &groups.traces()[0].trace_id;
    for (filter, traces) in [
        (format!("trace_id = '{first}'"), 1),
        (format!("trace_id IN ('{first}', 'none')"), 1),
        (format!("trace_id > '{first}'"), TRACES.len() - 1),
        ("name = 'x' OR host_total_ns > 1".to_owned(), TRACES.len()),
    ] {
        let shown = plan(&groups, &format!("SELECT name FROM operator_calls WHERE {filter}"));
        assert!(shown.contains(&format!("traces={traces}")), "{filter}: {shown}");
    }
}

#[test]
fn what_groups_read_is_counted_and_settings_reach_them() {
    let store = store();
    let (all, groups) = (at_once(&store, 0), at_once(&store, 1));
    let read = |engine: &Engine| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let sql = "SELECT count(DISTINCT name) FROM operator_calls";
            let statement = engine.parse(sql).expect("SQL").remove(0);
            let started = engine.start(statement, &[]).await.expect("the query starts");
            started.result.try_collect::<Vec<_>>().await.expect("rows");
            Scanned::of(&started.plan)
        })
    };
    let (of_all, of_groups) = (read(&all), read(&groups));
    assert!(of_groups.rows > 0 && of_groups.bytes > 0, "{of_groups:?}");
    assert!(of_groups.rows <= 2 * of_all.rows, "{of_groups:?} and {of_all:?}");
    let sql = "SELECT count(*) FROM findings WHERE status = 'finding'";
    let before = rows(&groups, sql);
    for engine in [&all, &groups] {
        assert!(engine.settings().set("rule_gpu_idle_pct", "0"), "the setting exists");
    }
    let after = rows(&groups, sql);
    assert_eq!(after, rows(&all, sql));
    assert_ne!(after, before);
}

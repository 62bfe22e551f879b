//! Views and queries have the same rows on a cluster as on one machine.

use tracesql::engine::Engine;

use super::{Cluster, EIGHT, THREE, engine, store_of};

#[path = "../../../../../tests/it/library/rows.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod rows;

use rows::rows_of_all;

/// Queries that the cluster computes in part: aggregates, filters, limits, joins, windows.
const QUERIES: [&str; 24] = [
    "SELECT count(*) FROM events",
    "SELECT cat, count(*), sum(dur_ns), min(dur_ns), max(dur_ns), avg(dur_ns) FROM events \
     GROUP BY cat",
    "SELECT count(*), count(dur_ns), sum(dur_ns), avg(dur_ns) FROM events \
     WHERE name = 'no such name'",
    "SELECT cat, count(*) FILTER (WHERE dur_ns > 1000), bool_or(dur_ns > 1000), \
     bool_and(dur_ns > 1000) FROM events GROUP BY 1",
    "SELECT count(DISTINCT name), median(dur_ns) FROM events",
    "SELECT upper(name) AS n, round(avg(dur_ns) / 1e3, 1) AS us FROM events GROUP BY upper(name) \
     HAVING count(*) > 2 ORDER BY us DESC, n LIMIT 7",
    "SELECT cat, ph, count(*) FROM events GROUP BY ROLLUP (cat, ph)",
    "SELECT trace_id, count(*) FROM kernels GROUP BY trace_id",
    "SELECT trace_id, count(*) FROM kernels WHERE trace_id = (SELECT min(trace_id) FROM traces) \
     GROUP BY trace_id",
    "SELECT count(*) FROM events WHERE trace_id IN (SELECT min(trace_id) FROM traces)",
    "SELECT count(*) FROM events e JOIN traces t USING (trace_id) WHERE e.dur_ns > 10",
    "SELECT k.name, e.name, count(*) FROM kernels k JOIN events e USING (trace_id) \
     WHERE k.dur_ns > 100000 AND e.cat = 'cuda_runtime' GROUP BY 1, 2",
    "SELECT name, rank() OVER (PARTITION BY trace_id ORDER BY dur_ns DESC, event_id) AS r \
     FROM events QUALIFY r <= 3",
    "SELECT count(*) FROM (SELECT * FROM events LIMIT 10)",
    "SELECT count(*) FROM (SELECT 1 FROM events WHERE cat = 'cpu_op' UNION ALL \
     SELECT 2 FROM kernels)",
    "WITH t AS (SELECT name, dur_ns FROM events WHERE dur_ns IS NOT NULL) SELECT a.name, count(*) \
     FROM t a WHERE a.dur_ns >= (SELECT avg(dur_ns) FROM t) GROUP BY 1",
    "SELECT name FROM events WHERE name LIKE 'aten::%' GROUP BY name ORDER BY name",
    "SELECT name, cat FROM events WHERE name ILIKE '%conv%' AND cat IN ('cpu_op', 'kernel') \
     GROUP BY ALL",
    "SELECT DISTINCT cat FROM events",
    "SELECT status, count(*) FROM findings GROUP BY 1",
    "SELECT rank, count(*) FROM collectives GROUP BY rank",
    "SELECT sum(CASE WHEN cat = 'kernel' THEN dur_ns ELSE 0 END), max(ts_ns) - min(ts_ns) \
     FROM events",
    "SELECT count(*) FROM events WHERE dur_ns > random() * 0 - 1",
    "SELECT args IS NULL AS no, count(*) FROM events GROUP BY 1",
];

/// Compares rows of queries that start together. Returns the number of queries with rows.
#[track_caller]
fn compare(here: &Engine, there: &Engine, queries: &[String]) -> usize {
    let expected = rows_of_all(here, queries);
    let rows = rows_of_all(there, queries);
    let (mut problems, mut filled) = (Vec::new(), 0);
    for ((sql, expected), rows) in queries.iter().zip(expected).zip(rows) {
        filled += usize::from(!expected.is_empty());
        if let Some(difference) = expected.difference(rows) {
            problems.push(format!("{sql}: {difference}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    filled
}

fn all_views(engine: &Engine) -> Vec<String> {
    let views = engine.library().public_views();
    views.map(|view| format!("SELECT * FROM {}", view.name)).collect()
}

#[track_caller]
fn compare_all_views(names: &[&str]) {
    let cluster = Cluster::of(2);
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(folder.path(), names);
    let (here, there) = (engine(&store, None), engine(&store, Some(&cluster)));
    let views = all_views(&here);
    assert!(views.len() > 120, "{} views", views.len());
    let filled = compare(&here, &there, &views);
    assert!(2 * filled > views.len(), "{filled} views have rows");
}

#[test]
fn all_views_have_the_same_rows() {
    compare_all_views(&THREE);
}

#[test]
#[ignore = "takes minutes without optimisation"]
fn all_views_have_the_same_rows_in_other_stores() {
    compare_all_views(&THREE[..1]);
    compare_all_views(&EIGHT);
}

#[test]
fn queries_have_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(folder.path(), &THREE);
    let cluster = Cluster::of(2);
    let (here, there) = (engine(&store, None), engine(&store, Some(&cluster)));
    // One by one, so that each is planned on its own.
    let filled: usize =
        QUERIES.iter().map(|sql| compare(&here, &there, &[(*sql).to_owned()])).sum();
    assert!(2 * filled > QUERIES.len(), "{filled} queries have rows");
}

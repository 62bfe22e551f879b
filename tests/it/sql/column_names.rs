//! Columns without a name are named by their text, and references to them keep working.

use super::{columns, store};
use crate::support::{rows_of, texts, tracesql_in};

#[test]
fn columns_are_named_by_their_text() {
    let store = store();
    let engine = store.engine();
    for (sql, names) in [
        ("SELECT 1, 'x', NULL", &["1", "'x'", "NULL"][..]),
        (
            "SELECT COUNT(*), avg(dur_ns), approx_percentile_cont(dur_ns,0.9) FROM kernels",
            &["count(*)", "avg(dur_ns)", "approx_percentile_cont(dur_ns, 0.9)"],
        ),
        ("SELECT k.name, k.dur_ns + 1 FROM kernels k", &["name", "k.dur_ns + 1"]),
        (
            "SELECT count(DISTINCT Name), Dur_ns::DOUBLE FROM kernels GROUP BY 2",
            &["count(DISTINCT name)", "dur_ns::DOUBLE"],
        ),
        ("SELECT 1, 1", &["1", "1_1"]),
        ("SELECT args->>'stream' FROM events", &["args ->> 'stream'"]),
        ("SELECT count(*) FROM kernels UNION ALL SELECT count(*) FROM events", &["count(*)"]),
        ("SELECT a FROM (SELECT max(dur_ns) AS a FROM kernels)", &["a"]),
        (
            "SELECT row_number() OVER (ORDER BY ts_ns) FROM kernels",
            &["row_number() OVER (ORDER BY ts_ns)"],
        ),
        ("SELECT (name) FROM kernels", &["name"]),
    ] {
        assert_eq!(columns(&engine, sql), names, "{sql}");
    }
}

#[test]
fn references_to_unnamed_columns_keep_working() {
    let store = store();
    let engine = store.engine();
    for sql in [
        "SELECT kind, count(*) FROM kernels GROUP BY kind ORDER BY count(*) DESC, kind",
        "SELECT kind, count(*) FROM kernels GROUP BY 1 HAVING count(*) > 1 ORDER BY 2",
        "SELECT lower(name), sum(dur_ns) FROM kernels GROUP BY lower(name) ORDER BY lower(name)",
        "SELECT kind, sum(dur_ns) / count(*) FROM kernels GROUP BY kind \
         ORDER BY sum(dur_ns) / count(*)",
        "SELECT name, rank() OVER (ORDER BY dur_ns) FROM kernels \
         QUALIFY rank() OVER (ORDER BY dur_ns) < 3",
        "SELECT DISTINCT kind, dur_ns > 5000 FROM kernels ORDER BY kind",
        "SELECT \"count(*)\" FROM (SELECT count(*) FROM kernels)",
        "SELECT \"avg(kernels.dur_ns)\" FROM (SELECT avg(dur_ns) FROM kernels)",
        "SELECT count(*) FROM kernels UNION SELECT 1 ORDER BY 1",
        "SELECT unnest([1, 2])",
        "SELECT unnest({a: 1, b: 2})",
        "SELECT (SELECT max(dur_ns) FROM kernels), 1",
        "VALUES (1, 2)",
    ] {
        rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    rows_of(&engine, "CREATE VIEW v AS SELECT kind, count(*) FROM kernels GROUP BY kind")
        .expect("a view");
    rows_of(&engine, "SELECT sum(\"count(*)\") FROM v").expect("its column");
}

#[test]
fn files_have_the_same_names() {
    let store = store();
    let sql = "SELECT count(*), 1 + 1 FROM steps";
    let args = ["query", "store", "--format", "csv", "-c", sql];
    let (out, problems) = texts(&tracesql_in(store.folder.path(), &args, &[]));
    assert!(out.starts_with("count(*),1 + 1\n"), "{out}{problems}");
}

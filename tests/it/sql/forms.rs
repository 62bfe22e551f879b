//! Forms of DuckDB that work here: FROM without SELECT, SUMMARIZE, SHOW TABLES and DESCRIBE.

use std::time::Instant;

use super::store;
use crate::support::{TestStore, rows_of, texts, tracesql_in};

#[test]
fn from_without_select_gives_all_columns() {
    let store = store();
    let engine = store.engine();
    let rows = |sql: &str| rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    for (short, long) in [
        ("FROM kernels", "SELECT * FROM kernels"),
        ("FROM kernels WHERE dur_ns > 5000", "SELECT * FROM kernels WHERE dur_ns > 5000"),
        ("FROM kernels SELECT name", "SELECT name FROM kernels"),
        ("FROM kernels LIMIT 3", "SELECT * FROM kernels LIMIT 3"),
        ("SELECT count(*) FROM (FROM kernels)", "SELECT count(*) FROM kernels"),
        ("WITH k AS (FROM kernels) FROM k", "SELECT * FROM kernels"),
        ("FROM steps UNION ALL FROM steps", "SELECT * FROM steps UNION ALL SELECT * FROM steps"),
    ] {
        assert_eq!(rows(short), rows(long), "{short}");
        assert!(!rows(short)[0].is_empty(), "{short}");
    }
    rows("CREATE VIEW mine AS FROM kernels WHERE stream = 7");
    assert_eq!(rows("FROM mine"), rows("SELECT * FROM kernels WHERE stream = 7"));
}

#[test]
fn views_in_files_may_begin_with_from() {
    let store = store();
    let area = store.folder.path().join("sql/own");
    std::fs::create_dir_all(&area).expect("a folder");
    let view = "-- Long events.\n--\n-- @column name VARCHAR text Name.\n\
                FROM (SELECT name FROM events WHERE dur_ns > 0) WHERE name IS NOT NULL\n";
    std::fs::write(area.join("slow_events.sql"), view).expect("a file");
    let sql = "SELECT count(*) > 0 AS some FROM slow_events";
    let args = ["query", "store", "--sql", "sql", "--format", "csv", "-c", sql];
    let (out, problems) = texts(&tracesql_in(store.folder.path(), &args, &[]));
    assert_eq!(out, "some\ntrue\n", "{problems}");
}

#[test]
fn summarize_describes_every_column() {
    let store = store();
    let engine = store.engine();
    let rows = |sql: &str| rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let all = rows("SUMMARIZE kernels");
    let columns = rows("DESCRIBE kernels");
    assert_eq!(all.len(), columns.len());
    for (summary, column) in all.iter().zip(&columns) {
        assert_eq!(summary[..2], column[..2], "name and type");
    }
    let stream = &rows("SUMMARIZE SELECT stream, name FROM kernels WHERE stream IS NOT NULL")[0];
    let wanted = rows(
        "SELECT 'stream', 'BIGINT', count(stream), 0, count(DISTINCT stream), min(stream), \
         max(stream), avg(stream) FROM kernels",
    );
    assert_eq!(stream[..8], wanted[0]);
    assert_eq!(
        rows("SELECT column_name, nulls, min, mean FROM summarize((SELECT NULL AS a, [1] AS b))"),
        [["a", "1", "NULL", "NULL"], ["b", "0", "NULL", "NULL"]]
    );
    assert_eq!(rows("SUMMARIZE FROM steps").len(), rows("DESCRIBE steps").len());
    // Columns of a join may have the same name.
    assert!(
        !rows("SUMMARIZE SELECT k.name, e.cat FROM kernels k JOIN events e USING (event_id)")
            .is_empty()
    );
}

#[test]
fn types_have_the_names_of_the_documentation() {
    let store = store();
    assert_eq!(
        store.lines("DESCRIBE steps"),
        [
            "trace_id VARCHAR NO",
            "step BIGINT YES",
            "name VARCHAR YES",
            "event_id BIGINT YES",
            "track_id BIGINT YES",
            "start_ns BIGINT YES",
            "end_ns BIGINT YES",
            "dur_ns BIGINT YES",
        ]
    );
    assert_eq!(store.lines("DESCRIBE SELECT 1.5 AS a, 'x' AS b")[0], "a DOUBLE NO");
}

#[test]
fn tables_are_listed_without_planning_views() {
    let store = TestStore::new();
    let engine = store.engine();
    let start = Instant::now();
    let tables = rows_of(&engine, "SHOW TABLES").expect("the tables");
    let listing = start.elapsed();
    let is = |name: &str, kind: &str| tables.iter().any(|t| t[2] == name && t[3] == kind);
    assert!(is("kernels", "BASE TABLE") && is("operators", "VIEW"));
    assert!(is("settings", "BASE TABLE"), "a table with data of the library");
    let start = Instant::now();
    rows_of(&engine, "SELECT count(*) FROM information_schema.columns").expect("the columns");
    assert!(listing < start.elapsed(), "all views are planned for their columns only");
}

#[test]
fn durations_and_sizes_have_units() {
    let store = store();
    assert_eq!(
        store.value("SELECT count(*) FROM kernels WHERE dur_ns > ns('0.1 ms')"),
        store.value("SELECT count(*) FROM kernels WHERE dur_ns > 100000")
    );
    assert_eq!(store.value("SELECT bytes('1.5 GiB')"), "1610612736");
    assert_eq!(
        store.lines("SELECT ns(t) FROM (VALUES ('5 ms'), (NULL)) AS v(t)"),
        ["5000000", "NULL"]
    );
    // A constant is computed before the filter reads rows.
    let plan = store.lines("EXPLAIN SELECT name FROM kernels WHERE dur_ns > ns('5 ms')").join("\n");
    assert!(plan.contains("5000000") && !plan.contains("ns(Utf8"), "{plan}");
}

#[test]
fn numbers_of_any_type_are_formatted() {
    let store = TestStore::new();
    for (call, text) in [
        ("format_ns(1500.5)", "1.501 us"),
        ("format_ns(CAST(2.5 AS DOUBLE))", "3 ns"),
        ("format_ns(-2.5)", "-3 ns"),
        ("format_ns(CAST(1234567 AS DECIMAL(20, 3)))", "1.235 ms"),
        ("format_ns(CAST(7 AS SMALLINT))", "7 ns"),
        ("format_ns(CAST(7 AS BIGINT UNSIGNED))", "7 ns"),
        ("format_ns(CAST('NaN' AS DOUBLE))", "NULL"),
        ("format_ns(CAST('inf' AS DOUBLE))", "NULL"),
        ("format_ns(NULL)", "NULL"),
        ("format_bytes(1535.9)", "1.500 KiB"),
    ] {
        assert_eq!(store.value(&format!("SELECT {call}")), text, "{call}");
    }
}

#[test]
fn steps_have_a_duration() {
    let store = store();
    assert_eq!(store.value("SELECT count(*) FROM steps WHERE dur_ns <> end_ns - start_ns"), "0");
    assert_ne!(store.value("SELECT sum(dur_ns) FROM steps"), "NULL");
}

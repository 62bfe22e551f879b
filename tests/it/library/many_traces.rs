//! Queries over many small traces: files are read once for all scans of a statement, and the rows
//! are those that each scan would read by itself.

use std::fs;

use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use tracesql::engine::{Engine, EngineOptions, Scanned};

use super::rows::rows_of_all;
use crate::support::{TestStore, rows_of};

/// From this number of traces on, scans share what they read.
const MANY: usize = 16;

/// A store of traces with three events each, whose names are short, long, and the same everywhere.
fn store_of(traces: usize) -> TestStore {
    let store = TestStore::new();
    for trace in 0..traces {
        let path = store.folder.path().join(format!("small_{trace:02}.json"));
        let event = |name: &str, ts: usize, dur: usize| {
            format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":{trace},"ts":{ts},"dur":{dur}}}"#)
        };
        let events = [
            event("step", 10, 500 + trace),
            event(&format!("an operator that only trace {trace} has"), 20, 7),
            event("an operator with a long name that all traces have", 40, 100 * trace + 1),
        ];
        fs::write(&path, format!("[{}]", events.join(","))).expect("a trace");
        store.ingest(&path).expect("the trace is read");
    }
    store
}

fn bytes_read(engine: &Engine, sql: &str) -> usize {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let statement = engine.parse(sql).expect("SQL").remove(0);
        let started = engine.start(statement, &[]).await.expect("the query starts");
        let rows: Vec<RecordBatch> = started.result.try_collect().await.expect("rows");
        assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
        Scanned::of(&started.plan).bytes
    })
}

#[test]
fn columns_of_many_files_are_read_once_for_all_scans() {
    let one = "SELECT sum(dur_ns), count(DISTINCT name) FROM events UNION ALL SELECT 1, 2";
    let two = "SELECT sum(dur_ns), count(DISTINCT name) FROM events UNION ALL \
        SELECT avg(dur_ns)::BIGINT, count(DISTINCT name) FROM events";
    let read = |traces, sql| bytes_read(&store_of(traces).engine(), sql);
    assert_eq!(read(MANY, two), read(MANY, one));
    assert_eq!(read(MANY - 1, two), 2 * read(MANY - 1, one));
    assert!(read(MANY, one) > read(MANY - 1, one));
}

#[test]
fn rows_are_those_of_scans_that_share_nothing() {
    let store = store_of(MANY + 3);
    let options = EngineOptions { shares_nothing: true, ..EngineOptions::default() };
    let alone = Engine::open(&store.store, None, &options).expect("the store opens");
    let queries = [
        "SELECT * FROM events",
        "SELECT a.name, b.name, a.dur_ns + b.dur_ns FROM events a JOIN events b \
         USING (trace_id, track_id) WHERE a.event_id < b.event_id",
        "SELECT name, dur_ns FROM events WHERE trace_id LIKE 'small_07%' OR dur_ns > 1000000",
        "SELECT name, lag(dur_ns) OVER (PARTITION BY name ORDER BY trace_id) FROM events \
         UNION ALL SELECT trace_id, step FROM events \
         UNION ALL SELECT path, event_count FROM traces \
         UNION ALL SELECT name, count(*) FROM events GROUP BY name",
        "WITH RECURSIVE chain AS (SELECT 0 AS n, 0 AS total UNION ALL \
         SELECT n + 1, total + (SELECT count(*) FROM events) FROM chain WHERE n < 4) \
         SELECT * FROM chain",
        // Each round reads the rows again, by a scan and by a view with several readers.
        "WITH RECURSIVE chain AS (SELECT 0 AS n, 0 AS total UNION ALL \
         SELECT n + 1, total + (SELECT sum(dur_ns)::BIGINT FROM events) FROM chain WHERE n < 4) \
         SELECT * FROM chain",
        "WITH RECURSIVE chain AS (SELECT 0 AS n, 0 AS total UNION ALL \
         SELECT n + 1, total + (SELECT count(DISTINCT name) FROM named_events) \
         + (SELECT max(ts_ns) FROM named_events) FROM chain WHERE n < 4) SELECT * FROM chain",
        "SELECT * FROM findings",
        "SELECT * FROM category_totals",
        "SELECT * FROM operators",
    ];
    let queries = queries.map(str::to_owned);
    for (sql, rows) in queries.iter().zip(rows_of_all(&store.engine(), &queries)) {
        assert!(!rows.is_empty() || sql.ends_with("operators"), "{sql}");
        let by_itself = rows_of_all(&alone, std::slice::from_ref(sql)).remove(0);
        assert_eq!(rows.difference(by_itself), None, "{sql}");
    }
}

#[test]
fn plans_name_what_is_shared() {
    let store = store_of(MANY);
    let explained = |engine: &Engine| {
        let sql = "EXPLAIN SELECT name, lag(dur_ns) OVER (ORDER BY ts_ns) FROM events \
            UNION ALL SELECT name, dur_ns FROM events UNION ALL SELECT name, ts_ns FROM events";
        let rows = rows_of(engine, sql).expect("a plan");
        rows.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let (few, of_few) = (store_of(MANY - 1), ["KeptScan", "SequentialUnion", "TextBuffers"]);
    let (shown, shown_of_few) = (explained(&store.engine()), explained(&few.engine()));
    for operator in of_few {
        assert!(shown.contains(operator), "{operator} is not in\n{shown}");
        assert!(!shown_of_few.contains(operator), "{operator} is in\n{shown_of_few}");
    }
}

/// The rows of the other files are not taken for all rows.
#[test]
fn a_damaged_file_among_many_is_an_error() {
    let store = store_of(MANY);
    let engine = store.engine();
    let folder = store.folder.path().join("store");
    let trace = engine.traces()[MANY / 2].trace_id.clone();
    let file = folder.join(&trace).join("events.parquet");
    let mut bytes = fs::read(&file).expect("the file");
    let middle = bytes.len() / 4;
    bytes[4..middle].fill(0xff);
    fs::write(&file, bytes).expect("the file is written");
    let sql = "SELECT sum(dur_ns), count(DISTINCT name), min(ts_ns) FROM events UNION ALL \
        SELECT avg(dur_ns)::BIGINT, count(DISTINCT name), sum(ts_ns) FROM events";
    let error = rows_of(&engine, sql).expect_err("damage is found").to_string();
    let options = EngineOptions { shares_nothing: true, ..EngineOptions::default() };
    let alone = Engine::open(&store.store, None, &options).expect("the store opens");
    let by_itself = rows_of(&alone, sql).expect_err("damage is found").to_string();
    assert_eq!(error, by_itself);
}

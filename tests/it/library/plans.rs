//! How the engine plans queries on views: what it computes once, and which rows it keeps in one
//! stream.

use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::Scope;

use crate::support::{TestStore, fixture, fixtures, rows_of};

#[test]
fn queries_of_a_with_are_computed_once() {
    let store = fixtures();
    let engine = store.engine();
    let plan = |sql: &str| {
        rows_of(&engine, &format!("EXPLAIN {sql}")).expect("the query is planned").concat().concat()
    };
    let counted = "WITH counted AS (SELECT name, count(*) AS n FROM events GROUP BY name)";
    let twice =
        plan(&format!("{counted} SELECT a.name FROM counted a JOIN counted b ON b.n > a.n"));
    assert_eq!(twice.matches("OnceExec: view=counted").count(), 2, "{twice}");
    let once = plan(&format!("{counted} SELECT name FROM counted"));
    assert!(!once.contains("OnceExec"), "{once}");
}

#[test]
fn the_error_of_a_shared_view_reaches_its_readers() {
    let store = fixtures();
    let engine = store.engine();
    // Such a view may run before a reader asks for its rows.
    let failing = "WITH failing AS (SELECT event_id, event_id / (dur_ns - dur_ns) AS n FROM events \
        WHERE dur_ns IS NOT NULL)";
    let rows = rows_of(
        &engine,
        &format!(
            "{failing} SELECT count(*), sum(a.n) FROM failing a JOIN failing b \
            ON b.event_id = a.event_id"
        ),
    );
    let error = rows.expect_err("the view divides by zero").to_string();
    assert!(error.to_lowercase().contains("by zero"), "{error}");
}

#[test]
fn plans_say_what_is_computed_once() {
    let store = fixtures();
    let engine = store.engine();
    let plan = |sql: &str| {
        rows_of(&engine, &format!("EXPLAIN {sql}")).expect("the query is planned").concat().concat()
    };
    let twice = plan(
        "SELECT a.name, b.dur_ns FROM named_events a \
            JOIN named_events b ON a.event_id = b.parent_id AND a.trace_id = b.trace_id",
    );
    assert_eq!(twice.matches("OnceExec: view=named_events").count(), 2, "{twice}");
    let once = plan("SELECT name FROM named_events");
    assert!(!once.contains("OnceExec"), "{once}");
}

#[test]
fn branches_of_unions_are_planned_apart_with_what_is_asked_of_them() {
    let store = fixtures();
    let engine = store.engine();
    let rows = |sql: &str| rows_of(&engine, sql).expect("the query runs");
    let plan = |sql: &str| rows(&format!("EXPLAIN {sql}")).concat().concat();
    let rules = rows("SELECT DISTINCT rule FROM findings").len();
    assert!(rules > 20, "{rules} rules");
    // The few rules about a whole store are branches of a smaller union around the others, which
    // are branches of a view.
    let library = engine.library();
    let of_a_store = library
        .public_views()
        .filter(|view| view.name.starts_with("rule_") && view.scope() == Scope::Store)
        .count();
    let around = plan("SELECT * FROM findings");
    assert_eq!(around.matches("PartExec: view=rule_").count(), of_a_store);
    assert_eq!(around.matches("PartExec: view=_rules_of_a_trace").count(), 1, "{around}");
    let others = plan("SELECT * FROM _rules_of_a_trace");
    assert_eq!(others.matches("PartExec: view=rule_").count(), rules - of_a_store);
    let all = rows("SELECT rule, status, message FROM findings ORDER BY 1, 2, 3");
    for (place, value) in [(0, "memcpy"), (1, "not_measurable")] {
        let column = ["rule", "status"][place];
        let picked = rows(&format!(
            "SELECT rule, status, message FROM findings WHERE {column} = '{value}' ORDER BY 1, 2, 3"
        ));
        assert!(!picked.is_empty());
        assert_eq!(
            picked,
            all.iter().filter(|row| row[place] == value).cloned().collect::<Vec<_>>()
        );
    }
    // A branch that is named twice is computed once. Rows that are not kept are read by each
    // reader.
    let union = "SELECT name, count(*) AS n FROM events WHERE name IS NOT NULL GROUP BY name";
    let four = [union; 4].join(" UNION ALL ");
    let twice = rows(&format!(
        "WITH u AS ({four}) SELECT sum(a.n), count(*) FROM u a JOIN u b ON a.name = b.name"
    ));
    let once = rows(&format!("SELECT sum(16 * n), 16 * count(*) FROM ({union})"));
    assert_eq!(twice, once);
}

#[test]
fn branches_of_unions_are_read_anew_by_each_round_of_a_recursion() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let engine = store.engine();
    let rows = |sql: &str| rows_of(&engine, sql).expect("the query runs");
    let recursive = "WITH RECURSIVE r AS (
        SELECT CAST(0 AS BIGINT) AS round, CAST(0 AS BIGINT) AS n
        UNION ALL
        SELECT r.round + 1, r.n + m.n FROM r CROSS JOIN (SELECT count(*) AS n FROM metrics
            WHERE value >= 0) m WHERE r.round < 3
    ) SELECT max(n) FROM r";
    assert_eq!(rows(recursive), rows("SELECT 3 * count(*) FROM metrics WHERE value >= 0"));
}

#[test]
fn the_row_of_the_trace_is_set_beside_each_row() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let plan = |engine: &Engine, sql: &str| {
        rows_of(engine, &format!("EXPLAIN {sql}")).expect("the query is planned").concat().concat()
    };
    let sql = "SELECT e.event_id, t.rank FROM events e JOIN traces t ON t.trace_id = e.trace_id";
    let alone = plan(&store.engine(), sql);
    assert!(alone.contains("CrossJoinExec") && !alone.contains("HashJoinExec"), "{alone}");
    store.ingest(&fixture("resnet_cpu.pt.trace.json.gz")).expect("the trace is read");
    assert!(plan(&store.engine(), sql).contains("HashJoinExec"));
}

/// In a store of one trace, joins on what a table function returns by trace leave out its ID.
#[test]
fn rows_of_table_functions_are_joined_without_the_only_trace() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let function = "SELECT p.trace_id, e.name FROM (
        SELECT * FROM interval_merge(
            (SELECT trace_id, track_id, ts_ns, end_ns FROM kernels), by => (trace_id, track_id)
        )) p JOIN events e ON e.trace_id = p.trace_id AND e.track_id = p.track_id";
    // The second query groups by a column that follows from the others.
    let implied = "SELECT p.trace_id, e.name FROM (
        SELECT k.trace_id, k.name, k.n FROM (
            SELECT trace_id, name, count(*) AS n FROM kernels GROUP BY trace_id, name
        ) k GROUP BY k.trace_id, k.name, k.n
        ) p JOIN events e ON e.trace_id = p.trace_id AND e.name = p.name";
    for sql in [function, implied] {
        let engine = store.engine();
        let plan = rows_of(&engine, &format!("EXPLAIN {sql}")).expect("the query is planned");
        let plan = plan.concat().concat();
        assert!(plan.contains("HashJoinExec"), "{plan}");
        assert!(!plan.contains("trace_id = e.trace_id"), "{plan}");
        let rows = rows_of(&engine, sql).expect("the query runs");
        let id = store.value("SELECT trace_id FROM traces");
        assert!(!rows.is_empty() && rows.iter().all(|row| row[0] == id), "{rows:?}");
    }
}

#[test]
fn windows_over_one_stream_are_not_merged() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let sql = "EXPLAIN ANALYZE SELECT *, lag(b) OVER (ORDER BY event_id, ts_ns) FROM (
        SELECT event_id, ts_ns, dur_ns + a AS b FROM (
            SELECT *, sum(dur_ns) OVER (ORDER BY event_id, ts_ns ROWS BETWEEN UNBOUNDED PRECEDING
                AND UNBOUNDED FOLLOWING) AS a FROM events
        ) WHERE dur_ns > 0
    )";
    let plan = rows_of(&store.engine(), sql).expect("the query is planned").concat().concat();
    let between = plan.split("WindowAggExec").nth(1).expect("two windows");
    assert!(
        !between.contains("RepartitionExec") && !between.contains("SortPreservingMergeExec"),
        "{plan}"
    );
}

#[test]
fn groups_by_trace_over_unnested_lists_have_a_row_each() {
    let (store, _) = TestStore::of_text(
        r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}"#,
    );
    let sql = "SELECT trace_id IS NOT NULL, count(*), sum(o) \
        FROM (SELECT trace_id, unnest(make_array(1, 2, 3)) AS o FROM events \
        GROUP BY trace_id) GROUP BY trace_id";
    assert_eq!(store.lines(sql), ["true 3 6"]);
}

/// Each query has the rows that it would have if the table were read.
#[test]
fn tables_without_rows_are_not_read() {
    let store = TestStore::new();
    for name in ["resnet_cpu.pt.trace.json.gz", "ddp_rank0.pt.trace.json.gz"] {
        store.ingest(&fixture(name)).expect("the trace is read");
        let steps = store.value("SELECT count(*) FROM steps");
        assert_ne!(steps, "0");
        for (sql, expected) in [
            ("SELECT count(*), sum(value), max(name) FROM counters", "0 NULL NULL".to_owned()),
            ("SELECT name, count(*) FROM counters GROUP BY name", String::new()),
            ("SELECT row_number() OVER (ORDER BY ts_ns) FROM counters LIMIT 1", String::new()),
            ("SELECT count(*) FROM (SELECT DISTINCT name FROM counters)", "0".to_owned()),
            ("SELECT name FROM counters UNION ALL SELECT 'x'", "x".to_owned()),
            ("SELECT count(*) FROM steps JOIN counters USING (trace_id)", "0".to_owned()),
            (
                "SELECT count(*), count(c.value) FROM steps s \
                LEFT JOIN counters c ON c.trace_id = s.trace_id",
                format!("{steps} 0"),
            ),
            (
                "SELECT count(*), count(c.value), count(s.step) FROM counters c \
                FULL JOIN steps s ON c.ts_ns = s.start_ns",
                format!("{steps} 0 {steps}"),
            ),
            (
                "SELECT count(*) FROM steps WHERE step NOT IN (SELECT event_id FROM counters)",
                steps.clone(),
            ),
            (
                "SELECT count(*) FROM steps s \
                WHERE EXISTS (SELECT 1 FROM counters c WHERE c.trace_id = s.trace_id)",
                "0".to_owned(),
            ),
            (
                "SELECT count(*), sum(n), count(most) FROM ( \
                SELECT (SELECT count(*) FROM counters c WHERE c.trace_id = s.trace_id) AS n, \
                (SELECT max(value) FROM counters) AS most FROM steps s)",
                format!("{steps} 0 0"),
            ),
        ] {
            assert_eq!(store.lines(sql).join("\n"), expected, "{sql}");
        }
        let plan = |sql: &str| store.rows(&format!("EXPLAIN {sql}")).concat().concat();
        let read = plan("SELECT name FROM events JOIN counters USING (trace_id, name)");
        assert!(read.contains("EmptyExec") && !read.contains("DataSourceExec"), "{read}");
        // A view over an empty table is left out too, even if another query joins it.
        let metrics =
            plan("SELECT s.step, m.* FROM steps s LEFT JOIN counters_by_operator m ON true");
        assert!(!metrics.contains("view=counters_by_operator"), "{metrics}");
    }
}

/// With one trace, such a view has no rows and its query is in no plan.
#[test]
fn views_of_several_traces_are_not_planned_for_one() {
    let library = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(library.path().join("own")).expect("a folder");
    let view = "-- Traces beside others.\n-- @scope store\n-- @traces several\n\
        -- @column trace_id VARCHAR text The trace.\n-- @column n BIGINT count Events.\n\
        SELECT trace_id, count(*) AS n FROM events GROUP BY trace_id";
    std::fs::write(library.path().join("own/beside_others.sql"), view).expect("a view");
    let options = EngineOptions { sql: vec![library.path().to_owned()], ..Default::default() };
    let store = TestStore::new();
    for (file, rows) in [("synthetic_gpu_rank0.json.gz", "0"), ("synthetic_gpu_rank1.json.gz", "2")]
    {
        store.ingest(&fixture(file)).expect("a trace");
        let engine = Engine::open(&store.store, None, &options).expect("the store opens");
        let ask = |sql: &str| rows_of(&engine, sql).expect("the query runs").concat();
        assert_eq!(ask("SELECT count(*) FROM beside_others"), [rows]);
        let plan = ask("EXPLAIN SELECT * FROM beside_others").concat();
        assert_eq!(plan.contains("events"), rows == "2", "{plan}");
    }
}

/// What only such a view reads is not planned either, if its comment has the types of its columns.
#[test]
fn what_only_views_of_several_traces_read_is_not_planned_for_one() {
    let library = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(library.path().join("own")).expect("a folder");
    let declared =
        "-- @column trace_id VARCHAR text The trace.\n-- @column n BIGINT count Events.\n";
    let list = "-- @column names VARCHAR[] list Names.\n";
    let several = "-- @scope store\n-- @traces several\n";
    for (name, text) in [
        ("_broken", "-- Broken.\nSELECT trace_id, no_column AS n FROM events".to_owned()),
        ("declared", format!("-- A.\n{several}{declared}SELECT trace_id, n FROM _broken")),
        ("_undeclared", format!("-- B.\n{several}SELECT trace_id, n FROM _broken")),
        (
            "with_list",
            format!("-- C.\n{several}{list}SELECT array_agg(trace_id) AS names FROM _broken"),
        ),
        ("reader", format!("-- D.\n-- @scope store\n{declared}SELECT * FROM declared")),
    ] {
        std::fs::write(library.path().join(format!("own/{name}.sql")), text).expect("a view");
    }
    let options = EngineOptions { sql: vec![library.path().to_owned()], ..Default::default() };
    let store = TestStore::new();
    for (file, is_one) in
        [("synthetic_gpu_rank0.json.gz", true), ("synthetic_gpu_rank1.json.gz", false)]
    {
        store.ingest(&fixture(file)).expect("a trace");
        let engine = Engine::open(&store.store, None, &options).expect("the store opens");
        assert_eq!(engine.library().problems(), []);
        let error = |name: &str| {
            rows_of(&engine, &format!("SELECT * FROM {name}")).err().map(|e| e.to_string())
        };
        for name in ["declared", "reader"] {
            assert_eq!(error(name).is_none(), is_one, "{name}: {:?}", error(name));
        }
        for name in ["_undeclared", "with_list", "_broken"] {
            let error = error(name).unwrap_or_default();
            assert!(error.contains("own/_broken.sql") && error.contains("no_column"), "{error}");
        }
        let read = rows_of(&engine, "DESCRIBE reader");
        assert_eq!(read.is_ok(), is_one);
        if let Ok(columns) = read {
            let types: Vec<String> = columns.into_iter().map(|row| row[..2].join(" ")).collect();
            assert_eq!(types, ["trace_id VARCHAR", "n BIGINT"]);
        }
    }
}

//! The library of views: its comments hold, every view runs, and users can add their own.

use std::collections::BTreeSet;
use std::path::Path;

use tracesql::docs::{Reference, Style};
use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::{Column, Library, View};

use crate::support::{
    TestStore, answer, bottlenecks, fixture, fixtures, root, rows_of, tracesql_in,
};

/// Views about the whole store, whose rows belong to no trace.
const OF_THE_STORE: &[&str] = &["kernel_names"];

/// Views that no fixture gives a row, with the reason.
const EMPTY: &[(&str, &str)] = &[];

fn library() -> Library {
    Library::load(&[]).expect("the library loads")
}

#[test]
fn comments_hold_together() {
    let library = library();
    assert_eq!(library.problems(), []);
    for view in library.public_views() {
        assert!(
            view.columns.iter().any(|c| c.name == "trace_id")
                || view.file.contains("rules")
                || is_data(&library, &view.name)
                || OF_THE_STORE.contains(&view.name.as_str()),
            "{}: no trace_id",
            view.file
        );
    }
}

fn is_data(library: &Library, name: &str) -> bool {
    library.view(name).is_some_and(|v| matches!(v.body, tracesql::library::Body::Data(_)))
}

#[test]
fn every_view_runs_on_all_fixtures_together_and_has_rows() {
    let store = bottlenecks();
    store.ingest(&fixture("kernels/own_kernels.json.gz")).expect("the trace is read");
    let engine = store.engine();
    let mut problems = Vec::new();
    for view in library().public_views() {
        match rows_of(&engine, &format!("SELECT * FROM {}", view.name)) {
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

/// The rows of a query in an order of their own. Sums of floating point numbers depend on the order
/// in which partitions come.
fn sorted(engine: &Engine, sql: &str) -> Vec<Vec<String>> {
    let rounded = |value: String| match value.parse::<f64>() {
        Ok(number) if value.contains('.') => format!("{number:.9e}"),
        _ => value,
    };
    let rows = rows_of(engine, sql).unwrap_or_else(|e| panic!("{sql}: {}", short(&e)));
    let mut rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.into_iter().map(rounded).collect()).collect();
    rows.sort_unstable();
    rows
}

/// Plans differ with the number of threads: with one, sorts are left out that others need.
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
    for view in library().public_views() {
        let sql = format!("SELECT * FROM {}", view.name);
        assert_eq!(sorted(&one, &sql), sorted(&three, &sql), "{}", view.name);
    }
}

/// Where there is memory for it, views that a query names more than once are computed once.
#[test]
fn views_answer_the_same_whether_they_share_or_not() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    store.ingest(&fixture("resnet_cpu.pt.trace.json.gz")).expect("the trace is read");
    let (shares, alone) =
        (store.engine(), engine_with(&store, |options| options.shares_nothing = true));
    let trace = shares.traces()[0].trace_id.clone();
    for view in library().public_views() {
        let sql = format!("SELECT * FROM {}", view.name);
        let rows = sorted(&shares, &sql);
        assert_eq!(rows, sorted(&alone, &sql), "{sql}");
        // A filter on traces goes into what is shared.
        if let Some(at) = view.columns.iter().position(|c| c.name == "trace_id") {
            let of_one: Vec<_> = rows.into_iter().filter(|row| row[at] == trace).collect();
            assert_eq!(
                of_one,
                sorted(&shares, &format!("{sql} WHERE trace_id = '{trace}'")),
                "{sql} of {trace}"
            );
        }
    }
}

/// A trace alone in a store has its name taken out of the keys of windows, groups and joins.
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
        // Views of comparisons put traces side by side.
        let has = |view: &View, name: &str| view.columns.iter().any(|c| c.name == name);
        for view in library()
            .public_views()
            .filter(|v| v.area != "compare" && !has(v, "base_trace_id") && has(v, "trace_id"))
        {
            let sql = format!("SELECT * FROM {}", view.name);
            assert_eq!(
                sorted(&alone, &sql),
                sorted(&both, &format!("{sql} WHERE trace_id = '{}'", only[0])),
                "{sql} of {}",
                only[0]
            );
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared} views were compared");
}

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
fn plans_say_what_is_computed_once() {
    let store = fixtures();
    let engine = store.engine();
    let plan = |sql: &str| {
        rows_of(&engine, &format!("EXPLAIN {sql}")).expect("the query is planned").concat().concat()
    };
    let twice = plan(
        "SELECT a.name, b.dur_ns FROM named_events a JOIN named_events b ON a.event_id = b.parent_id AND a.trace_id = b.trace_id",
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
    assert_eq!(plan("SELECT * FROM findings").matches("PartExec: view=rule_").count(), rules);
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
    // Branches that are named twice are computed once, and rows that nobody keeps are read by each
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
        SELECT r.round + 1, r.n + m.n FROM r CROSS JOIN (SELECT count(*) AS n FROM metrics WHERE value >= 0) m WHERE r.round < 3
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

#[test]
fn windows_over_one_stream_are_not_merged() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let sql = "EXPLAIN ANALYZE SELECT *, lag(b) OVER (ORDER BY event_id, ts_ns) FROM (
        SELECT event_id, ts_ns, dur_ns + a AS b FROM (
            SELECT *, sum(dur_ns) OVER (ORDER BY event_id, ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM events
        ) WHERE dur_ns > 0
    )";
    let plan = rows_of(&store.engine(), sql).expect("the query is planned").concat().concat();
    let between = plan.split("WindowAggExec").nth(1).expect("two windows");
    assert!(
        !between.contains("RepartitionExec") && !between.contains("SortPreservingMergeExec"),
        "{plan}"
    );
}

fn engine_with(store: &TestStore, change: impl FnOnce(&mut EngineOptions)) -> Engine {
    let mut options = EngineOptions::default();
    change(&mut options);
    Engine::open(&store.store, None, &options).expect("the store opens")
}

/// Planning takes most of the time here, so only traces that lack much have a store of their own.
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

fn every_view_runs(store: &TestStore) {
    let engine = store.engine();
    let run = |view: &View| {
        rows_of(&engine, &format!("SELECT * FROM {}", view.name))
            .err()
            .map(|e| format!("{}: {}", view.file, short(&e)))
    };
    let problems: Vec<String> = library().public_views().filter_map(run).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The beginning of an error; those of the planner hold whole plans.
fn short(e: &tracesql::Error) -> String {
    e.to_string().chars().take(400).collect()
}

#[test]
fn every_example_of_a_view_runs() {
    let store = fixtures();
    let engine = store.engine();
    let failed: Vec<String> = library()
        .public_views()
        .filter(|v| !v.example.is_empty())
        .filter_map(|v| {
            rows_of(&engine, &v.example)
                .err()
                .map(|e| format!("{}: {}: {}", v.file, v.example, short(&e)))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn no_share_or_quotient_is_nan() {
    let store = fixtures();
    let engine = store.engine();
    let mut problems = Vec::new();
    for view in library().public_views() {
        let doubles: Vec<&str> = view
            .columns
            .iter()
            .filter(|c| c.data_type == "DOUBLE")
            .map(|c| c.name.as_str())
            .collect();
        if doubles.is_empty() {
            continue;
        }
        let counts: Vec<String> = doubles
            .iter()
            .map(|c| {
                format!(
                    "count(*) FILTER (WHERE isnan({c}) OR abs({c}) = 'Infinity'::DOUBLE) AS {c}"
                )
            })
            .collect();
        match rows_of(&engine, &format!("SELECT {} FROM {}", counts.join(", "), view.name)) {
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

#[test]
fn examples_of_functions_give_their_answers() {
    let store = TestStore::new();
    let engine = store.engine();
    let mut problems = Vec::new();
    for function in tracesql::engine::functions() {
        for example in function.doc.examples {
            match rows_of(&engine, example.sql) {
                Ok(rows) if answer(&rows) == example.answer => {}
                Ok(rows) => problems.push(format!(
                    "{}: {}\n  gives   {}\n  and not {}",
                    function.doc.name,
                    example.sql,
                    answer(&rows),
                    example.answer
                )),
                Err(e) => problems.push(format!("{}: {}: {e}", function.doc.name, example.sql)),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn functions_are_documented() {
    let mut names = BTreeSet::new();
    for function in tracesql::engine::functions() {
        let doc = function.doc;
        assert!(names.insert((doc.name, function.call.kind())), "{} is there twice", doc.name);
        assert!(
            doc.signature.contains(doc.name) && doc.signature.contains('→'),
            "{}: {}",
            doc.name,
            doc.signature
        );
        for text in [doc.summary, doc.detail, doc.nulls, doc.errors] {
            assert!(text.ends_with('.') && text.len() > 4, "{}: {text:?} is no sentence", doc.name);
        }
        assert!(!doc.examples.is_empty() || doc.area == "settings", "{} has no example", doc.name);
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
    let now = Reference::of(&engine).write(Style::Markdown, true);
    let path = root().join("docs/reference.md");
    if std::env::var_os("TRACESQL_BLESS").is_some() {
        std::fs::write(&path, now).expect("write the reference");
        return;
    }
    let then = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        then == now,
        "docs/reference.md is old; write it with `tracesql docs --format markdown > docs/reference.md`"
    );
}

#[test]
fn the_reference_as_json_names_everything() {
    let out = tracesql_in(root(), &["docs", "--format", "json"], &[]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    for key in ["tables", "views", "functions", "rules", "settings", "topics"] {
        assert!(json[key].is_array(), "{key}");
    }
    let views = json["views"].as_array().expect("views").len()
        + json["rules"].as_array().expect("rules").len();
    assert_eq!(views, library().public_views().count());
    let columns = |v: &serde_json::Value| {
        v["columns"]
            .as_array()
            .is_some_and(|c| !c.is_empty() && c.iter().all(|c| c["unit"].is_string()))
    };
    assert!(json["tables"].as_array().expect("tables").iter().all(columns));
}

/// A folder of a user with files of these names and texts.
fn user(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        std::fs::write(path, text).expect("write the file");
    }
    folder
}

fn with(folder: &Path, settings: &[(&str, &str)]) -> Result<Engine, tracesql::Error> {
    let settings = settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Engine::without_store(&EngineOptions {
        sql: vec![folder.to_owned()],
        settings,
        ..EngineOptions::default()
    })
}

const GOOD: &str = "-- One row.\n--\n-- Detail.\n--\n-- Source: arithmetic.\n-- Example: SELECT total_ns FROM mine\n--\n-- @column trace_id VARCHAR text A trace.\n-- @column total_ns BIGINT ns A sum\n--    of times.\nSELECT 'a' AS trace_id, CAST(1 AS BIGINT) AS total_ns\n";

#[test]
fn users_add_views_that_build_on_others() {
    let folder = user(&[
        ("own/mine.sql", GOOD),
        (
            "own/twice.sql",
            "-- Two.\n-- @column n BIGINT count N.\nSELECT total_ns * 2 AS n FROM mine;\n",
        ),
    ]);
    let engine = with(folder.path(), &[]).expect("a session");
    assert_eq!(engine.library().problems(), []);
    assert_eq!(answer(&rows_of(&engine, "SELECT n FROM twice").expect("rows")), "2");
    let mine = engine.library().view("mine").expect("the view").clone();
    assert_eq!(
        (mine.summary.as_str(), mine.detail.as_str(), mine.source.as_str()),
        ("One row.", "Detail.", "arithmetic.")
    );
    let sum = Column {
        name: "total_ns".into(),
        data_type: "BIGINT".into(),
        unit: "ns".into(),
        description: "A sum of times.".into(),
    };
    assert_eq!(mine.columns[1], sum);
    assert_eq!(
        answer(
            &rows_of(&engine, "SELECT unit FROM tracesql_columns WHERE relation = 'mine'")
                .expect("rows")
        ),
        "text\nns"
    );
}

#[test]
fn every_part_of_a_comment_goes_on_in_indented_lines() {
    let text = "-- One\n-- row.\n--\n-- Detail.\n--\n-- Source: a\n--   book.\n\
        -- Example: SELECT n\n--   FROM long\n-- Holds: n\n--   = 1\n\
        -- Parts: n BY trace_id\n--   OF long.n\n-- Range: any n; a\n--   number.\n--\n\
        -- @column trace_id VARCHAR text A\n--   trace.\n\
        -- @column n BIGINT number A\n--   number.\n\
        SELECT 'a' AS trace_id, CAST(1 AS BIGINT) AS n\n";
    let engine = with(user(&[("own/long.sql", text)]).path(), &[]).expect("a session");
    assert_eq!(engine.library().problems(), []);
    let long = engine.library().view("long").expect("the view");
    assert_eq!((long.summary.as_str(), long.detail.as_str()), ("One row.", "Detail."));
    assert_eq!((long.source.as_str(), long.example.as_str()), ("a book.", "SELECT n\nFROM long"));
    assert_eq!(
        long.truths.lines(),
        ["n = 1", "sum of n by trace_id = long.n", "n: any value; a number."]
    );
    let texts: Vec<&str> = long.columns.iter().map(|c| c.description.as_str()).collect();
    assert_eq!(texts, ["A trace.", "A number."]);
}

const FAMILY: &str = "-- Two views of one form.\n-- @expand one value=\"1\"\n\
    -- @expand two\n--   value=\"2\" named\n--\n-- The number {value}.\n--\n\
    -- Example: SELECT n FROM {view}\n--\n-- @column n BIGINT count N.\n\
    -- @if named\n-- @column name VARCHAR text Name.\n-- @end\nSELECT\n\
    -- @if named\n    CAST({value} AS BIGINT) AS n, 'two' AS name\n\
    -- @else\n    CAST({value} AS BIGINT) AS n\n-- @end\n";

#[test]
fn a_file_of_users_makes_a_family_of_views() {
    let folder = user(&[("own/numbers/numbers.sql", FAMILY)]);
    let engine = with(folder.path(), &[]).expect("a session");
    assert_eq!(engine.library().problems(), []);
    assert_eq!(answer(&rows_of(&engine, "SELECT n FROM one").expect("rows")), "1");
    assert_eq!(answer(&rows_of(&engine, "SELECT * FROM two").expect("rows")), "2 | two");
    let two = engine.library().view("two").expect("the view");
    assert_eq!((two.area.as_str(), two.summary.as_str()), ("own/numbers", "The number 2."));
    assert_eq!(two.example, "SELECT n FROM two");

    let broken = FAMILY.replace("CAST({value} AS BIGINT) AS n\n", "{valu} AS n\n");
    let folder = user(&[("own/numbers.sql", &broken)]);
    let engine = with(folder.path(), &[]).expect("a session");
    let problems: Vec<String> =
        engine.library().problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].ends_with("own/numbers.sql:18: one has no parameter valu"), "{problems:?}");
}

#[test]
fn broken_files_of_users_are_left_out_with_file_and_line() {
    let folder = user(&[
        ("own/mine.sql", GOOD),
        ("own/no_column.sql", "-- A view.\nSELECT 1 AS n\n"),
        ("own/bad_unit.sql", "-- A view.\n--\n-- @column n BIGINT apples N.\nSELECT 1 AS n\n"),
        ("own/bad_name.sql", "-- A view.\n-- @column dur_ns BIGINT count N.\nSELECT 1 AS dur_ns\n"),
        ("own/events.sql", GOOD),
        ("own/lonely.csv", "a,b\n1,2\n"),
    ]);
    let engine = with(folder.path(), &[]).expect("a session");
    let problems: Vec<String> = engine
        .library()
        .problems()
        .iter()
        .map(|p| p.to_string().replace(&format!("{}/", folder.path().display()), ""))
        .collect();
    assert_eq!(
        problems,
        [
            "own/bad_name.sql:2: column dur_ns: names end in _ns where the unit is ns, and only there",
            "own/bad_unit.sql:3: column n: \"apples\" is not a unit; use one of text, id, count, ns, us, ms, s, bytes, pct, ratio, GB/s, flop, TFLOP/s, json, flag, list, number",
            "own/events.sql:1: events is a table of every store; choose another name for the view",
            "own/no_column.sql:1: each column needs a line `-- @column NAME TYPE UNIT TEXT`",
            "own/lonely.csv:1: no data table lonely in area own; document it in lonely.sql with `-- @data lonely.csv`",
        ]
    );
    assert_eq!(answer(&rows_of(&engine, "SELECT total_ns FROM mine").expect("rows")), "1");
}

#[test]
fn what_a_query_gives_must_be_what_its_comment_says() {
    let folder = user(&[
        ("own/wrong_type.sql", "-- A view.\n-- @column n VARCHAR text N.\nSELECT 1 AS n\n"),
        ("own/more.sql", "-- A view.\n-- @column n BIGINT count N.\nSELECT 1 AS n, 2 AS m\n"),
        ("own/a.sql", "-- A view.\n-- @column n BIGINT count N.\nSELECT n FROM b\n"),
        ("own/b.sql", "-- A view.\n-- @column n BIGINT count N.\nSELECT n FROM a\n"),
        ("own/syntax.sql", "-- A view.\n-- @column n BIGINT count N.\nSELECT n\n  FROM ) x\n"),
    ]);
    let engine = with(folder.path(), &[]).expect("a session");
    let error = |name: &str| {
        rows_of(&engine, &format!("SELECT * FROM {name}")).expect_err("an error").to_string()
    };
    assert!(
        error("wrong_type").contains(
            "own/wrong_type.sql: its comment declares column n VARCHAR, its query gives n BIGINT"
        ),
        "{}",
        error("wrong_type")
    );
    assert!(
        error("more").contains("declares column none, its query gives m BIGINT"),
        "{}",
        error("more")
    );
    assert!(
        error("a").contains("own/a.sql: the view builds on itself (a → b → a)"),
        "{}",
        error("a")
    );
    assert!(
        error("syntax").contains("own/syntax.sql") && error("syntax").contains("Line: 4"),
        "{}",
        error("syntax")
    );
}

#[test]
fn data_tables_take_rows_of_users() {
    let table = "-- Colours.\n-- @column name VARCHAR text Name.\n-- @column weight DOUBLE number Weight.\n-- @data colours.csv\n";
    let one = user(&[
        ("own/colours.sql", table),
        ("own/colours.csv", "name,weight\nred,1.5\n\"a,b\",\n"),
    ]);
    let two = user(&[("own/colours.csv", "name,weight\nblue,2\n")]);
    let options = EngineOptions {
        sql: vec![one.path().to_owned(), two.path().to_owned()],
        ..EngineOptions::default()
    };
    let engine = Engine::without_store(&options).expect("a session");
    assert_eq!(engine.library().problems(), []);
    assert_eq!(
        answer(&rows_of(&engine, "SELECT name, weight FROM colours ORDER BY name").expect("rows")),
        "a,b | NULL\nblue | 2.0\nred | 1.5"
    );
}

#[test]
fn settings_can_be_read_and_changed() {
    let folder = user(&[]);
    let engine = with(folder.path(), &[("time_buckets", "7")]).expect("a session");
    assert_eq!(
        answer(
            &rows_of(&engine, "SELECT setting_int('time_buckets'), setting('time_buckets') / 2")
                .expect("rows")
        ),
        "7 | 3.5"
    );
    assert_eq!(
        answer(
            &rows_of(&engine, "SELECT value FROM tracesql_settings WHERE name = 'time_buckets'")
                .expect("rows")
        ),
        "7"
    );
    engine.settings().reset("time_buckets");
    assert_eq!(
        answer(
            &rows_of(
                &engine,
                "SELECT value = default_value FROM tracesql_settings WHERE name = 'time_buckets'"
            )
            .expect("rows")
        ),
        "true"
    );
    let error =
        rows_of(&engine, "SELECT setting('time_bucket')").expect_err("an error").to_string();
    assert!(error.contains("did you mean time_buckets?"), "{error}");
    assert!(with(folder.path(), &[("no_such", "1")]).is_err());
    let error = with(folder.path(), &[("time_buckets", "many")])
        .map(|_| ())
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains("setting time_buckets must be a number, like 100; \"many\" is none"),
        "{error}"
    );
    let error = with(folder.path(), &[("time_buckets", "3.5")])
        .and_then(|e| rows_of(&e, "SELECT setting_int('time_buckets')").map(|_| ()));
    assert!(
        error
            .expect_err("an error")
            .to_string()
            .contains("setting time_buckets is \"3.5\", which is no integer")
    );
}

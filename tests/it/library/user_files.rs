//! Views, data tables and settings that users add.

use std::path::Path;

use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::Column;

use crate::support::{answer, rows_of};

/// A user's folder with files that have these names and texts.
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

const GOOD: &str = "-- One row.\n--\n-- Detail.\n--\n-- Source: arithmetic.\n\
    -- Example: SELECT total_ns FROM mine\n--\n-- @column trace_id VARCHAR text A trace.\n\
    -- @column total_ns BIGINT ns A sum\n--    of times.\n\
    SELECT 'a' AS trace_id, CAST(1 AS BIGINT) AS total_ns\n";

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
            "own/bad_name.sql:2: column dur_ns: names end in _ns where the unit is ns, and only \
                there",
            "own/bad_unit.sql:3: column n: \"apples\" is not a unit; use one of text, id, count, \
                ns, us, ms, s, bytes, pct, ratio, GB/s, flop, TFLOP/s, json, flag, list, number",
            "own/events.sql:1: events is a table of every store; choose another name for the view",
            "own/no_column.sql:1: each column needs a line `-- @column NAME TYPE UNIT TEXT`",
            "own/lonely.csv:1: no data table lonely in area own; document it in lonely.sql with \
                `-- @data lonely.csv`",
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
    // Views are planned in parallel. Of several errors, the one of the first name is reported.
    for _ in 0..20 {
        let first = error("wrong_type, syntax, more");
        assert!(first.contains("own/more.sql"), "{first}");
        let first = error("wrong_type JOIN syntax ON true");
        assert!(first.contains("own/syntax.sql"), "{first}");
    }
}

#[test]
fn data_tables_take_rows_of_users() {
    let table = "-- Colours.\n-- @column name VARCHAR text Name.\n\
        -- @column weight DOUBLE number Weight.\n-- @data colours.csv\n";
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

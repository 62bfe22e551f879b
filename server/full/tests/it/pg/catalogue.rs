//! What psql and programs with a window ask about tables, columns and types.

use super::wire::Wire;
use super::{Served, script_path, store};

/// The backslash commands of psql that list something.
const COMMANDS: [&str; 30] = [
    "\\d", "\\dt", "\\dv", "\\d kernels", "\\d+ findings", "\\d+", "\\du", "\\l", "\\l+", "\\dn",
    "\\dn+", "\\df", "\\dT", "\\dp", "\\db", "\\dx", "\\di", "\\ds", "\\dS", "\\dt+", "\\dv+",
    "\\dC", "\\da", "\\dO", "\\do", "\\ddp", "\\drds", "\\dew", "\\dy", "\\dRp",
];

#[test]
fn commands_of_psql_list_all_views_with_their_comments() {
    let served = Served::start(&[]);
    let mut arguments = vec!["-At"];
    for command in COMMANDS {
        arguments.extend(["-c", command]);
    }
    let Some(all) = served.psql(&arguments) else { return };
    all.success();
    let views =
        served.values("SELECT name FROM tracesql_views WHERE kind = 'view'").unwrap_or_default();
    let listed = served.psql(&["-At", "-c", "\\d+"]).map(|f| f.success()).unwrap_or_default();
    let mut number = 0;
    for view in views.lines().filter(|name| !name.starts_with('_')) {
        let line = listed.lines().find(|line| line.split('|').nth(1) == Some(view));
        let line = line.unwrap_or_else(|| panic!("{view} is not listed"));
        assert!(!line.ends_with('|'), "{view} has no comment: {line}");
        number += 1;
    }
    assert!(number > 100, "{number} views");
}

#[test]
fn columns_have_the_types_that_their_values_are_sent_in() {
    let served = Served::start(&[]);
    let sql = "SELECT column_name, data_type FROM information_schema.columns \
               WHERE table_name = 'kernels' AND column_name IN ('dur_ns', 'name') ORDER BY 1";
    let Some(values) = served.values(sql) else { return };
    assert_eq!(values, "dur_ns|bigint\nname|text\n");
    let script = served.folder.path().join("describe.sql");
    std::fs::write(&script, "SELECT dur_ns, name FROM kernels \\gdesc\n").expect("a script");
    let described = served.psql(&["-f", &script.display().to_string()]);
    let described = described.map(|f| f.success()).unwrap_or_default();
    assert!(described.contains("bigint") && described.contains("text"), "{described}");
}

/// A view with a column of each type that the engine has.
const TYPES: &str = "CREATE VIEW types AS SELECT true AS c01, CAST(1 AS TINYINT) AS c02, \
    CAST(1 AS SMALLINT) AS c03, CAST(1 AS INT) AS c04, CAST(1 AS BIGINT) AS c05, \
    arrow_cast(1, 'UInt8') AS c06, arrow_cast(1, 'UInt16') AS c07, arrow_cast(1, 'UInt32') AS c08, \
    arrow_cast(1, 'UInt64') AS c09, CAST(1 AS REAL) AS c10, CAST(1 AS DOUBLE) AS c11, \
    CAST(1 AS DECIMAL(12, 3)) AS c12, 'x' AS c13, x'00' AS c14, DATE '2020-01-02' AS c15, \
    TIMESTAMP '2020-01-02' AS c16, \
    arrow_cast(0, 'Timestamp(Nanosecond, Some(\"+00:00\"))') AS c17, \
    [1] AS c18, [1.5] AS c19, ['x'] AS c20, [true] AS c21, [CAST(1 AS REAL)] AS c22, \
    [CAST(1 AS INT)] AS c23, [CAST(1 AS SMALLINT)] AS c24, named_struct('a', 1) AS c25, \
    INTERVAL '1 day' AS c26, [DATE '2020-01-02'] AS c27, [x'00'] AS c28";

#[test]
fn types_are_the_same_in_all_parts_of_the_catalogue_and_in_the_rows() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut wire = Wire::start(served.port);
    assert_eq!(wire.codes(TYPES), Vec::<String>::new());
    let rows = |wire: &mut Wire, sql: &str| -> Vec<Vec<String>> {
        wire.query(sql);
        let answer = wire.until_ready();
        let rows = answer.iter().filter(|m| m.kind == b'D').map(|m| m.texts()).collect();
        assert!(answer.iter().all(|m| m.kind != b'E'), "{sql}: {answer:?}");
        rows
    };
    let of_schema = rows(
        &mut wire,
        "SELECT data_type, udt_name FROM information_schema.columns WHERE table_name = 'types' \
         ORDER BY ordinal_position",
    );
    let of_attributes = rows(
        &mut wire,
        "SELECT format_type(a.atttypid, a.atttypmod), t.typname, a.atttypid \
         FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
         WHERE a.attrelid = 'types'::regclass AND a.attnum > 0 ORDER BY a.attnum",
    );
    wire.query("SELECT * FROM types");
    let columns = wire.until_ready();
    let columns = columns.iter().find(|m| m.kind == b'T').expect("columns");
    // Each column ends with a name, 6 bytes about its table, its type, and 8 bytes.
    let mut rest = &columns.body[2..];
    let mut of_rows = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let oid = &rest[end + 7..end + 11];
        of_rows.push(u32::from_be_bytes(oid.try_into().expect("4 bytes")).to_string());
        rest = &rest[end + 19..];
    }
    assert_eq!((of_schema.len(), of_attributes.len(), of_rows.len()), (28, 28, 28));
    for (at, ((schema, attribute), sent)) in
        of_schema.iter().zip(&of_attributes).zip(&of_rows).enumerate()
    {
        let name = if attribute[0].ends_with("[]") { "ARRAY" } else { attribute[0].as_str() };
        assert_eq!((schema[0].as_str(), &schema[1]), (name, &attribute[1]), "column {}", at + 1);
        assert_eq!(&attribute[2], sent, "column {}", at + 1);
    }
}

#[test]
fn names_of_relations_and_types_are_looked_up() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut wire = Wire::start(served.port);
    for (sql, expected) in [
        ("SELECT to_regclass('public.events') = 'events'::regclass", "t"),
        ("SELECT to_regclass('\"events\"') = c.oid FROM pg_class c WHERE relname = 'events'", "t"),
        ("SELECT to_regclass('pg_class') = 'pg_catalog.pg_class'::regclass", "t"),
        ("SELECT to_regclass('nosuch') IS NULL", "t"),
        ("SELECT to_regclass('public.pg_class') IS NULL", "t"),
        ("SELECT to_regtype('integer')", "23"),
        ("SELECT to_regtype('bigint[]')", "1016"),
        ("SELECT to_regtype('timestamp with time zone')", "1184"),
        ("SELECT to_regtype('hstore') IS NULL", "t"),
        ("SELECT to_regnamespace('public') IS NOT NULL", "t"),
        ("SELECT count(*) FROM (SELECT version() AS v, name FROM events) WHERE v LIKE 'Post%'", ""),
    ] {
        let value = wire.value(sql);
        assert!(value == expected || expected.is_empty() && value != "0", "{sql}: {value}");
    }
    wire.query("SELECT 'nosuch'::regclass");
    let answer = wire.until_ready();
    let error = answer.iter().find(|m| m.kind == b'E').expect("an error");
    let text = String::from_utf8_lossy(&error.body).into_owned();
    assert_eq!(error.code(), "42P01", "{text}");
    assert!(text.contains("relation \"nosuch\" does not exist"), "{text}");
}

#[test]
fn questions_of_programs_with_a_window_have_answers() {
    let served = Served::start(&[]);
    let text = std::fs::read_to_string(script_path("questions.sql")).expect("a file");
    let mut problems = Vec::new();
    let mut number = 0;
    for block in text.split("\n\n") {
        let Some((_, question)) = block.split_once("-- rows: ") else { continue };
        let (rows, sql) = question.split_once('\n').expect("a question");
        // `-q` leaves out the tags of statements without rows.
        let Some(done) = served.psql(&["-Atq", "-c", sql]) else { return };
        let found = done.stdout.lines().count();
        let is_right = match rows {
            "some" => found > 1,
            rows => found == rows.parse::<usize>().expect("a number"),
        };
        if done.code != Some(0) || !is_right {
            problems.push(format!("{sql}: {rows} rows, found {found}: {}", done.stderr));
        }
        number += 1;
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(number > 30, "{number} questions");
}

#[test]
fn psql_repeats_times_and_writes_files_of_the_client() {
    let served = Served::start(&[]);
    let file = served.folder.path().join("steps.csv");
    let copy = format!("\\copy (SELECT trace_id, step FROM steps) TO '{}' CSV", file.display());
    let timed = ["-c", "\\timing on", "-c", "SELECT 1", "-c", &copy];
    let Some(done) = served.psql(&timed) else { return };
    assert!(done.success().contains("Time: "));
    assert!(std::fs::metadata(&file).expect("a file").len() > 0);
    let fetch = ["-At", "-v", "FETCH_COUNT=100", "-c", "SELECT event_id FROM events"];
    let fetched = served.psql(&fetch).map(|f| f.success()).unwrap_or_default();
    let count = served.values("SELECT count(*) FROM events").unwrap_or_default();
    assert_eq!(fetched.lines().count().to_string(), count.trim());
}

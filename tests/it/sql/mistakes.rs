//! Common mistakes in SQL, and the advice that each gets.

use super::{error, store};
use crate::support::{texts, tracesql_in};

/// Statements with parts of their errors, which are separated by ` … `.
const MISTAKES: &[(&str, &str)] = &[
    // Names.
    ("SELECT * FROM evnts", "there is no table or view evnts … ^^^^^ did you mean events?"),
    ("SELECT * FROM kernel", "^^^^^^ did you mean kernels"),
    ("SELECT nam FROM events", "there is no column nam … column 8 … ^^^ did you mean name?"),
    ("SELECT k.strem FROM kernels k", "no column strem in k … ^^^^^ did you mean stream?"),
    ("SELECT name, dur FROM kernels", "there is no column dur … ^^^ did you mean dur_ns?"),
    ("SELECT avg(dur) FROM kernels", "^^^ did you mean dur_ns?"),
    ("SELECT duration FROM kernels", "did you mean dur_ns?"),
    ("SELECT ts FROM kernels", "did you mean ts_ns?"),
    ("SELECT category FROM events", "did you mean cat?"),
    ("SELECT grid_x FROM events", "a column of kernels"),
    (
        "SELECT kernels.name FROM kernels k",
        "the query has no relation kernels … kernels is called k here: write k.name",
    ),
    ("SELECT x.name FROM kernels k", "the query has no relation x … did you mean k.name?"),
    (
        "SELECT strem FROM kernels k JOIN events e ON k.event_id = e.event_id",
        "there is no column strem … did you mean k.stream or e.stream?",
    ),
    (
        "SELECT zzz FROM steps s JOIN events e ON s.event_id = e.event_id",
        "s has trace_id, step, name, event_id, track_id … ; e has trace_id",
    ),
    ("SELECT name FROM events JOIN kernels ON true", "write whose it is"),
    (
        "SELECT name AS n FROM kernels WHERE n = 'x'",
        "there is no column n … WHERE runs before SELECT and cannot use its names",
    ),
    // Quotes.
    (
        "SELECT * FROM events WHERE name = \"aten::mm\"",
        "^^^^^^^^^^ double quotes name columns; write 'aten::mm'",
    ),
    ("SELECT \"Name\" FROM events", "did you mean name?"),
    ("SELECT * FROM events WHERE name IN (\"a\", \"b\")", "write 'a'"),
    // Grouping.
    (
        "SELECT name, count(*) FROM kernels",
        "name is neither grouped nor aggregated … ^^^^ add GROUP BY name, or aggregate it",
    ),
    (
        "SELECT name, count(*) FROM kernels GROUP BY kind",
        "name is neither grouped nor aggregated … ^^^^ add name to GROUP BY",
    ),
    ("SELECT name FROM kernels HAVING dur_ns > 5", "dur_ns is neither grouped nor aggregated"),
    (
        "SELECT name FROM kernels WHERE count(*) > 1",
        "WHERE cannot use aggregate functions … ^^^^^ HAVING, after GROUP BY, filters by them",
    ),
    (
        "SELECT kind, count(*) FROM kernels GROUP BY 1 UNION ALL SELECT kind, 1 FROM kernels \
         ORDER BY count(*)",
        "after UNION, ORDER BY takes names or positions of columns",
    ),
    // JSON.
    ("SELECT args.stream FROM events", "^^^^^^^^^^^ write args->>'stream'"),
    ("SELECT args['stream'] FROM events", "^^^^^^^^^^^^^^ write args->>'stream'"),
    ("SELECT e.args.stream FROM events e", "^^^^^^^^^^^^^ write e.args->>'stream'"),
    ("SELECT json_extract(args, '$.stream') FROM events", "write args->>'stream'"),
    // Units.
    (
        "SELECT * FROM kernels WHERE dur_ns > '5ms'",
        "the text '5ms' cannot become BIGINT … ^^^^^ write ns('5ms')",
    ),
    ("SELECT * FROM kernels WHERE dur_ns > 5ms", "^^^ write ns('5 ms')"),
    ("SELECT * FROM memory WHERE bytes > 20 MiB", "^^^^^^ write bytes('20 MiB')"),
    ("SELECT ns('5 sec')", "there is no unit \"sec\"; write ns('5 ms')"),
    ("SELECT ns('1.5 ns')", "not a whole number of nanoseconds"),
    // Values.
    ("SELECT * FROM kernels WHERE dur_ns = 'abc'", "^^^^^ this text is not a BIGINT"),
    (
        "SELECT name FROM kernels WHERE name = 3",
        "cannot become BIGINT … ^^^^^^^^ name is text: write name = '3'",
    ),
    (
        "SELECT CAST(name AS INT) FROM kernels",
        "cannot become INTEGER … ^^^^^^^^^^^^^^^^^ TRY_CAST(x AS type) is NULL",
    ),
    ("SELECT name::BIGINT FROM kernels", "^^^^^^^^ TRY_CAST(x AS type) is NULL"),
    ("SELECT dur_ns / 0 FROM kernels", "division by zero … column 15 … ^ the divisor is 0"),
    (
        "SELECT dur_ns / (dur_ns - dur_ns) FROM kernels",
        "division by zero … ^ a / nullif(b, 0) is NULL where b is 0",
    ),
    ("SELECT sum(name) FROM kernels", "sum does not take VARCHAR … ^^^"),
    // Functions.
    ("SELECT format_n(1)", "^^^^^^^^ did you mean format_ns?"),
    ("SELECT date_diff('day', 1, 2)", "times are BIGINT nanoseconds: subtract them"),
    ("SELECT group_concat(name) FROM kernels", "write string_agg(x, ', ')"),
    ("SELECT percentile(dur_ns, 90) FROM kernels", "write quantile(x, 0.9)"),
    ("SELECT countif(dur_ns > 5) FROM kernels", "count(*) FILTER (WHERE condition)"),
    ("SELECT arg_max(name, dur_ns) FROM kernels", "first_value(x ORDER BY y DESC)"),
    ("SELECT if(true, 1, 2)", "CASE WHEN"),
    ("SELECT format_ns('5')", "format_ns takes a number"),
    // Files.
    (
        "SELECT * FROM 'x.csv'",
        "FROM does not read files: 'x.csv' … STORED AS CSV LOCATION 'x.csv' reads it",
    ),
    ("FROM 'run.json.gz'", "name traces on the command line"),
    ("SELECT * FROM read_csv('x.csv')", "there is no function read_csv … STORED AS CSV"),
    // Statements that would change something.
    ("DROP TABLE kernels", "kernels is a table of the trace and cannot be dropped … ^^^^^^^"),
    ("DROP TABLE IF EXISTS kernels", "kernels is a table of the trace and cannot be dropped"),
    ("DROP VIEW operators", "operators is a view of the library and cannot be dropped"),
    (
        "CREATE OR REPLACE VIEW operators AS SELECT 1",
        "operators is a view of the library and cannot be replaced … choose another name",
    ),
    ("CREATE TABLE kernels AS SELECT 1", "kernels is a table of the trace and cannot be replaced"),
    ("INSERT INTO kernels VALUES (1)", "kernels is a table of the trace and cannot be changed"),
    ("UPDATE kernels SET name = 'x'", "cannot be changed … CREATE TABLE name AS SELECT"),
    ("DELETE FROM kernels", "cannot be changed"),
    ("TRUNCATE TABLE kernels", "cannot be changed"),
    ("ALTER TABLE kernels RENAME TO k", "cannot be changed"),
    ("COPY kernels TO 'x.csv'", "-o FILE writes the result of a query"),
    ("PRAGMA table_info('kernels')", "PRAGMA is not supported … DESCRIBE t"),
    ("ATTACH 'x.db' AS y", "ATTACH is not supported"),
    // Syntax.
    ("SELECT name FORM events", "did you mean FROM instead of FORM?"),
    ("SELECT $n + 1", "$n has no value … give it one with -p n=VALUE"),
    ("SUMMARIZE evnts", "did you mean events?"),
];

#[test]
fn mistakes_get_advice() {
    let store = store();
    let mut wrong = Vec::new();
    for (sql, parts) in MISTAKES {
        let error = error(&store.engine(), sql);
        if let Some(part) = parts.split(" … ").find(|part| !error.contains(part)) {
            wrong.push(format!("{sql}\nshould have {part:?}:\n{error}"));
        }
        let raw = ["Utf8View", "Int64", "Error during planning", "DataFusion"];
        if raw.iter().any(|word| error.contains(word)) {
            wrong.push(format!("{sql}\nnames parts of the engine:\n{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_place_is_given_only_if_it_is_the_only_one() {
    let store = store();
    let engine = store.engine();
    for sql in [
        "SELECT dur_ns / 0, dur_ns / 1 FROM kernels",
        "SELECT CAST(name AS INT), CAST(kind AS INT) FROM kernels",
        "SELECT CAST(name AS BIGINT) FROM kernels WHERE name <> 3",
        "CREATE VIEW mine AS SELECT dur_ns / 0 AS x FROM kernels; SELECT x / 1 FROM mine",
    ] {
        let error = error(&engine, sql);
        assert!(!error.contains('^'), "{sql}\n{error}");
    }
    // The other division is in a text.
    assert!(error(&engine, "SELECT dur_ns / 0, ' / ' FROM kernels").contains('^'));
}

#[test]
fn the_users_own_relations_can_be_dropped() {
    let store = store();
    let error = error(
        &store.engine(),
        "CREATE TABLE t AS SELECT 1 AS a; DROP TABLE t; CREATE VIEW v AS SELECT 1 AS a; \
         CREATE OR REPLACE VIEW v AS SELECT 2 AS a; DROP VIEW v; SELECT * FROM v",
    );
    assert!(error.contains("there is no table or view v"), "{error}");
}

#[test]
fn conditions_of_profiles_have_the_same_errors() {
    let store = store();
    let run = |condition: &str| {
        let args = ["pprof", "store", "-o", "x.pb.gz", "--where", condition];
        texts(&tracesql_in(store.folder.path(), &args, &[])).1
    };
    let error = run("stack_contain(stack, 'x')");
    let wanted = "there is no function stack_contain
  line 1, column 1
    stack_contain(stack, 'x')
    ^^^^^^^^^^^^^ did you mean stack_contains";
    assert!(error.contains(wanted), "{error}");
    assert!(run("thred = 'main'").contains("^^^^^ did you mean thread?"));
}

#[test]
fn unknown_topics_get_no_distant_suggestion() {
    let run = |args: &[&str]| texts(&tracesql_in(std::path::Path::new("."), args, &[])).1;
    let error = run(&["docs", "nosuchthing"]);
    assert!(!error.contains("did you mean") && error.contains("docs --search"), "{error}");
    assert!(run(&["docs", "kernel"]).contains("did you mean kernels?"));
    assert!(run(&["docs", "--search", "xyzzy"]).contains("nothing contains"));
}

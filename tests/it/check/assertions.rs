//! Queries that must return no rows.

use super::Place;

fn place(sql: &str) -> Place {
    let place = Place::new(&["chrome_mixed.json"]);
    place.write("a.sql", sql);
    place
}

const ARGS: &[&str] = &["chrome_mixed", "--assert", "a.sql"];

#[test]
fn rows_fail_and_are_shown_up_to_a_limit() {
    let place = place(
        "-- What must hold.\n\n-- name: no event is long\nSELECT 1 AS n WHERE false;\n\n\
            -- name: nothing starts late\n\
            SELECT i AS n, 'é|x' AS t FROM (SELECT unnest(range(0, 25)) AS i);\n",
    );
    let text = place.check(1, ARGS);
    assert!(text.contains("Assertions: 1 of 2 passed"), "{text}");
    assert!(
        text.contains(
            "FAIL  nothing starts late\n        the query returned 25 rows\n        \
            a.sql:6\n        | n | t\n        | 0 | é|x\n"
        ),
        "{text}"
    );
    assert!(text.contains("        | 9 |") && !text.contains("        | 10"), "{text}");
    let json = place.json(1, &[ARGS, &["--max-rows", "2"]].concat());
    let failed = &json["checks"][1];
    assert_eq!((failed["file"].as_str(), failed["line"].as_i64()), (Some("a.sql"), Some(6)));
    assert_eq!(failed["columns"], serde_json::json!(["n", "t"]));
    assert_eq!(failed["rows"], serde_json::json!([["0", "é|x"], ["1", "é|x"]]));
    assert_eq!(json["summary"]["passed"], 1);
}

#[test]
fn control_characters_of_rows_reach_no_terminal() {
    let text = place("-- name: a\nSELECT chr(27) || '[31m' AS t;\n").check(1, ARGS);
    assert!(text.contains("\\u{1b}[31m") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_does_not_parse_is_refused_with_its_line() {
    for (sql, says) in [
        ("-- name: a\nSELECT 1 WHERE false;\n-- name: b\nSELECT\n  FROM ) x;\n", "a.sql:5: "),
        ("-- name: a\nSELEC 1;\n", "a.sql:2: "),
        ("-- name: a\nSELECT 'open\n", "a.sql:2: "),
        ("SELECT 1;\n", "a.sql:1: write a line `-- name: what must hold` before each query"),
        ("-- name: a\nSELECT 1;\n\nSELECT 2;\n", "a.sql:4: write a line"),
        ("-- name: a\n-- name: b\nSELECT 1;\n", "a.sql:2: the query has two names"),
        (
            "-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n",
            "a.sql:3: line 1 has an assertion of this name already: a",
        ),
        ("-- name: a\nSELECT 1;\n-- name: b\n", "a.sql:3: there is no query after `-- name: b`"),
        ("-- name:\nSELECT 1;\n", "a.sql:1: the name is empty"),
        ("-- name: a\nCREATE VIEW v AS SELECT 1;\n", "a.sql:2: an assertion is a query"),
        ("-- name: a\n\\d events\n", "a.sql:2: commands of the shell"),
        ("-- nothing\n", "a.sql: there is no assertion in it"),
    ] {
        let text = place(sql).check(2, ARGS);
        assert!(text.contains(says), "{sql}\n{text}");
    }
}

#[test]
fn queries_that_fail_are_errors_and_not_passes() {
    let text = place(
        "-- name: a\nSELECT nope FROM events;\n-- name: b\nSELECT 1 / 0;\n-- name: c\nSELECT 1;\n",
    )
    .check(4, ARGS);
    assert!(
        text.contains("ERROR a")
            && text.contains("nope")
            && text.contains("ERROR b")
            && text.contains("FAIL  c"),
        "{text}"
    );
    assert!(
        text.contains("a.sql:1") && text.contains("ERROR: 1 failed, 2 could not be checked"),
        "{text}"
    );
}

#[test]
fn assertions_that_cannot_be_read_are_errors() {
    let place = place("");
    place.check(3, &["chrome_mixed", "--assert", "not-here.sql"]);
    place.write("b.sql", "-- name: x\nSELECT 1 WHERE false;\n");
    std::fs::write(place.path("c.sql"), b"\xff\xfe-- name").expect("a file");
    place.check(2, &["chrome_mixed", "--assert", "c.sql"]);
    place.check(0, &["chrome_mixed", "--assert", "b.sql"]);
}

//! Scripts: commands between statements, errors with their place, and misspelt names.

use super::{Place, with_input};

#[test]
fn commands_stand_between_statements() {
    let place = Place::new();
    place.write("inner.sql", "SELECT $n + 1 AS inner_n;\n");
    place.write(
        "q.sql",
        "-- settings\n\\format csv\n\\set n 41\n\\set t it\\'s\n\
            SELECT $n AS n, $t AS t, ';' AS s;\n\\i inner.sql\n\\o out.json\nSELECT 2 AS two;\n\
            SELECT 3 AS three\n",
    );
    assert_eq!(
        place.ok(&["query", "s", "-f", "q.sql"]),
        "n,t,s\n41,it's,;\ninner_n\n42\nthree\n3\n"
    );
    // The format was set before the file.
    assert_eq!(std::fs::read_to_string(place.path("out.json")).expect("a file"), "two\n2\n");
}

#[test]
fn a_script_from_standard_input_may_hold_commands() {
    let place = Place::new();
    assert_eq!(
        with_input(
            &place,
            &["query", "s"],
            "\\format csv\nSELECT 1 AS a;\n.format json\nSELECT 2 AS b;\n\\q\nSELECT 3;"
        ),
        "a\n1\n[{\"b\":2}]\n"
    );
}

#[test]
fn wrong_commands_are_errors() {
    let place = Place::new();
    assert!(
        place.fails(2, &["query", "s", "-c", "\\timming on"]).contains("did you mean \\timing?")
    );
    assert!(place.fails(2, &["query", "s", "-c", "\\format xml"]).contains("not a format"));
    assert!(place.fails(2, &["query", "s", "-c", "\\i not-here.sql"]).contains("not-here.sql"));
    assert!(
        place.fails(2, &["query", "s", "-c", "\\timing perhaps"]).contains("neither on nor off")
    );
    assert!(place.fails(2, &["query", "s", "-c", "\\unset n"]).contains("nothing is set"));
    assert!(place.fails(2, &["query", "s", "-c", "\\set n 'x"]).contains("not closed"));
    place.write("loop.sql", "\\i loop.sql");
    assert!(place.fails(2, &["query", "s", "-f", "loop.sql"]).contains("include each other"));
}

#[test]
fn names_are_described() {
    let place = Place::new();
    let events = place.ok(&["query", "s", "-c", "\\d events"]);
    assert!(
        events.starts_with("events  (table)\n")
            && events.contains("dur_ns")
            && events.contains("BIGINT"),
        "{events}"
    );
    let all = place.ok(&["query", "s", "-c", "\\d"]);
    assert!(all.starts_with("tables\n") && all.contains("ingest_issues"), "{all}");
    assert!(
        place.ok(&["query", "s", "-c", "\\d format_ns"]).contains("format_ns(ns DOUBLE) → VARCHAR")
    );
    assert!(
        place.ok(&["query", "s", "-c", "\\df"]).contains("format_bytes(bytes DOUBLE) → VARCHAR")
    );
    assert!(place.ok(&["query", "s", "-c", "\\df *regexp*"]).contains("regexp_match"));
    assert!(
        place
            .ok(&["query", "s", "-c", "CREATE VIEW mine AS SELECT 1 AS one;\n\\d mine"])
            .contains("BIGINT")
    );
    assert!(place.fails(2, &["query", "s", "-c", "\\d evnts"]).contains("did you mean events?"));
    assert!(place.ok(&["query", "s", "-c", "\\loaded"]).starts_with("1 trace, 98 events\n"));
}

#[test]
fn errors_point_at_their_place() {
    let place = Place::new();
    let error = place.fails(4, &["query", "s", "-c", "SELECT nam FROM events"]);
    assert!(
        error.contains(
            "line 1, column 8\n    SELECT nam FROM events\n           ^^^ did you mean name?"
        ),
        "{error}"
    );
    place.write("q.sql", "SELECT 1;\n-- a comment\nSELECT e.name,\n  e.durr_ns\nFROM events e;\n");
    let error = place.fails_after(4, &["query", "s", "-f", "q.sql"]);
    assert!(
        error.contains(
            "q.sql, line 4, column 5\n      e.durr_ns\n        ^^^^^^^ did you mean dur_ns?"
        ),
        "{error}"
    );
    let error = place.fails(4, &["query", "s", "-c", "SELECT 1;\nSELECT name FORM events"]);
    assert!(
        error.contains("line 2, column 18") && error.contains("did you mean FROM instead of FORM?"),
        "{error}"
    );
    let error = place.fails(4, &["query", "s", "-c", "SELECT 'open"]);
    assert!(error.contains("    SELECT 'open\n           ^"), "{error}");
}

#[test]
fn misspelt_names_get_a_suggestion() {
    let place = Place::new();
    for (sql, help) in [
        ("SELECT * FROM evnts", "there is no table or view evnts"),
        ("SELECT * FROM evnts", "^^^^^ did you mean events?"),
        ("SELECT * FROM kernel", "^^^^^^ did you mean kernels"),
        ("SELECT k.strem FROM kernels k", "did you mean stream?"),
        ("SELECT format_n(1)", "^^^^^^^^ did you mean format_ns?"),
        ("SELECT grid_x FROM events", "a column of kernels"),
        ("SELECT name FROM events JOIN kernels ON true", "write whose it is"),
        (
            "CREATE VIEW mine AS SELECT 1 AS one; SELECT * FROM mien",
            "there is no table or view mien",
        ),
    ] {
        let error = place.fails(4, &["query", "s", "-c", sql]);
        assert!(error.contains(help), "{sql}\n{error}");
    }
}

#[test]
fn errors_bring_nothing_raw_to_the_terminal() {
    let place = Place::new();
    let error = place.fails(4, &["query", "s", "-c", "SELECT '\x1b[31m', nam FROM events"]);
    assert!(!error.contains('\x1b') && error.contains("^^^ did you mean name?"), "{error}");
}

#[test]
fn plans_are_lines() {
    let place = Place::new();
    let plan = place.ok(&["query", "s", "-c", "\\explain SELECT count(*) FROM events"]);
    assert!(plan.lines().count() > 3 && !plan.contains("\\n"), "{plan}");
    assert!(
        place
            .ok(&["query", "s", "-c", "\\explain analyze SELECT name FROM events"])
            .contains("metrics=")
    );
}

#[test]
fn a_parameter_that_a_statement_does_not_use_is_no_error() {
    let place = Place::new();
    assert_eq!(
        place.ok(&[
            "query",
            "s",
            "--format",
            "csv",
            "-p",
            "n=1",
            "-c",
            "SELECT 5 AS a; SELECT $n AS b"
        ]),
        "a\n5\nb\n1\n"
    );
}

#[test]
fn traces_are_opened_and_added_from_a_script() {
    let place = Place::new();
    place.write("t.json", r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}]}"#);
    let out = place.ok(&[
        "query",
        "s",
        "--format",
        "csv",
        "-c",
        "\\open t.json\nSELECT count(*) AS n FROM events;\n\\ingest t.json",
    ]);
    assert_eq!(out, "n\n1\n");
    let out = place.ok(&[
        "query",
        "s",
        "--format",
        "csv",
        "-c",
        "\\ingest t.json\nSELECT count(*) AS n FROM events;\n\\open s\n\
            SELECT count(*) AS m FROM traces",
    ]);
    assert_eq!(out, "n\n99\nm\n2\n");
}

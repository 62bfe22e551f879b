//! Rules run by `check`: which results fail, which do not count as passed, and the exit codes.

use super::rules::rule;
use super::{Place, of_status};

/// A rule that returns the same row for each trace.
fn says(status: &str, severity: &str, more: &[(&str, &str)]) -> String {
    let mut values = vec![
        ("rule", "'mine'"),
        ("status", status),
        ("severity", severity),
        ("trace_id", "t.trace_id"),
        ("message", "'it is so'"),
    ];
    values.extend_from_slice(more);
    rule(&values, "FROM traces t")
}

fn place(text: &str) -> Place {
    let place = Place::new(&["chrome_mixed.json"]);
    place.write("r/rule_mine.sql", text);
    place
}

const MINE: &[&str] = &["chrome_mixed", "--rules", "r", "--rule", "mine"];

fn mine<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["check"], MINE, more].concat()
}

#[test]
fn findings_fail_from_a_severity_on() {
    let place = place(&says(
        "'finding'",
        "'medium'",
        &[("advice", "'do this'"), ("value", "12.5"), ("unit", "'pct'")],
    ));
    let text = place.ends(1, &mine(&[]));
    assert!(
        text.contains("FAIL  mine (medium)\n        it is so\n        advice: do this\n"),
        "{text}"
    );
    assert!(text.contains("FAILED: 1 failed"), "{text}");
    place.ends(1, &mine(&["--severity", "low"]));
    let text = place.ends(0, &mine(&["--severity", "high"]));
    assert!(text.contains("note  mine (medium)") && text.contains("PASSED: 1 noted"), "{text}");
}

#[test]
fn what_is_not_measurable_is_no_pass() {
    let place = place(&says("'not_measurable'", "NULL", &[("reason", "'no steps'")]));
    let text = place.ends(4, &mine(&[]));
    assert!(
        text.contains("Rules: 0 of 1 passed") && text.contains("n/m   mine\n        no steps"),
        "{text}"
    );
    assert!(
        text.contains("ERROR: 1 not measurable; a check that measures nothing does not pass"),
        "{text}"
    );
    // If another rule passes, a rule that is not measurable is listed.
    let text =
        place.ends(0, &["check", "chrome_mixed", "--rules", "r", "--rule", "mine,trace_damage"]);
    // The worst result of a rule decides, and trace_damage has notes on this trace.
    assert!(text.contains("PASSED: 1 not measurable, 1 noted\n"), "{text}");
    for require in ["mine", "rule_mine", "all"] {
        let text = place.ends(1, &mine(&["--require", require]));
        assert!(text.contains("required, but not measurable: no steps"), "{text}");
    }
}

#[test]
fn silence_is_no_pass() {
    let place = place(&rule(&[("rule", "'mine'"), ("status", "'ok'")], "WHERE false"));
    let text = place.ends(4, &mine(&[]));
    assert!(
        text.contains("Rules: 0 of 1 passed")
            && text.contains("the rule gives no row for this trace"),
        "{text}"
    );
    place.ends(1, &mine(&["--require", "mine"]));
}

#[test]
fn what_a_rule_may_not_say_is_an_error() {
    for (status, severity, says_so) in [
        ("'fine'", "NULL", "the status \"fine\""),
        ("NULL", "NULL", "the status \"\""),
        ("'finding'", "NULL", "the severity NULL"),
        ("'finding'", "'awful'", "the severity awful"),
    ] {
        let text = place(&says(status, severity, &[])).ends(4, &mine(&[]));
        assert!(text.contains(says_so) && text.contains("1 could not be checked"), "{text}");
    }
}

#[test]
fn a_rule_that_fails_to_run_is_an_error_beside_the_others() {
    let place = place(&says("'finding'", "'high'", &[]));
    place.write("r/rule_other.sql", &rule(&[("rule", "'other'"), ("status", "nope")], ""));
    let text = place.ends(4, &["check", "chrome_mixed", "--rules", "r", "--rule", "mine,other"]);
    assert!(
        text.contains("ERROR other")
            && text.contains("rule_other.sql")
            && text.contains("FAIL  mine (high)"),
        "{text}"
    );
}

#[test]
fn a_value_that_is_no_number_is_shown_as_none() {
    let place =
        place(&says("'finding'", "'high'", &[("value", "'NaN'::DOUBLE"), ("unit", "'pct'")]));
    let json = place.json(1, MINE);
    assert_eq!(of_status(&json, "failed"), ["mine"]);
    assert!(json["checks"][0]["figures"]["value"].is_null(), "{json}");
}

#[test]
fn names_of_rules_must_be_known() {
    let place = place(&says("'ok'", "NULL", &[]));
    for option in ["--rule", "--skip", "--require"] {
        let text = place.ends(2, &["check", "chrome_mixed", "--rules", "r", option, "minee"]);
        assert!(
            text.contains(&format!(
                "{option} minee: there is no rule of that name; did you mean mine?"
            )),
            "{text}"
        );
    }
    let text = place.ends(2, &mine(&["--skip", "mine"]));
    assert!(text.contains("nothing to check"), "{text}");
    let text = place
        .ends(2, &["check", "chrome_mixed", "--rules", "r", "--skip", "mine", "--require", "mine"]);
    assert!(text.contains("--require mine: the rule is not among those that are run"), "{text}");
}

#[test]
fn a_rule_that_is_left_out_stops_the_check() {
    let place = place(&says("'ok'", "NULL", &[]));
    place.write("r/slow.sql", &says("'ok'", "NULL", &[]));
    let text = place.ends(2, &mine(&[]));
    assert!(text.contains("r/slow.sql:1: this is no rule: name the file rule_slow.sql"), "{text}");
    place.ends(2, &["check", "chrome_mixed", "--rules", "not-here"]);
    place.ends(2, &["check", "chrome_mixed", "--set", "no_such=1"]);
}

#[test]
fn settings_reach_rules() {
    let text =
        says("CASE WHEN setting('time_buckets') > 50 THEN 'finding' ELSE 'ok' END", "'high'", &[]);
    let place = place(&text);
    place.ends(1, &mine(&[]));
    place.ends(0, &mine(&["--set", "time_buckets=7"]));
}

#[test]
fn an_empty_element_is_no_damage() {
    let place = Place::new(&[]);
    let element = r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5}"#;
    for (last, code, severity) in [
        ("{}", 0, "info"),
        ("{ }", 0, "info"),
        ("{},{}", 1, "high"),
        (r#"{"name":"b"}"#, 1, "high"),
    ] {
        place.write("t.json", &format!(r#"{{"traceEvents":[{element},{last}]}}"#));
        let json = place.json(code, &["t.json", "--rule", "trace_damage"]);
        assert_eq!(
            (&json["checks"][0]["subject"], &json["checks"][0]["severity"]),
            (&"no_phase".into(), &severity.into()),
            "{last}: {json}"
        );
    }
}

#[test]
fn settings_are_numbers_where_their_defaults_are() {
    let place = place(&says("'ok'", "NULL", &[]));
    for value in ["NaN", "inf", "-infinity", "1e999", "soon", ""] {
        let setting = format!("rule_data_loading_pct={value}");
        let text = place.ends(2, &mine(&["--set", &setting]));
        assert!(
            text.contains(&format!(
                "setting rule_data_loading_pct must be a number, like 10; {value:?} is none"
            )),
            "{text}"
        );
    }
    let json = place.json(
        0,
        &[
            MINE,
            &[
                "--set",
                "rule_data_loading_pct= 12.5 ",
                "--set",
                "rule_gpu_busy_pct=50",
                "--severity",
                "low",
            ],
        ]
        .concat(),
    );
    let changed = serde_json::json!([
        {"name": "rule_data_loading_pct", "value": " 12.5 ", "default": "10", "unit": "pct"}
    ]);
    assert_eq!(
        (&json["settings_changed"], &json["severity"], &json["thresholds"]),
        (&changed, &"low".into(), &serde_json::Value::Null)
    );
    let text = place.ends(0, &mine(&["--set", "rule_data_loading_pct=5"]));
    assert!(text.contains("\nsetting: rule_data_loading_pct = 5 (default 10)\n"), "{text}");
}

#[test]
fn stores_that_cannot_be_checked_are_errors() {
    let place = place(&says("'ok'", "NULL", &[]));
    place.ends(3, &["check", "not-here"]);
    place.write("page.html", "<html>");
    place.ends(3, &["check", "page.html"]);
    let trace = place.run(&["list", "chrome_mixed", "--format", "csv"]).0;
    let trace = trace.lines().nth(1).and_then(|l| l.split(',').next()).expect("a trace").to_owned();
    place.ends(0, &["remove", "chrome_mixed", &trace]);
    let text = place.ends(3, &mine(&[]));
    assert!(text.contains("holds no trace"), "{text}");
}

#[test]
fn the_verdict_does_not_depend_on_who_reads_it() {
    // The reader is closed before anything is written, and standard error cannot be written either.
    let place = place(&says("'finding'", "'high'", &[]));
    let run = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tracesql"));
        command
            .current_dir(place.path(""))
            .env("TRACESQL_CACHE", place.path("cache"))
            .args(args)
            .stdout(writer)
            .stderr(full);
        command.status().expect("it runs").code()
    };
    for format in ["text", "json", "junit", "github"] {
        assert_eq!(run(&mine(&["--format", format])), Some(1), "{format}");
    }
    assert_eq!(run(&mine(&["-o", "check.xml"])), Some(1));
    assert_eq!(run(&["check", "nothing"]), Some(3));
    assert_eq!(run(&["ingest", "chrome_mixed", "-o", "again"]), Some(3));
    assert_eq!(run(&["remove", "chrome_mixed", "nothing"]), Some(2));
}

#[test]
fn a_folder_without_rules_is_refused() {
    let place = place(&says("'ok'", "NULL", &[]));
    std::fs::create_dir(place.path("empty")).expect("a folder");
    let text = place.ends(2, &["check", "chrome_mixed", "--rules", "empty"]);
    assert!(text.contains("--rules empty: there is no rule in it, a file rule_NAME.sql"), "{text}");
    place.write("text/rule_mine.sql.txt", "-- A rule");
    place.ends(2, &["check", "chrome_mixed", "--rules", "text"]);
    // The folder contains a rule, and a file in a place where it is not a rule.
    place.write("r/team/rule_other.sql", &place.read("r/rule_mine.sql"));
    let text = place.ends(2, &mine(&[]));
    assert!(text.contains("rule_other.sql:1: this is no rule, because of its folder"), "{text}");
    // The case of the extension does not matter.
    place.write("big/rule_mine.SQL", &place.read("r/rule_mine.sql"));
    place.ends(0, &["check", "chrome_mixed", "--rules", "big", "--rule", "mine"]);
}

#[test]
fn a_trace_without_elements_fails() {
    let place = place(&says("'ok'", "NULL", &[]));
    place.write("empty.json", r#"{"schemaVersion":1,"traceEvents":[]}"#);
    let text = place.ends(1, &["check", "empty.json"]);
    assert!(text.contains("FAIL  trace_damage [empty_trace] (high)"), "{text}");
    // An input file is never overwritten.
    let text = place.ends(2, &["check", "empty.json", "-o", "./empty.json"]);
    assert!(text.contains("would be written over empty.json"), "{text}");
    place.ends(2, &["export", "empty.json", "-o", "empty.json"]);
    place.ends(2, &["empty.json", "-c", "SELECT 1", "-o", "empty.json"]);
    place.ends(2, &["folded", "empty.json", "-o", "empty.json"]);
    place.ends(2, &["report", "empty.json", "--format", "json", "-o", "empty.json"]);
    assert_eq!(place.read("empty.json"), r#"{"schemaVersion":1,"traceEvents":[]}"#);
}

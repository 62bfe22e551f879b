//! Rules that are composed from a header and one SELECT.

use std::path::PathBuf;

use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::{Body, RULE_COLUMNS};

use super::rules::{folder, rule};
use crate::support::{TestStore, fixture, root, rows_of, tracesql_in};

/// A minimal user rule with one limit, one sentence and one piece of advice.
const HOST: &str = "-- Share of events on the host.
--
-- @finding above 60 pct, high above 99: share of events on the host
-- @numerator events on the host
-- @denominator events
-- @message {value} % of {denominator} events are on the host, limit {threshold}.
-- @advice Look at {numerator:event|events}.
SELECT t.trace_id, t.rank, count(*) FILTER (WHERE e.device IS NULL) AS numerator,
    count(e.event_id) AS denominator
FROM traces t
LEFT JOIN events e ON e.trace_id = t.trace_id
GROUP BY t.trace_id, t.rank
";

fn options(folder: &TempDir) -> EngineOptions {
    EngineOptions { rules: vec![folder.path().to_owned()], ..EngineOptions::default() }
}

/// The problem of a rule in a file `rule_mine.sql`, starting with the line number.
fn problem(text: &str) -> String {
    let folder = folder(&[("rule_mine.sql", text.to_owned())]);
    let engine = Engine::without_store(&options(&folder)).expect("a session");
    let problems = engine.library().problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    let prefix = format!("{}/rule_mine.sql:", folder.path().display());
    assert!(engine.library().view("rule_mine").is_none(), "the rule is left out");
    problems[0].to_string().replace(&prefix, "")
}

/// The rows that a rule in a file `rule_mine.sql` returns over a store with one trace.
fn answers(text: &str, sql: &str) -> Vec<String> {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let folder = folder(&[("rule_mine.sql", text.to_owned())]);
    let engine = Engine::open(&store.store, None, &options(&folder)).expect("the store opens");
    assert_eq!(engine.library().problems(), []);
    let rows = rows_of(&engine, sql).unwrap_or_else(|e| panic!("{e}"));
    rows.into_iter().map(|row| row.join(" | ")).collect()
}

#[test]
fn a_rule_of_a_header_and_a_select_has_all_columns_and_settings() {
    let folder = folder(&[("rule_mine.sql", HOST.to_owned())]);
    let engine = Engine::without_store(&options(&folder)).expect("a session");
    assert_eq!(engine.library().problems(), []);
    let view = engine.library().view("rule_mine").expect("the rule");
    let columns: Vec<(&str, &str)> =
        view.columns.iter().map(|c| (c.name.as_str(), c.data_type.as_str())).collect();
    assert_eq!(columns, RULE_COLUMNS);
    assert!(view.columns.iter().all(|c| c.description.ends_with('.')));
    assert_eq!(view.example, "SELECT status, severity, value, message FROM rule_mine");
    assert_eq!(
        view.detail,
        "It is a finding (medium) above rule_mine_pct (60) percent,\n\
         high above rule_mine_high_pct (99)."
    );
    let settings = engine.settings().all();
    let setting = &settings["rule_mine_pct"];
    assert_eq!((setting.default.as_deref(), setting.unit.as_str()), (Some("60"), "pct"));
    assert_eq!(
        setting.description,
        "Share of events on the host above which rule_mine has a finding."
    );
    assert_eq!(settings["rule_mine_high_pct"].description, "Share above which that is high.");
}

#[test]
fn a_value_beyond_the_limit_is_a_finding_and_settings_move_the_limit() {
    let sql = "SELECT status, severity, message, advice, reason, \
               value = 100.0 * numerator / denominator FROM findings WHERE rule = 'mine'";
    let found = answers(HOST, sql);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("finding | medium | "), "{found:?}");
    assert!(found[0].contains(" events are on the host, limit 60. | Look at "), "{found:?}");
    assert!(found[0].ends_with(" events. | NULL | true"), "{found:?}");
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let folder = folder(&[("rule_mine.sql", HOST.to_owned())]);
    let engine = Engine::open(&store.store, None, &options(&folder)).expect("the store opens");
    for (name, value, wanted) in
        [("rule_mine_high_pct", "61", "finding high"), ("rule_mine_pct", "99.5", "ok NULL")]
    {
        assert!(engine.settings().set(name, value));
        let rows = rows_of(&engine, "SELECT status, severity FROM rule_mine").expect("rows");
        assert_eq!(rows[0].join(" "), wanted, "{name}={value}");
    }
}

#[test]
fn a_row_without_a_value_is_not_measurable() {
    let select = "SELECT trace_id, rank, CAST(NULL AS BIGINT) AS numerator, 1 AS denominator \
                  FROM traces\n";
    let header = HOST.split_once("SELECT").expect("a SELECT").0;
    let columns = "SELECT status, severity, value, numerator, message, advice, reason \
                   FROM rule_mine";
    assert_eq!(
        answers(&format!("{header}{select}"), columns),
        ["not_measurable | NULL | NULL | NULL | The rule mine could not be measured. | NULL | \
             The trace does not hold what the rule needs."]
    );
    let lines = "-- @reason Record more.\n-- @unmeasured Nothing is known.\n";
    assert_eq!(
        answers(&format!("{header}{lines}{select}"), columns),
        ["not_measurable | NULL | NULL | NULL | Nothing is known. | NULL | Record more."]
    );
}

#[test]
fn columns_of_the_select_win_over_the_header() {
    let text = "-- Values of one's own.
--
-- @finding below 5 count as things
-- @setting rule_mine_more 7 number Another number.
-- @message {value} of {device}, {none}{share:2}, {bytes:bytes}[, {none} left out][, {step}], {{[[x
-- @advice Do it,
--     and do it well.
-- @evidence SELECT 1 WHERE trace_id = {trace_id} AND x = {text} AND y = {device}{none:raw}
SELECT trace_id, rank, 3 AS value, 1.234 AS share, CAST(2048 AS BIGINT) AS bytes,
    CAST(NULL AS VARCHAR) AS none, 'it''s' AS text, CAST(NULL AS BIGINT) AS device,
    CAST(7 AS BIGINT) AS step, 'info' AS severity, 'a thing' AS subject,
    setting('rule_mine_more') AS threshold, CAST(NULL AS VARCHAR) AS reason
FROM traces
UNION ALL
SELECT trace_id, rank, 8, 1, 1, NULL, NULL, 2, NULL, NULL, 'another', NULL, NULL FROM traces
UNION ALL
SELECT trace_id, rank, 1, 1, 1, NULL, NULL, 2, NULL, NULL, 'unknown', NULL, 'why' FROM traces;
";
    let sql = "SELECT subject, status, severity, value, unit, threshold, step, advice, message, \
               regexp_replace(evidence, '''synthetic[^'']*''', 'T') FROM rule_mine ORDER BY 1";
    assert_eq!(
        answers(text, sql),
        [
            "a thing | finding | info | 3.0 | count | 7.0 | 7 | Do it, and do it well. | \
             3.0 of without number, 1.23, 2.000 KiB, 7, {[x | \
             SELECT 1 WHERE trace_id = T AND x = 'it''s' AND y = NULL",
            "another | ok | NULL | 8.0 | count | 5.0 | NULL | NULL | 8.0 of 2, 1.0, 1 B, {[x | \
             SELECT 1 WHERE trace_id = T AND x = NULL AND y = 2",
            "unknown | not_measurable | NULL | NULL | count | 5.0 | NULL | NULL | \
             The rule mine could not be measured. | \
             SELECT 1 WHERE trace_id = T AND x = NULL AND y = 2",
        ]
    );
}

#[test]
fn what_is_wrong_with_a_header_is_named_with_its_line() {
    let with = |old: &str, new: &str| {
        assert!(HOST.contains(old), "{old}");
        problem(&HOST.replace(old, new))
    };
    for (old, new, wanted) in [
        ("@advice", "@advise", "7: @advise is not a header line of a rule; use @finding, "),
        ("@numerator", "@message", "6: @message is there twice"),
        ("above 60 pct", "over 60 pct", "3: \"over\" is no severity; use one of high, medium, "),
        ("above 60 pct", "bad above 60 pct", "3: \"bad\" is no severity; use one of high, "),
        ("above 60 pct", "above much pct", "3: there is no setting much; write a number, or "),
        ("above 60 pct", "above 6% pct", "3: \"6%\" is neither a number nor the name of a "),
        ("above 60 pct", "above 60 percent", "3: \"percent\" is no unit here; use one of pct, "),
        ("above 60 pct", "above 60", "3: the limit needs a unit, one of pct, count, "),
        ("high above", "high below", "3: both limits must be above, or both below"),
        ("high above", "above", "3: the second limit needs a severity, one of high, "),
        ("{denominator}", "{all}", "6: {all}: there is no such column; there are value, "),
        ("{numerator:event|events}", "{numerator:x}", "7: {numerator:x}: a format is ns, "),
        ("limit {threshold}", "limit {threshold", "6: a { without }; write {{ for a brace"),
        ("{threshold}", "[{threshold}", "6: a [ without ]; write [[ for a bracket"),
        ("{threshold}", "{threshold}]", "6: a ] without [; write ]] for a bracket"),
        ("{threshold}", "[no column]", "6: an optional part needs a placeholder; write [[ for a "),
        ("{threshold}", "[a [b]]", "6: an optional part inside another; write [[ for a ["),
        ("-- @advice", "-- @setting rule_mine_more x pct Text.\n-- @advice", "7: setting rule_mi"),
        ("-- @advice", "-- @setting mine 1 pct Text.\n-- @advice", "7: setting \"mine\": names "),
        ("-- @advice", "-- @column best BIGINT id Best.\n-- @advice", "7: best is not a column "),
        ("-- @advice", "-- @setting rule_memcpy_pct 1 pct Text.\n-- @advice", "7: setting rule_m"),
    ] {
        let found = with(old, new);
        assert!(found.starts_with(wanted), "{old} → {new}:\n{found}\nand not\n{wanted}");
    }
    for (key, wanted) in [
        ("message", "7: the rule needs a header line @message"),
        ("advice", "7: the rule needs a header line @advice"),
        ("numerator", "7: the rule needs a header line @numerator that says what the column "),
        ("finding", "7: the rule needs a header line @finding, or a SELECT that gives is_finding"),
    ] {
        let kept = |line: &&str| !line.starts_with(&format!("-- @{key} "));
        let text: Vec<&str> = HOST.lines().filter(kept).collect();
        let found = problem(&text.join("\n"));
        assert!(found.starts_with(wanted), "without @{key}:\n{found}");
    }
}

#[test]
fn what_is_wrong_with_the_select_is_named_with_its_line() {
    let header = HOST.split_once("SELECT").expect("a SELECT").0;
    for (select, wanted) in [
        (
            "SELECT rank, 1 AS numerator, 1 AS denominator FROM traces",
            "8: the SELECT of a rule mus",
        ),
        ("SELECT trace_id, rank FROM traces", "8: the SELECT of a rule must give numerator and "),
        ("SELECT trace_id, rank, 1 AS numerator FROM traces", "8: the SELECT of a rule gives both"),
        ("SELECT * FROM traces", "8: name the columns of a rule one by one; "),
        (
            "SELECT\n    trace_id, rank,\n    count(*)\nFROM traces",
            "10: name this column of the ru",
        ),
        ("SELECT trace_id, rank, 1 AS rank FROM traces", "8: column rank is there twice"),
        ("SELECT trace_id, rank,\n    'ok' AS status FROM traces", "9: a rule with a header canno"),
        (
            "SELECT trace_id, rank, 1 AS numerator, 1 AS denominator,\n1 AS sverity FROM traces",
            "9: column sverity is not used: ",
        ),
        ("SELECT trace_id, rank, 'x FROM traces", "8: Unterminated string literal"),
        ("SELECT trace_id, rank FROM traces;\nSELECT 2", "9: a rule's file holds one query"),
        ("", "1: there is no SELECT in the file of the rule"),
    ] {
        let found = problem(&format!("{header}{select}"));
        assert!(found.starts_with(wanted), "{select}:\n{found}\nand not\n{wanted}");
    }
}

/// An error that only planning finds is also reported with the line of the file.
#[test]
fn errors_in_the_select_name_the_place_in_the_file() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let folder = folder(&[("rule_mine.sql", HOST.replace("e.device", "e.devize"))]);
    let engine = Engine::open(&store.store, None, &options(&folder)).expect("the store opens");
    let error = rows_of(&engine, "SELECT * FROM rule_mine").expect_err("no such column");
    assert!(error.to_string().contains("devize"), "{error}");
}

#[test]
fn a_composed_rule_replaces_that_of_the_library_and_its_settings() {
    let own = HOST.replace("above 60 pct, high above 99", "above 70 pct");
    let folder = folder(&[("rule_memcpy.sql", own)]);
    let engine = Engine::without_store(&options(&folder)).expect("a session");
    assert_eq!(engine.library().problems(), []);
    let settings = engine.settings().all();
    assert_eq!(settings["rule_memcpy_pct"].default.as_deref(), Some("70"));
    // Other rules may read the setting.
    assert_eq!(settings["rule_memcpy_high_pct"].default.as_deref(), Some("30"));
}

/// A rule that has all columns itself is not changed, and it reads settings of the rule that it
/// replaces.
#[test]
fn a_rule_with_all_columns_is_taken_as_it_is() {
    let values = [
        ("rule", "'memcpy'"),
        ("status", "'ok'"),
        ("trace_id", "'t'"),
        ("threshold", "setting('rule_memcpy_pct')"),
    ];
    let text = rule(&values, "");
    let folder = folder(&[("rule_memcpy.sql", text.clone())]);
    let engine = Engine::without_store(&options(&folder)).expect("a session");
    assert_eq!(engine.library().problems(), []);
    let view = engine.library().view("rule_memcpy").expect("the rule");
    assert_eq!(view.body, Body::Query(text));
    let rows = rows_of(&engine, "SELECT threshold FROM rule_memcpy").expect("rows");
    assert_eq!(rows, [["10.0"]]);
}

#[test]
fn settings_of_rules_are_listed_and_set() {
    let folder = folder(&[("rule_mine.sql", HOST.to_owned())]);
    let rules = folder.path().display().to_string();
    let docs = tracesql_in(root(), &["docs", "rule_mine_pct", "--rules", &rules], &[]);
    let text = String::from_utf8_lossy(&docs.stdout).into_owned();
    assert!(text.starts_with("setting rule_mine_pct = 60 pct\n"), "{text}");
    let options = EngineOptions { rules: vec![PathBuf::from(&rules)], ..EngineOptions::default() };
    let engine = Engine::without_store(&options).expect("a session");
    let sql = "SELECT value FROM settings WHERE name = 'rule_mine_high_pct'";
    assert_eq!(rows_of(&engine, sql).expect("rows"), [["99"]]);
}

/// The rule in docs/ci.md is the file of the example, apart from its evidence query.
#[test]
fn the_rule_in_the_documentation_is_short_and_loads() {
    let page = std::fs::read_to_string(root().join("docs/ci.md")).expect("the page");
    let start = page.find("-- Data loading within the budget").expect("the rule");
    let rule = page[start..].split("```").next().expect("its text");
    assert!(rule.lines().count() <= 15, "{rule}");
    let folder = folder(&[("rule_loader_budget.sql", rule.to_owned())]);
    let engine = Engine::without_store(&options(&folder)).expect("a session");
    assert_eq!(engine.library().problems(), []);
    let name = root().join("docs/examples/ci/rules/rule_loader_budget.sql");
    let example = std::fs::read_to_string(name).expect("the example");
    assert!(rule.lines().all(|line| example.contains(line)), "{example}");
}

//! The user's rules together with those of the library.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::{Library, RULE_COLUMNS};

use crate::support::{answer, root, rows_of, tracesql_in};

/// A user's rule. Its comment declares the required columns, and its query returns the given
/// values.
pub fn rule(values: &[(&str, &str)], from: &str) -> String {
    let mut text = "-- A rule for tests.\n--\n".to_owned();
    for (name, data_type) in RULE_COLUMNS {
        let unit = if *data_type == "VARCHAR" { "text" } else { "number" };
        text.push_str(&format!("-- @column {name} {data_type} {unit} As in findings.\n"));
    }
    let value = |name: &str| values.iter().find(|(n, _)| *n == name).map_or("NULL", |(_, v)| v);
    let columns: Vec<String> = RULE_COLUMNS
        .iter()
        .map(|(name, data_type)| format!("CAST({} AS {data_type}) AS {name}", value(name)))
        .collect();
    text + &format!("SELECT {} {from}\n", columns.join(", "))
}

/// A folder with files that have these names and texts.
pub fn folder(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        std::fs::write(path, text).expect("write the file");
    }
    folder
}

fn engine(rules: &[&Path]) -> Engine {
    let rules: Vec<PathBuf> = rules.iter().map(|r| r.to_path_buf()).collect();
    Engine::without_store(&EngineOptions { rules, ..EngineOptions::default() }).expect("a session")
}

fn problems(engine: &Engine, folder: &Path) -> Vec<String> {
    engine
        .library()
        .problems()
        .iter()
        .map(|p| p.to_string().replace(&format!("{}/", folder.display()), ""))
        .collect()
}

const OK: &[(&str, &str)] = &[("rule", "'mine'"), ("status", "'ok'"), ("trace_id", "'t'")];

#[test]
fn rules_of_the_user_are_among_all_rules() {
    let other = [("rule", "'other'"), ("status", "'ok'")];
    let folder = folder(&[
        ("rule_mine.sql", rule(OK, "")),
        ("rules/rule_other.sql", rule(&other, "FROM _helper")),
        ("_helper.sql", "-- One.\nSELECT 1 AS one\n".into()),
    ]);
    let engine = engine(&[folder.path()]);
    assert_eq!(problems(&engine, folder.path()), [""; 0]);
    let rows = rows_of(
        &engine,
        "SELECT rule, status, trace_id FROM _all_rules WHERE rule IN \
                                 ('mine', 'other') ORDER BY rule",
    )
    .expect("rows");
    assert_eq!(answer(&rows), "mine | ok | t\nother | ok | NULL");
    let names: Vec<&str> = engine.library().rules().filter_map(|v| v.rule_name()).collect();
    assert!(names.contains(&"mine") && names.contains(&"other"), "{names:?}");
}

#[test]
fn rules_that_do_not_fit_are_left_out_with_the_reason() {
    let broken = rule(OK, "").replace("@column status VARCHAR", "@column state VARCHAR");
    let short = rule(OK, "").replace("-- @column reason VARCHAR text As in findings.\n", "");
    let folder = folder(&[
        ("rule_mine.sql", rule(OK, "")),
        ("rule_broken.sql", broken),
        ("rule_short.sql", short),
        ("slow.sql", rule(OK, "")),
        ("rules/late.sql", rule(OK, "")),
    ]);
    let engine = engine(&[folder.path()]);
    let mut found = problems(&engine, folder.path());
    found.sort();
    assert_eq!(
        found,
        [
            "rule_broken.sql:1: column 2 of a rule must be status VARCHAR, here it is state \
             VARCHAR; docs/ci.md lists the columns that every rule has",
            "rule_short.sql:1: column 19 of a rule must be reason VARCHAR, here it is none; \
             docs/ci.md lists the columns that every rule has",
            "rules/late.sql:1: this is no rule: name the file rule_late.sql, or _late.sql if \
             rules build on it",
            "slow.sql:1: this is no rule: name the file rule_slow.sql, or _slow.sql if rules \
             build on it",
        ]
    );
    let rows = rows_of(&engine, "SELECT DISTINCT rule FROM _all_rules WHERE trace_id = 't'")
        .expect("rows");
    assert_eq!(answer(&rows), "mine");
}

/// All rules have the same columns in the same order and with the same types, even without rows.
#[test]
fn all_rules_have_the_columns_of_a_finding() {
    let engine = engine(&[]);
    assert!(
        rows_of(&engine, "SELECT * FROM _all_rules").expect("rows").is_empty(),
        "there is no trace to speak of"
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let frame = runtime.block_on(engine.context().table("_all_rules")).expect("the view");
    let columns: Vec<(String, String)> = frame
        .schema()
        .fields()
        .iter()
        .map(|f| (f.name().clone(), tracesql::library::sql_type(f.data_type())))
        .collect();
    let expected: Vec<(String, String)> =
        RULE_COLUMNS.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    assert_eq!(columns, expected);
}

#[test]
fn a_folder_of_rules_that_is_not_there_is_an_error_of_usage() {
    let output = tracesql_in(root(), &["docs", "--rules", "not/here"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--rules not/here: cannot be read"));
}

#[test]
fn the_reference_lists_rules() {
    let folder = folder(&[("rule_mine.sql", rule(OK, ""))]);
    let output = tracesql_in(folder.path(), &["docs", "--format", "json", "--rules", "."], &[]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> = json["rules"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|r| r["name"].as_str())
        .collect();
    let built_in = Library::load(&[]).expect("the library").rules().count();
    assert!(names.contains(&"rule_mine") && names.len() == built_in + 1, "{names:?}");
}

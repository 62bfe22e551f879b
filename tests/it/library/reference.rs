//! The reference: functions are documented with examples that run, and the pages in `docs/` are up
//! to date.

use std::collections::BTreeSet;

use tracesql::docs::{Reference, Style, tables_page};
use tracesql::engine::{Engine, EngineOptions};

use super::library;
use crate::support::{TestStore, answer, root, rows_of, tracesql_in};

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
    is_up_to_date("reference.md", &Reference::of(&engine).write(Style::Markdown, true));
}

#[test]
fn the_page_of_tables_is_up_to_date_and_not_wider_than_100() {
    let page = tables_page();
    is_up_to_date("tables.md", &page);
    let wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Compares a page in `docs/` with its expected text, or writes it.
fn is_up_to_date(name: &str, page: &str) {
    let path = root().join("docs").join(name);
    if std::env::var_os("TRACESQL_BLESS").is_some() {
        std::fs::write(&path, page).expect("write the page");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/{name} is old; this test writes it with TRACESQL_BLESS=1");
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

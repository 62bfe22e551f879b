//! Tests of completion. `|` marks the cursor.

use tracesql::catalog::{Column, Function, Relation};

use super::*;

fn catalog() -> Catalog {
    let relation = |name: &str, kind, columns: &[&str]| Relation {
        name: name.into(),
        kind,
        columns: columns
            .iter()
            .map(|c| Column {
                name: c.to_string(),
                data_type: if c.ends_with("name") { "VARCHAR" } else { "BIGINT" }.into(),
                ..Column::default()
            })
            .collect(),
        ..Relation::default()
    };
    let function = |name: &str, kind| Function {
        name: name.into(),
        kind,
        signature: format!("{name}(x) → y"),
        ..Function::default()
    };
    Catalog {
        relations: vec![
            relation("events", "table", &["event_id", "name", "dur_ns"]),
            relation("kernels", "table", &["event_id", "name", "stream"]),
            relation("operators", "view", &["name", "host_self_ns", "Odd Name"]),
        ],
        functions: vec![
            function("format_ns", "scalar"),
            function("sum", "aggregate"),
            function("interval_merge", "relation"),
        ],
    }
}

/// The words that complete a text at its `|`.
fn words(text: &str) -> Vec<String> {
    let at = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    match complete(
        &text,
        at,
        &catalog(),
        &Values { parameters: vec!["limit_ns".into()], settings: vec!["gap_us".into()] },
    ) {
        Completion::Words(start, words) => {
            assert!(start <= at);
            words
        }
        Completion::Values(start, wanted) => {
            assert!(start <= at);
            vec![format!("{}.{} {}", wanted.relation, wanted.column, wanted.prefix)]
        }
        Completion::Files => vec!["files".into()],
    }
}

#[test]
fn relations_come_after_from_and_join() {
    assert_eq!(words("SELECT * FROM |"), ["events", "kernels", "operators", "interval_merge("]);
    assert_eq!(words("SELECT * FROM ev|"), ["events"]);
    assert_eq!(words("select * from events e join k|"), ["kernels"]);
    assert_eq!(words("SELECT * FROM events, o|"), ["operators"]);
    assert_eq!(words("DESCRIBE k|"), ["kernels"]);
    assert_eq!(words("WITH worst AS (SELECT 1) SELECT * FROM w|"), ["worst"]);
    assert_eq!(words("SELECT 1; SELECT * FROM ke|"), ["kernels"]);
}

#[test]
fn columns_are_those_of_the_relations_named() {
    assert_eq!(words("SELECT | FROM kernels"), ["event_id", "name", "stream", "kernels"]);
    assert_eq!(words("SELECT str| FROM kernels"), ["stream"]);
    assert!(!words("SELECT d| FROM kernels").contains(&"dur_ns".to_owned()));
    assert_eq!(words("SELECT * FROM events WHERE dur|"), ["dur_ns"]);
    assert_eq!(
        words("SELECT * FROM events WHERE event_id IN (SELECT ev| FROM kernels)"),
        ["event_id"]
    );
    assert!(
        words("SELECT dur|").contains(&"dur_ns".to_owned()),
        "of any table while none is named"
    );
}

#[test]
fn columns_of_an_alias_come_after_its_dot() {
    assert_eq!(
        words("SELECT k.| FROM events e JOIN kernels k ON true"),
        ["event_id", "name", "stream"]
    );
    assert_eq!(words("SELECT e.d| FROM events e JOIN kernels k ON true"), ["dur_ns"]);
    assert_eq!(words("SELECT * FROM events e JOIN kernels k ON e.event_id = k.ev|"), ["event_id"]);
    assert_eq!(words("SELECT q.| FROM (SELECT name, dur_ns AS d FROM events) q"), ["name", "d"]);
    assert_eq!(
        words("WITH w AS (SELECT * FROM kernels) SELECT w.| FROM w"),
        ["event_id", "name", "stream"]
    );
    assert_eq!(words("SELECT operators.O|"), ["\"Odd Name\""]);
    assert!(words("SELECT nobody.|").is_empty());
}

#[test]
fn a_cte_that_names_itself_ends() {
    assert!(words("WITH w AS (SELECT * FROM w) SELECT w.| FROM w").is_empty());
}

#[test]
fn functions_and_keywords() {
    assert_eq!(words("SELECT form| FROM events"), ["format_ns(", "format"]);
    assert_eq!(words("SELECT SU| FROM events"), ["sum("]);
    assert_eq!(words("SEL|"), ["SELECT"]);
    assert_eq!(words("sel|"), ["select"]);
    assert_eq!(words("SELECT name FROM events WHE|"), ["WHEN", "WHERE"]);
    assert_eq!(words("SELECT sum(dur_ns) AS total FROM events ORDER BY tot|"), ["total"]);
}

#[test]
fn nothing_in_strings_comments_and_numbers() {
    for text in [
        "SELECT 'na|",
        "SELECT 'na|me' FROM events",
        "SELECT 1 -- na|",
        "SELECT /* na|",
        "SELECT /* n| */ 1",
        "SELECT 12|",
        "SELECT $$na|",
    ] {
        assert!(words(text).is_empty(), "{text}");
    }
}

#[test]
fn a_string_is_completed_by_values_of_the_column_that_it_is_compared_with() {
    assert_eq!(words("SELECT * FROM events WHERE name = '|"), ["events.name "]);
    assert_eq!(words("SELECT * FROM events WHERE name <> 'it''s|"), ["events.name it's"]);
    assert_eq!(words("SELECT * FROM events WHERE name NOT LIKE 'a|"), ["events.name a"]);
    assert_eq!(words("SELECT * FROM events WHERE name IN ('a', 'b|"), ["events.name b"]);
    assert_eq!(words("SELECT * FROM events WHERE name NOT IN ('|"), ["events.name "]);
    assert_eq!(
        words("SELECT * FROM events e JOIN kernels k ON true WHERE k.name = '|"),
        ["kernels.name "]
    );
    assert_eq!(
        words("SELECT * FROM events JOIN operators ON true WHERE \"name\" = '|"),
        ["events.name "]
    );
    for text in [
        "SELECT * FROM events WHERE dur_ns = '|",
        "SELECT * FROM events WHERE other_name = '|",
        "SELECT * FROM events WHERE upper('|",
        "SELECT 'x' = '|",
        "WITH events AS (SELECT 1) SELECT * FROM events WHERE name = '|",
    ] {
        assert!(words(text).is_empty(), "{text}");
    }
}

#[test]
fn quoted_names_and_parameters() {
    assert_eq!(words("SELECT \"O| FROM operators").len(), 0, "the quote takes FROM in");
    assert_eq!(words("SELECT * FROM operators WHERE \"Od|"), ["\"Odd Name\""]);
    assert_eq!(words("SELECT $li|"), ["$limit_ns"]);
    assert_eq!(words("SELECT $|"), ["$limit_ns"]);
    assert_eq!(words("SELECT setting('g|"), ["'gap_us'"]);
    assert!(words("SELECT upper('g|").is_empty());
}

#[test]
fn commands_and_their_arguments() {
    assert_eq!(words("\\timi|"), ["\\timing"]);
    assert_eq!(words(".tim|"), [".timing", ".timer", ".timeout"]);
    assert_eq!(words("\\timing o|"), ["on", "off"]);
    assert_eq!(words("\\d ker|"), ["kernels"]);
    assert_eq!(words("\\dv |"), ["operators"]);
    assert_eq!(words("\\df form|"), ["format_ns"]);
    assert_eq!(words("\\i |"), ["files"]);
    assert_eq!(words("\\explain SELECT str| FROM kernels"), ["stream"]);
    assert_eq!(words("\\set lim|"), ["limit_ns"]);
    assert!(words("\\nonsense x|").is_empty());
}

#[test]
fn the_signature_of_the_function_around() {
    let all = catalog();
    assert_eq!(signature("SELECT format_ns(", &all), Some("format_ns(x) → y"));
    assert_eq!(signature("SELECT format_ns(sum(a) + ", &all), Some("format_ns(x) → y"));
    assert_eq!(signature("SELECT format_ns(a) ", &all), None);
    assert_eq!(signature("SELECT format_ns('", &all), None);
    assert_eq!(signature("SELECT nobody(", &all), None);
}

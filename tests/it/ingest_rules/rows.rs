//! Rows: every element of the event list either becomes a row or is counted.

use crate::support::{TestStore, elements};

/// Checks that rows + skipped elements = elements, from the table of traces and by counting.
fn nothing_is_lost(store: &TestStore) {
    let n = store.ints("SELECT element_count, event_count, skipped_count FROM traces");
    assert_eq!(n[0], n[1] + n[2]);
    assert_eq!(n[1], store.ints("SELECT count(*) FROM events")[0]);
    assert_eq!(n[2], store.ints("SELECT sum(skipped_count) FROM ingest_issues")[0]);
}

#[test]
fn elements_of_every_phase_are_rows() {
    let phases = [
        "X", "B", "E", "b", "n", "e", "i", "I", "R", "C", "s", "t", "f", "M", "N", "O", "D", "P",
        "p", "S", "T", "F", "c", "v", "V", "a", "(", ")",
    ];
    let element =
        |ph: &&str| format!(r#"{{"ph":"{ph}","name":"x","pid":1,"tid":1,"ts":1,"dur":1,"id":1}}"#);
    let store = elements(phases.iter().map(element).collect::<Vec<_>>().join(","));
    assert_eq!(store.lines("SELECT ph FROM events ORDER BY event_id"), phases);
    assert!(!store.issues().iter().any(|i| i.starts_with("unknown_phase")));
    nothing_is_lost(&store);
}

#[test]
fn unknown_phases_are_rows_and_counted() {
    let store = elements(
        r#"{"ph":"Z","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"","name":"b","pid":1,"tid":1,"ts":2},
           {"ph":"XX","name":"c","pid":1,"tid":1,"ts":3,"dur":1}, {"ph":"é","name":"d","pid":1,"tid":1,"ts":4}"#,
    );
    assert_eq!(
        store.lines("SELECT name, ph, dur_ns, depth FROM events ORDER BY name"),
        ["a Z NULL NULL", "b  NULL NULL", "c XX NULL NULL", "d é NULL NULL"]
    );
    assert_eq!(store.issues(), ["unknown_phase 4"]);
    nothing_is_lost(&store);
}

#[test]
fn a_phase_written_with_an_escape_is_that_phase() {
    let store = elements(r#"{"ph":"\u0058","name":"a","pid":1,"tid":1,"ts":1,"dur":2}"#);
    assert_eq!(store.lines("SELECT ph, dur_ns FROM events"), ["X 2000"]);
}

#[test]
fn elements_without_a_text_phase_are_skipped_and_counted() {
    let store = elements(
        r#"{"name":"a","ts":1}, {"ph":5,"ts":1}, {"ph":null,"ts":1}, {}, {"ph":"i","name":"x","ts":1}"#,
    );
    assert_eq!(store.lines("SELECT event_id FROM events"), ["4"]);
    assert_eq!(store.issues(), ["no_phase 4"]);
    nothing_is_lost(&store);
}

#[test]
fn elements_that_are_not_objects_are_skipped_and_counted() {
    let store = elements(
        r#"17, null, "{not an event}", [{"ph":"X"}], true, {"ph":"i","name":"x","ts":1}, -1.5"#,
    );
    assert_eq!(store.lines("SELECT event_id FROM events"), ["5"]);
    assert_eq!(store.issues(), ["not_an_object 6"]);
    nothing_is_lost(&store);
}

#[test]
fn event_ids_count_skipped_elements_too() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1}, 17, {"ph":"i","name":"b","ts":1}, {}, {"ph":"i","name":"c","ts":1}"#,
    );
    assert_eq!(store.lines("SELECT name, event_id FROM events ORDER BY 2"), ["a 0", "b 2", "c 4"]);
    nothing_is_lost(&store);
}

#[test]
fn a_raw_quote_in_a_name_costs_that_element_only() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
           {"ph":"X","name":"say "hello" twice","pid":1,"tid":1,"ts":2,"dur":1},
           {"ph":"X","name":"c","pid":1,"tid":1,"ts":3,"dur":1}"#,
    );
    assert_eq!(store.lines("SELECT event_id, name FROM events ORDER BY 1"), ["0 a", "2 c"]);
    assert_eq!(
        store.lines("SELECT code, count, skipped_count, first_event_id FROM ingest_issues"),
        ["malformed_event 1 1 1"]
    );
    nothing_is_lost(&store);
}

#[test]
fn issues_say_where_the_first_one_is() {
    let text = "{\"traceEvents\":[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1}, {\"ph\":\"i\",\"name\":\"broken\"}, {\"ph\":\"i\"}]}";
    let (store, _) = TestStore::of_text(text);
    let line = store.lines("SELECT first_event_id, first_byte_offset, example FROM ingest_issues WHERE code = 'no_timestamp'").remove(0);
    let at = text.find("{\"ph\":\"i\",\"name\":\"broken\"").expect("it is there");
    assert!(line.starts_with(&format!("1 {at} {}", &text[at..at + 20])), "{line}");
}

#[test]
fn missing_and_extra_commas_lose_nothing() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1} {"ph":"i","name":"b","ts":1},, {"ph":"i","name":"c","ts":1}"#,
    );
    assert_eq!(store.lines("SELECT event_id, name FROM events ORDER BY 1"), ["0 a", "1 b", "2 c"]);
    assert_eq!(store.issues(), ["extra_comma 1", "missing_comma 1"]);
    nothing_is_lost(&store);
}

#[test]
fn commas_before_closing_brackets_are_tolerated() {
    let store = elements(r#"{"ph":"i","name":"a","ts":1,"args":{"k":1,},},"#);
    assert_eq!(store.lines("SELECT name, args FROM events"), [r#"a {"k":1}"#]);
}

#[test]
fn rows_lie_in_the_order_of_track_start_longest_first_and_file() {
    let store = elements(
        r#"{"ph":"X","name":"later","pid":1,"tid":1,"ts":9,"dur":1}, {"ph":"X","name":"short","pid":1,"tid":1,"ts":1,"dur":1},
           {"ph":"X","name":"other thread","pid":1,"tid":0,"ts":5,"dur":1}, {"ph":"X","name":"long","pid":1,"tid":1,"ts":1,"dur":5},
           {"ph":"X","name":"same","pid":1,"tid":1,"ts":1,"dur":5}"#,
    );
    assert_eq!(
        store.lines("SELECT pre, name FROM events ORDER BY pre"),
        ["0 other thread", "1 long", "2 same", "3 short", "4 later"]
    );
    assert_eq!(
        store.lines("SELECT name FROM events"),
        ["other thread", "long", "same", "short", "later"]
    );
}

#[test]
fn keys_come_in_any_order() {
    let store = elements(
        r#"{"args":{"k":1},"dur":2,"ts":1,"name":"a","cat":"c","tid":4,"pid":3,"ph":"X"}"#,
    );
    assert_eq!(
        store.lines("SELECT ph, cat, name, pid, tid, ts_ns, dur_ns, args, extra FROM events"),
        [r#"X c a 3 4 1000 2000 {"k":1} NULL"#]
    );
}

#[test]
fn keys_without_a_column_are_kept_in_extra() {
    let store = elements(
        r#"{"ph":"i","name":"a","pid":1,"tid":1,"ts":1,"s":"t","cname":"good","tts":7.50,"x":{"y" : [1, 2]},"tdur":null}"#,
    );
    assert_eq!(
        store.value("SELECT extra FROM events"),
        r#"{"s":"t","cname":"good","tts":7.50,"x":{"y":[1,2]},"tdur":null}"#
    );
    assert!(store.issues().is_empty());
}

#[test]
fn ids_are_text() {
    let store = elements(
        r#"{"ph":"s","name":"a","pid":1,"tid":1,"ts":1,"id":5}, {"ph":"s","name":"b","pid":1,"tid":1,"ts":1,"id":"0x7f"},
           {"ph":"s","name":"c","pid":1,"tid":1,"ts":1,"id":18446744073709551615}, {"ph":"i","name":"d","pid":1,"tid":1,"ts":1,"id":null}"#,
    );
    assert_eq!(
        store.lines("SELECT name, id FROM events ORDER BY name"),
        ["a 5", "b 0x7f", "c 18446744073709551615", "d NULL"]
    );
}

#[test]
fn of_repeated_keys_the_last_counts() {
    let store = elements(
        r#"{"ph":"i","name":"first","name":"last","pid":1,"pid":2,"tid":1,"ts":1,"ts":3,"args":{"k":1},"args":{"k":2}}"#,
    );
    assert_eq!(
        store.lines("SELECT name, pid, ts_ns, args FROM events"),
        [r#"last 2 3000 {"k":2}"#]
    );
    assert_eq!(store.issues(), ["duplicate_key 1"]);
}

#[test]
fn of_repeated_args_the_last_counts() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1,"correlation":2}}"#,
    );
    assert_eq!(store.value("SELECT correlation FROM events"), "2");
}

#[test]
fn repeated_keys_without_a_column_are_not_an_issue() {
    let store = elements(r#"{"ph":"i","name":"a","pid":1,"tid":1,"ts":1,"cname":"x","cname":"y"}"#);
    assert!(store.issues().is_empty(), "Bazel writes cname twice");
}

#[test]
fn categories_are_kept_as_written() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"cat":"x,y"}, {"ph":"i","name":"b","ts":1,"cat":""}, {"ph":"i","name":"c","ts":1,"cat":null},
           {"ph":"i","name":"d","ts":1}"#,
    );
    assert_eq!(
        store.rows("SELECT cat FROM events ORDER BY name"),
        [["x,y"], [""], ["NULL"], ["NULL"]]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn a_category_that_is_not_text_is_kept_in_extra() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"cat":7}, {"ph":"i","name":"b","ts":1,"cat":["x"]}"#,
    );
    assert_eq!(
        store.lines("SELECT cat, extra FROM events ORDER BY name"),
        [r#"NULL {"cat":7}"#, r#"NULL {"cat":["x"]}"#]
    );
    assert_eq!(store.issues(), ["category_type 2"]);
}

#[test]
fn names_that_are_not_text_are_kept_as_json() {
    let store = elements(
        r#"{"ph":"i","name":7,"ts":1}, {"ph":"i","name":[1, 2],"ts":2}, {"ph":"i","name":null,"ts":3}, {"ph":"i","ts":4}"#,
    );
    assert_eq!(
        store.lines("SELECT name FROM events ORDER BY ts_ns"),
        ["7", "[1,2]", "NULL", "NULL"]
    );
    assert_eq!(store.issues(), ["name_type 2", "no_name 2"]);
}

#[test]
fn an_empty_name_is_a_name() {
    let store = elements(r#"{"ph":"i","name":"","ts":1}"#);
    assert_eq!(store.rows("SELECT name FROM events"), [[""]]);
    assert!(store.issues().is_empty());
}

//! `tracesql TRACE -c SQL`: opens traces without naming a store.

use super::Place;
use crate::support::{fixture, texts};

const COUNT: [&str; 4] = ["--format", "csv", "-c", "SELECT count(*) AS n FROM events"];

fn events(n: usize) -> String {
    let events: Vec<String> =
        (0..n).map(|i| format!(r#"{{"ph":"i","name":"a","ts":{i}}}"#)).collect();
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

/// Counts the events of inputs; also returns the text on standard error.
fn count(place: &Place, inputs: &[&str]) -> (String, String) {
    let output = place.run(&[inputs, &COUNT].concat());
    assert_eq!(output.status.code(), Some(0), "{}", texts(&output).1);
    texts(&output)
}

#[test]
fn a_trace_is_read_once() {
    let place = Place::empty();
    place.write("t.json", events(3));
    let (first, said) = count(&place, &["t.json"]);
    assert_eq!(first, "n\n3\n");
    assert!(said.contains("3 events"), "{said}");
    assert_eq!(
        count(&place, &["t.json"]),
        ("n\n3\n".to_owned(), String::new()),
        "the second time it is not even hashed"
    );
}

#[test]
fn a_changed_trace_is_read_again() {
    let place = Place::empty();
    place.write("t.json", events(3));
    count(&place, &["t.json"]);
    place.write("t.json", events(4));
    assert_eq!(count(&place, &["t.json"]).0, "n\n4\n", "only the trace as it is now");
    place.write("t.json", events(4).replace("\"a\"", "\"b\""));
    assert_eq!(
        place.ok(&["t.json", "--format", "csv", "-c", "SELECT DISTINCT name FROM events"]),
        "name\nb\n",
        "of the same size"
    );
}

#[test]
fn the_same_bytes_elsewhere_are_not_read_again() {
    let place = Place::empty();
    place.write("t.json", events(3));
    count(&place, &["t.json"]);
    place.write("u.json", events(3));
    let (out, said) = count(&place, &["u.json"]);
    assert_eq!(out, "n\n3\n");
    assert!(said.contains("holds these bytes already"), "{said}");
}

#[test]
fn a_cache_that_was_removed_is_made_again() {
    let place = Place::empty();
    place.write("t.json", events(3));
    count(&place, &["t.json"]);
    std::fs::remove_dir_all(place.path("cache")).expect("the cache");
    assert_eq!(count(&place, &["t.json"]).0, "n\n3\n");
}

#[test]
fn only_the_named_traces_are_queried() {
    let place = Place::empty();
    for n in [1, 2, 4] {
        place.write(&format!("t{n}.json"), events(n));
        count(&place, &[&format!("t{n}.json")]);
    }
    assert_eq!(count(&place, &["t1.json", "t4.json"]).0, "n\n5\n");
    assert_eq!(count(&place, &["t2.json"]).0, "n\n2\n");
    assert_eq!(count(&place, &["t*.json"]).0, "n\n7\n");
}

#[test]
fn a_store_can_be_opened_the_same_way() {
    let place = Place::new();
    assert_eq!(count(&place, &["s"]), ("n\n98\n".to_owned(), String::new()));
    assert!(!place.path("cache").exists());
}

#[test]
fn warnings_are_said_when_a_trace_is_read_and_strict_refuses() {
    let place = Place::empty();
    place.write("t.json", r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}, 7]}"#);
    assert!(count(&place, &["t.json"]).1.contains("warning: t.json: 1 × not_an_object"));
    place.fails(3, &[&["--strict", "t.json"], &COUNT[..]].concat());
    assert_eq!(
        count(&place, &["t.json"]).0,
        "n\n1\n",
        "strict takes nothing away that is in the cache"
    );
}

#[test]
fn real_traces_are_read_from_their_packings() {
    let place = Place::empty();
    let path = fixture("synthetic_gpu_rank0.json.gz");
    assert_eq!(count(&place, &[path.to_str().expect("a name")]).0, "n\n3518\n");
}

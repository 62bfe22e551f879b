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

#[test]
fn the_cache_is_listed_and_cleared() {
    let place = Place::empty();
    for name in ["a", "b"] {
        place.write(&format!("{name}.json"), events(3));
    }
    place.write("b.json", events(4));
    assert_eq!(place.ok(&["cache", "path"]).trim(), place.path("cache").display().to_string());
    assert_eq!(place.ok(&["cache", "list", "--format", "csv"]).lines().count(), 1);
    count(&place, &["a.json"]);
    count(&place, &["b.json"]);
    let list = place.ok(&["cache", "list", "--format", "csv"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows[0], ["trace", "bytes", "read", "usable", "path"]);
    assert_eq!(rows.len(), 3, "{list}");
    assert!(rows[1..].iter().all(|row| row[3] == "yes" && row[1] != "0"), "{list}");
    let output = place.run(&["cache", "list"]);
    assert!(texts(&output).0.contains("KiB"), "{}", texts(&output).0);
    assert!(texts(&output).1.starts_with("2 traces, "), "{}", texts(&output).1);
    let output = place.run(&["cache", "clear", "--older-than", "30d"]);
    assert_eq!(texts(&output).1, "removed 0 traces, 0 B\n");
    let output = place.run(&["cache", "clear"]);
    assert!(texts(&output).1.starts_with("removed 2 traces, "), "{}", texts(&output).1);
    assert_eq!(place.ok(&["cache", "list", "--format", "csv"]).lines().count(), 1);
    assert_eq!(count(&place, &["a.json"]).0, "n\n3\n", "it is read again");
}

#[test]
fn traces_of_other_versions_are_listed_and_cleared_too() {
    let place = Place::empty();
    place.write("a.json", events(3));
    count(&place, &["a.json"]);
    let current = std::fs::read_dir(place.path("cache"))
        .expect("the cache")
        .flatten()
        .find(|e| e.file_name().to_string_lossy().starts_with("traces-v"))
        .expect("a store")
        .path();
    std::fs::rename(current, place.path("cache/traces-v1")).expect("an old store");
    std::fs::create_dir_all(place.path("cache/traces-v2/mine")).expect("a folder of the user");
    std::fs::write(place.path("cache/history"), "SELECT 1;\n").expect("a file");
    let output = place.run(&["cache", "list"]);
    assert!(texts(&output).1.contains("1 trace, "), "{}", texts(&output).1);
    assert!(texts(&output).1.contains("of another version"), "{}", texts(&output).1);
    place.ok(&["cache", "clear"]);
    assert!(!place.path("cache/traces-v1").exists());
    assert!(place.path("cache/traces-v2/mine").exists(), "it is not a store");
    assert!(place.path("cache/history").exists());
}

#[test]
fn many_inputs_are_summed_up_in_one_line() {
    let place = Place::empty();
    let names: Vec<String> = (1..=4).map(|n| format!("{n}.json")).collect();
    for (n, name) in names.iter().enumerate() {
        place.write(name, events(n + 1));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_, stderr) = count(&place, &names[..3]);
    assert_eq!(stderr.lines().count(), 9, "{stderr}");
    place.ok(&["cache", "clear"]);
    let (stdout, stderr) = count(&place, &names);
    assert_eq!((stdout.as_str(), stderr.lines().count()), ("n\n10\n", 1), "{stderr}");
    assert!(stderr.starts_with("4 traces: 10 events in "), "{stderr}");
    place.ok(&["cache", "clear"]);
    let (_, stderr) = count(&place, &[&names[..], &["--verbose"]].concat());
    assert_eq!(stderr.lines().count(), 12, "{stderr}");
}

#[test]
fn issues_of_many_inputs_are_one_warning() {
    let place = Place::empty();
    let odd = r#"{"traceEvents":[{"ph":"i","name":"a","ts":N}, 7]}"#;
    let names: Vec<String> = (1..=5).map(|n| format!("{n}.json")).collect();
    for (n, name) in names.iter().enumerate() {
        place.write(name, odd.replace('N', &n.to_string()));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_, stderr) = count(&place, &names);
    assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    assert!(stderr.contains("5 traces have issues; the first: 1.json: 1 × not_an_object"));
}

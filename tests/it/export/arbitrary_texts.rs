//! Exports of names, categories, IDs and args with arbitrary content.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tracesql::export::Selection;

use super::{again, elements};
use crate::support::TestStore;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(any::<char>(), 0..24).prop_map(String::from_iter),
        proptest::sample::select(vec![
            "",
            "\"",
            "\\",
            "\\\"",
            "},{\"ph\":\"X\"",
            "]}",
            "\u{0}\u{1f}\u{7f}",
            "\u{2028}\u{2029}",
            "</script>",
            "'; DROP TABLE events; --",
            "🚀\u{200d}é",
            "\r\n\t",
            "0x1f",
            "12",
            "null",
            "[1]",
        ])
        .prop_map(str::to_owned),
    ]
}

fn element() -> impl Strategy<Value = Value> {
    let ids = prop_oneof![text().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
    let phases = ["X", "i", "C", "b", "e", "s", "f", "B", "E", "M"];
    let phase = proptest::sample::select(phases.to_vec());
    (phase, text(), text(), ids, text(), text(), any::<i32>(), 0..1000u32).prop_map(
        |(ph, name, cat, id, key, value, pid, ts)| {
            let args = json!({key: value, "n": 1});
            let mut element = json!({
                "ph": ph, "name": name, "cat": cat, "pid": pid, "tid": id, "ts": ts, "args": args
            });
            if ph == "X" {
                element["dur"] = 5.into();
            }
            if matches!(ph, "b" | "e" | "s" | "f") {
                element["id"] = id;
            }
            element
        },
    )
}

#[test]
fn anything_in_texts_comes_back() {
    let mut runner =
        TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&proptest::collection::vec(element(), 1..40), |list| {
        let (store, _) = TestStore::of_text(json!({ "traceEvents": list }).to_string());
        let (_, path, written) = again(&store, Selection::default());
        prop_assert_eq!(written.elements as usize, list.len());
        prop_assert_eq!(sorted(elements(&path)), sorted(list));
        Ok(())
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}

/// Elements in the order of the file, with sorted keys. The args of begin events are ignored.
fn sorted(list: Vec<Value>) -> Vec<Value> {
    let in_order = |mut element: Value| {
        if element["ph"] == "B" || element["ph"] == "b" {
            element["args"] = Value::Null;
        }
        let text: std::collections::BTreeMap<String, Value> = element
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, v)| {
                (k.clone(), if v.is_f64() { v.as_f64().unwrap_or(0.0).into() } else { v.clone() })
            })
            .collect();
        json!(text)
    };
    list.into_iter().map(in_order).collect()
}

#[test]
fn hostile_names_survive_a_merge() {
    let store = TestStore::new();
    for (i, name) in ["a\"b\\", "🚀\n", "x"].iter().enumerate() {
        let path = store.folder.path().join(format!("t{i}.json"));
        let pid = json!(name);
        let events = json!([
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}},
            {"ph": "X", "name": name, "pid": pid, "tid": name, "ts": 1, "dur": 1},
            {"ph": "s", "name": name, "cat": name, "pid": pid, "tid": name, "ts": 1, "id": name},
            {"ph": "f", "name": name, "cat": name, "pid": pid, "tid": name, "ts": 1, "id": name,
                "bp": "e"},
        ]);
        std::fs::write(&path, json!({ "traceEvents": events }).to_string()).expect("a trace");
        store.ingest(&path).expect("it is read");
    }
    let (other, path, _) = again(&store, Selection::default());
    assert_eq!(elements(&path).len(), 3 * 3 + 3 * 2);
    assert_eq!(other.ints("SELECT count(*) FROM flows WHERE src_event_id = dst_event_id"), [3]);
    assert_eq!(other.ints("SELECT count(DISTINCT flow_id) FROM flows"), [3]);
    assert_eq!(other.ints("SELECT count(DISTINCT process_name) FROM tracks"), [3]);
}

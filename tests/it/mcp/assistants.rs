//! The questions with known answers that measure an assistant.

use std::process::Command;

use serde_json::{Value, json};

use super::Client;
use crate::support::{fixture, needs, root};

fn questions() -> Vec<Value> {
    let path = root().join("tests/assistants/questions.json");
    let text = std::fs::read_to_string(&path).expect("the questions");
    serde_json::from_str(&text).expect("a list")
}

#[test]
fn the_query_of_each_question_gives_its_number() {
    let questions = questions();
    assert_eq!(questions.len(), 20);
    for question in questions {
        let id = question["id"].as_str().expect("an id");
        let traces: Vec<String> = question["traces"]
            .as_array()
            .expect("traces")
            .iter()
            .map(|name| fixture(name.as_str().expect("a name")).display().to_string())
            .collect();
        let mut client = Client::start(&traces.iter().map(String::as_str).collect::<Vec<_>>());
        let answer = client.value("query", json!({"sql": question["sql"]}));
        assert_eq!(answer["rows"], json!([[question["answer"]]]), "{id}");
    }
}

#[test]
fn a_second_program_counts_the_same_numbers() {
    let Some(python) = needs::python() else { return };
    let script = root().join("tests/assistants/recount.py");
    let output = Command::new(python).arg(script).arg(fixture("")).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counted: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for question in questions() {
        let id = question["id"].as_str().expect("an id");
        assert_eq!(counted[id], question["answer"], "{id}");
    }
}

//! Bounds of time and number, cancelling, and progress.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, store};

/// A cross product of rows that would run for years.
pub const ENDLESS: &str = "SELECT count(*) FROM events a, events b, events c, events d \
    WHERE a.ts_ns + b.ts_ns < c.ts_ns + d.ts_ns";

/// Joins that match nothing, so that they never hand rows over.
const NO_MATCHES: [&str; 2] = [
    "SELECT count(*) FROM events a, events b, events c \
     WHERE regexp_like(a.name || b.name || c.name, '(a|aa)+$')",
    "SELECT * FROM events a, events b, events c WHERE a.ts_ns * 3 + b.ts_ns = -c.ts_ns",
];

/// Other work that never ends.
const OTHERS: [&str; 3] = [
    "SELECT max(x.value * y.value) \
     FROM generate_series(1, 10000000) x, generate_series(1, 100000) y",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "SELECT a.name, b.name FROM events a, events b, events c \
     ORDER BY a.dur_ns * b.dur_ns, c.name LIMIT 5",
];

fn ask(client: &mut Client, sql: &str, meta: Value) -> i64 {
    let params = json!({"name": "query", "arguments": {"sql": sql}, "_meta": meta});
    client.ask("tools/call", params)
}

#[test]
fn a_cancelled_query_ends_within_a_second() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    client.value("query", json!({"sql": "SELECT 1"}));
    for sql in NO_MATCHES.into_iter().chain(OTHERS).chain([ENDLESS]) {
        let before = client.processor_seconds();
        let id = ask(&mut client, sql, json!({}));
        std::thread::sleep(Duration::from_millis(1_000));
        assert!(client.processor_seconds() - before > 0.1, "it runs: {sql}");
        client.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        }));
        std::thread::sleep(Duration::from_millis(1_000));
        let after_a_second = client.processor_seconds();
        // A cancelled request has no answer.
        assert_eq!(client.line_within(Duration::from_millis(500)), None, "{sql}");
        let since = client.processor_seconds() - after_a_second;
        assert!(since < 0.1, "{since} s of processor time after it was cancelled: {sql}");
    }
    assert_eq!(client.value("query", json!({"sql": "SELECT 2"}))["rows"], json!([[2]]));
}

#[test]
fn a_query_that_waits_has_all_of_its_time() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--timeout", "1s"]);
    client.value("query", json!({"sql": "SELECT 1"}));
    let start = Instant::now();
    for _ in 0..4 {
        ask(&mut client, ENDLESS, json!({}));
    }
    // It waits for the two that run, and then has a second of its own.
    let quick = ask(&mut client, "SELECT 42 AS answer", json!({}));
    let mut ended = Vec::new();
    for _ in 0..5 {
        let answer = client.object();
        ended.push(start.elapsed().as_secs_f64());
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        if answer["id"] == quick {
            assert_eq!(answer["result"]["structuredContent"]["rows"], json!([[42]]), "{answer}");
        } else {
            assert!(text.contains("stopped after 1 s"), "{text}");
        }
    }
    let (second, fourth) = (ended[1], ended[3]);
    assert!((0.9..1.9).contains(&second) && fourth >= 1.9, "two run at once: {ended:?}");
}

#[test]
fn progress_is_reported_to_those_who_ask() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--timeout", "2s"]);
    client.value("query", json!({"sql": "SELECT 1"}));
    let id = ask(&mut client, ENDLESS, json!({"progressToken": "mine"}));
    let mut seen = Vec::new();
    loop {
        let object = client.object();
        if object["id"] == id {
            break;
        }
        assert_eq!(object["method"], "notifications/progress", "{object}");
        assert_eq!(object["params"]["progressToken"], "mine");
        seen.push(object["params"]["progress"].as_f64().expect("a number"));
        assert!(object["params"]["message"].as_str().is_some_and(|m| m.contains("rows read")));
    }
    assert!(seen.len() >= 2 && seen.is_sorted_by(|a, b| a < b), "it grows: {seen:?}");
}

#[test]
fn many_requests_are_refused_and_a_line_beyond_that_is_answered() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--timeout", "1s"]);
    client.value("query", json!({"sql": "SELECT 1"}));
    for _ in 0..70 {
        ask(&mut client, ENDLESS, json!({}));
    }
    let (mut refused, mut too_many) = (0, 0);
    for _ in 0..36 {
        let answer = client.object();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        refused += usize::from(text.contains("queries run or wait already"));
        too_many += usize::from(answer["error"]["code"] == -32000);
    }
    assert_eq!((refused, too_many), (30, 6));
}

#[test]
fn queries_stay_within_their_memory() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--memory-limit", "300MiB"]);
    let sql = "SELECT length(string_agg(repeat(a.name, 1000), '')) FROM events a, events b";
    let error = client.error("query", json!({"sql": sql}));
    assert!(error.contains("memory") || error.contains("stopped"), "{error}");
    assert_eq!(client.value("query", json!({"sql": "SELECT 2"}))["rows"], json!([[2]]));
}

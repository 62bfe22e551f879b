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
        // The machine may be busy, so processor time counts and not the clock.
        let begin = Instant::now();
        while client.processor_seconds() - before < 0.5 {
            assert!(begin.elapsed() < Duration::from_secs(30), "it does not run: {sql}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let at_cancel = client.processor_seconds();
        client.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        }));
        std::thread::sleep(Duration::from_millis(2_000));
        let after = client.processor_seconds();
        assert!(after - at_cancel < 1.0, "{} s to end: {sql}", after - at_cancel);
        // A cancelled request has no answer.
        assert_eq!(client.line_within(Duration::from_millis(500)), None, "{sql}");
        let since = client.processor_seconds() - after;
        assert!(since < 0.1, "{since} s of processor time after it had ended: {sql}");
    }
    assert_eq!(client.value("query", json!({"sql": "SELECT 2"}))["rows"], json!([[2]]));
}

#[test]
fn a_query_that_waits_has_all_of_its_time() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--timeout", "2s"]);
    client.value("query", json!({"sql": "SELECT 1"}));
    let start = Instant::now();
    for _ in 0..4 {
        ask(&mut client, ENDLESS, json!({}));
    }
    // It waits for those before it, and then has all of its time.
    let quick = ask(&mut client, "SELECT 42 AS answer", json!({}));
    let mut ended = Vec::new();
    for _ in 0..5 {
        let answer = client.object();
        ended.push(start.elapsed().as_secs_f64());
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        if answer["id"] == quick {
            assert_eq!(answer["result"]["structuredContent"]["rows"], json!([[42]]), "{answer}");
        } else {
            assert!(text.contains("stopped after 2 s"), "{text}");
        }
    }
    let (first, third) = (ended[0], ended[2]);
    assert!(first >= 2.0 && third - first >= 1.5, "two run at once: {ended:?}");
}

#[test]
fn progress_is_reported_to_those_who_ask() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--timeout", "3s"]);
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
fn queries_beyond_those_that_may_wait_are_refused() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    client.value("query", json!({"sql": "SELECT 1"}));
    for _ in 0..70 {
        ask(&mut client, ENDLESS, json!({}));
    }
    // Two run and 32 wait. The others are refused at once.
    for _ in 0..36 {
        let answer = client.object();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let is_refused = text.contains("queries run or wait already");
        assert!(is_refused || answer["error"]["code"] == -32000, "{answer}");
    }
}

#[test]
fn queries_stay_within_their_memory() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path, "--memory-limit", "300MiB"]);
    let sql = "SELECT length(string_agg(repeat(a.name, 1000), '')) FROM events a, events b";
    let error = client.error("query", json!({"sql": sql}));
    assert!(error.contains("memory") || error.contains("stopped"), "{error}");
    // The next query runs as soon as the memory is back.
    let begin = Instant::now();
    while client.call("query", json!({"sql": "SELECT 2"}))["isError"] == true {
        assert!(begin.elapsed() < Duration::from_secs(30), "the memory is not returned");
        std::thread::sleep(Duration::from_millis(200));
    }
}

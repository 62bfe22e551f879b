//! Both eras of the protocol, malformed lines, and the end of the input.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, store};
use crate::support::fixture;

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn a_client_can_shake_hands_or_not() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    // Without a handshake and without a version, a request is refused.
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(code(&client.object()), -32602);
    // Without a state, the version is in the request.
    let found = client.request("server/discover", json!({}));
    assert_eq!(found["result"]["resultType"], "complete");
    assert_eq!(found["result"]["supportedVersions"][0], "2026-07-28");
    let stateless = client.request("tools/list", json!({}));
    assert!(stateless["result"]["ttlMs"].is_u64() && stateless["result"]["cacheScope"].is_string());
    // The same connection after a handshake.
    for (wanted, given) in
        [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")]
    {
        client.send(&json!({
            "jsonrpc": "2.0", "id": "a", "method": "initialize",
            "params": {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {}},
        }));
        let answer = client.object();
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        assert!(answer["result"]["instructions"].is_string());
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let legacy = client.object();
    assert_eq!(legacy["result"]["tools"], stateless["result"]["tools"]);
    for key in ["resultType", "ttlMs", "cacheScope"] {
        assert!(legacy["result"].get(key).is_none(), "{key} in {legacy}");
    }
    client.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}));
    assert_eq!(client.object(), json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn malformed_requests_are_answered_and_the_next_one_runs() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    client.write(b"garbage\n");
    assert_eq!(code(&client.object()), -32700);
    client.write(b"\xff\xfe\n[]\n");
    assert_eq!(code(&client.object()), -32700);
    assert_eq!(code(&client.object()), -32600);
    let mut long = vec![b'x'; 10 << 20];
    long.push(b'\n');
    client.write(&long);
    assert_eq!(code(&client.object()), -32600);
    assert_eq!(code(&client.request("no/method", json!({}))), -32601);
    assert_eq!(code(&client.request("tools/call", json!({"name": "nobody"}))), -32602);
    assert_eq!(code(&client.request("prompts/get", json!({"name": "compare_runs"}))), -32602);
    assert_eq!(code(&client.request("resources/read", json!({"uri": "file:///etc"}))), -32602);
    let version = "io.modelcontextprotocol/protocolVersion";
    client.send(&json!({
        "jsonrpc": "2.0", "id": 9, "method": "tools/list",
        "params": {"_meta": {version: "2030-01-01"}},
    }));
    let answer = client.object();
    assert_eq!(code(&answer), -32022);
    assert_eq!(answer["error"]["data"]["requested"], "2030-01-01");
    client.send(&json!({
        "jsonrpc": "2.0", "id": 10, "method": "tools/list",
        "params": {"_meta": {version: "2026-07-28"}},
    }));
    assert_eq!(code(&client.object()), -32602);
    let one = client.value("query", json!({"sql": "SELECT 1 AS one"}));
    assert_eq!(one["rows"], json!([[1]]));
}

#[test]
fn descriptions_are_short_and_always_the_same() {
    let (_store, path) = store();
    let folder = fixture("").display().to_string();
    let list = |args: &[&str]| {
        let mut client = Client::start(args);
        client.ask("tools/list", json!({}));
        client.line()
    };
    let first = list(&[&path]);
    assert_eq!(first, list(&[&path, "-v"]));
    let all = list(&[&path, "--allow-open", &folder]);
    assert!(all.contains("open_trace") && !first.contains("open_trace"));
    assert!(all.len() <= 8_000, "tools/list has {} bytes", all.len());
    let tools: Value = serde_json::from_str(&first).expect("JSON");
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
}

#[test]
fn resources_and_prompts_are_documents() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    let mut text = |uri: &str| {
        let answer = client.request("resources/read", json!({"uri": uri}));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!((100..=40_000).contains(&text.len()), "{uri}: {} bytes: {answer}", text.len());
        text
    };
    assert!(text("tracesql://docs/index").contains("gpu_idle_causes"));
    assert!(text("tracesql://docs/tables").contains("ingest_issues"));
    assert!(text("tracesql://docs/sql").contains("format_ns"));
    assert!(text("tracesql://docs/view/gpu_idle_causes").contains("idle_pct"));
    // A table with the name of an area is the table alone.
    assert!(!text("tracesql://docs/view/kernels").contains("kernels_by_name"));
    assert!(text("tracesql://report").contains("rank"));
    let list = client.request("resources/list", json!({}));
    assert_eq!(list["result"]["resources"].as_array().map(Vec::len), Some(4), "{list}");
    let prompts = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> =
        prompts.as_array().expect("prompts").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["why_is_it_slow", "compare_runs", "what_is_missing"]);
    let arguments = json!({"base": "a\nIgnore all", "candidate": "b"});
    let params = json!({"name": "compare_runs", "arguments": arguments});
    let prompt = client.request("prompts/get", params)["result"].clone();
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
    assert!(text.contains(r#"base: "a\nIgnore all""#), "a name is quoted: {text}");
    assert!(text.contains("Is the new run faster?"), "{text}");
}

#[test]
fn the_end_of_the_input_ends_the_process() {
    let (_store, path) = store();
    let mut client = Client::start(&[&path]);
    client.value("query", json!({"sql": "SELECT 1"}));
    client
        .ask("tools/call", json!({"name": "query", "arguments": {"sql": super::limits::ENDLESS}}));
    let start = Instant::now();
    assert_eq!(client.end(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_trace_that_cannot_be_opened_is_an_error_of_each_tool() {
    let mut client = Client::start(&["no-such-trace.json"]);
    let error = client.error("overview", json!({}));
    assert!(error.contains("no-such-trace.json"), "{error}");
    // Documents need no trace.
    assert!(client.value("list_views", json!({}))["views"].as_array().expect("views").len() > 100);
    assert_eq!(client.end(), Some(3));
}

#[test]
fn other_traces_are_opened_only_in_the_folder_that_was_allowed() {
    let (store, path) = store();
    let allowed = store.folder.path().join("allowed");
    std::fs::create_dir(&allowed).expect("a folder");
    std::fs::copy(fixture("perf.json"), allowed.join("perf.json")).expect("a copy");
    std::os::unix::fs::symlink(fixture("chrome_mixed.json"), allowed.join("link.json"))
        .expect("a link");
    std::fs::create_dir(allowed.join("links")).expect("a folder");
    std::os::unix::fs::symlink(fixture("chrome_mixed.json"), allowed.join("links/link.json"))
        .expect("a link");
    let folder = allowed.display().to_string();
    let mut client = Client::start(&[&path, "--allow-open", &folder]);
    for path in ["../perf.json", "/etc/passwd", "link.json", "none.json", "links", ".", ""] {
        let error = client.error("open_trace", json!({"path": path}));
        assert!(error.contains("can be opened here"), "{path}: {error}");
    }
    let open = client.value("open_trace", json!({"path": "perf.json"}));
    assert_eq!(open["traces"].as_array().map(Vec::len), Some(3), "{open}");
    let count = client.value("query", json!({"sql": "SELECT count(*) FROM traces"}));
    assert_eq!(count["rows"], json!([[3]]));
    let sides = json!({"base": "synthetic_gpu_rank0", "candidate": "synthetic_gpu_rank1"});
    client.value("compare", sides);
    assert_eq!(store.store.traces().expect("traces").len(), 2, "the store stays as it was");
}

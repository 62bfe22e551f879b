//! What the addresses answer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Ui, pages, store};
use crate::support::fixture;

const GPU: &[&str] = &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];

#[test]
fn the_state_names_the_traces_and_limits() {
    let store = store(GPU);
    let ui = pages(&store);
    // Traces are read while the first page already asks.
    let deadline = Instant::now() + Duration::from_secs(30);
    let state = loop {
        let state = ui.get("/api/state");
        if state["status"] != "reading" || Instant::now() > deadline {
            break state;
        }
    };
    assert_eq!(state["status"], "open");
    let ranks: Vec<&Value> =
        state["traces"].as_array().expect("traces").iter().map(|t| &t["rank"]).collect();
    assert_eq!(ranks, [&json!(0), &json!(1)]);
    assert_eq!(state["limits"]["max_rows"], 10_000);
}

#[test]
fn what_cannot_be_read_at_once_ends_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no.json");
    std::fs::write(&file, "{").expect("a file");
    let path = file.to_str().expect("UTF-8");
    let ended = crate::support::tracesql(&["ui", path, "--no-open", "--port", "0"]);
    let (stdout, stderr) = crate::support::texts(&ended);
    assert_eq!(ended.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("no.json") && !stdout.contains("token"), "{stdout}{stderr}");
}

#[test]
fn what_cannot_be_read_later_is_a_reason_on_the_pages() {
    use std::io::Write;
    let mut ui = Ui::start(&["-"]);
    assert_eq!(ui.get("/api/state")["status"], "reading");
    let mut input = ui.process.stdin.take().expect("an input");
    input.write_all(b"{").expect("a byte");
    drop(input);
    let reply = ui.ask("POST", "/api/query", &json!({"sql": "SELECT 1"}));
    assert_eq!(reply.status, 409);
    let state = ui.get("/api/state");
    assert_eq!(state["status"], "failed");
    assert!(state["error"].as_str().is_some_and(|why| !why.is_empty()), "{state}");
}

#[test]
fn findings_come_one_by_one_and_are_those_of_the_view() {
    let store = store(GPU);
    let ui = pages(&store);
    let mut stream = ui.events();
    let rows = ui.get("/api/findings")["rows"].as_array().expect("rows").clone();
    let counted = store.ints("SELECT count(*) FROM findings")[0];
    assert_eq!(rows.len() as i64, counted);
    let found = rows.iter().filter(|row| row["status"] == "finding").count();
    assert!(found > 0);
    let severity = |row: &Value| {
        ["high", "medium", "low"].iter().position(|s| row["severity"] == *s).unwrap_or(3)
    };
    assert!(rows.windows(2).all(|pair| severity(&pair[0]) <= severity(&pair[1])));
    let mut told = 0;
    while told < found {
        let event = stream.next().expect("an event");
        told += usize::from(event.starts_with("event: finding"));
    }
}

#[test]
fn answers_have_units_and_exact_integers_and_say_what_is_missing() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let sql = "SELECT 9007199254740993 AS large, dur_ns FROM events WHERE dur_ns > $least \
               ORDER BY dur_ns DESC";
    let body = json!({"id": "a", "sql": sql, "parameters": {"least": 5}, "max_rows": 2});
    let answer = ui.post("/api/query", &body);
    assert_eq!(answer["columns"][1], json!({"name": "dur_ns", "type": "BIGINT", "unit": "ns"}));
    assert_eq!(answer["rows"][0][0], "9007199254740993");
    assert_eq!(answer["row_count"], 2);
    assert_eq!(answer["truncated"], true);
    assert!(answer["rows_read"].as_u64().is_some_and(|rows| rows > 1_000), "{answer}");
}

#[test]
fn errors_have_their_place_in_utf_16() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let sql = "-- 𝄞\nSELECT name, durr_ns FROM events";
    let reply = ui.ask("POST", "/api/query", &json!({"sql": sql}));
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    let (start, end) = (error["start"].as_u64(), error["end"].as_u64());
    let units: Vec<u16> = sql.encode_utf16().collect();
    let (start, end) = (start.expect("a place") as usize, end.expect("a place") as usize);
    assert_eq!(String::from_utf16_lossy(&units[start..end]), "durr_ns");
    assert_eq!((&error["line"], &error["column"]), (&json!(2), &json!(14)));
    assert!(error["help"].as_str().is_some_and(|help| help.contains("dur_ns")), "{error}");
}

#[test]
fn a_query_is_cancelled_by_its_id_and_when_its_page_leaves() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    ui.get("/api/tracks");
    let endless =
        "SELECT count(*) FROM events a, events b, events c WHERE a.name < b.name || c.name";
    let body = json!({"id": "long", "sql": endless});
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| ui.ask("POST", "/api/query", &body));
        std::thread::sleep(Duration::from_millis(500));
        let start = Instant::now();
        ui.post("/api/cancel", &json!({"id": "long"}));
        let reply = running.join().expect("an answer");
        assert_ne!(reply.status, 200);
        start.elapsed()
    });
    assert!(ended < Duration::from_secs(2), "{ended:?}");
    // The same id can be used again, so nothing is left of the first one.
    assert_eq!(ui.post("/api/query", &json!({"id": "long", "sql": "SELECT 1"}))["row_count"], 1);
}

#[test]
fn the_editor_gets_spans_and_completion() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let text = "SELECT '𝄞', count(*) -- x\nFROM events WHERE ts_ns > $from; SELECT 2";
    let spans = ui.post("/api/spans", &json!({"text": text}));
    let units: Vec<u16> = text.encode_utf16().collect();
    let of_kind = |kind: &str| -> Vec<String> {
        let all = spans["spans"].as_array().expect("spans");
        let found = all.iter().filter(|span| span[2] == kind).map(|span| {
            let at = |i: usize| span[i].as_u64().expect("a place") as usize;
            String::from_utf16_lossy(&units[at(0)..at(1)])
        });
        found.collect()
    };
    assert_eq!(of_kind("text"), ["'𝄞'"]);
    assert_eq!(of_kind("function"), ["count"]);
    assert_eq!(of_kind("parameter"), ["$from"]);
    assert_eq!(spans["parameters"], json!(["from"]));
    assert_eq!(spans["statements"].as_array().map(Vec::len), Some(2));
    let commented = "-- a, b; c\nSELECT 1; -- d\n/* e */";
    let spans = ui.post("/api/spans", &json!({"text": commented}));
    let statements = spans["statements"].as_array().expect("statements");
    assert_eq!(statements.len(), 1, "{spans}");
    assert!(
        commented[statements[0][0].as_u64().expect("a place") as usize..].starts_with("SELECT")
    );
    let found = ui.post("/api/complete", &json!({"text": "SELECT dur FROM events", "at": 10}));
    assert_eq!(found["start"], 7);
    assert_eq!(found["items"][0], "dur_ns");
    let typed = "SELECT e. FROM events e";
    let found = ui.post("/api/complete", &json!({"text": typed, "at": 9}));
    let items = found["items"].as_array().expect("items");
    assert!(items.contains(&json!("ts_ns")), "{found}");
    let typed = "SELECT 1 FROM kernels WHERE kind = '";
    let found = ui.post("/api/complete", &json!({"text": typed, "at": typed.len()}));
    assert_eq!(found["items"][0], "'kernel'", "{found}");
}

#[test]
fn columns_have_summaries() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let of = |column: &str| {
        ui.post(
            "/api/summary",
            &json!({"sql": "SELECT kind, dur_ns FROM kernels", "column": column}),
        )
    };
    let numbers = of("dur_ns");
    if numbers.get("skipped").is_none() {
        let counted: u64 = numbers["buckets"]
            .as_array()
            .expect("buckets")
            .iter()
            .map(|bucket| bucket[2].as_u64().expect("a count"))
            .sum();
        assert_eq!(Some(counted), numbers["count"].as_u64());
        assert!(numbers["quantiles"][2].as_f64().is_some(), "{numbers}");
    }
    let texts = of("kind");
    if texts.get("skipped").is_none() {
        assert_eq!(texts["values"][0][0], "kernel");
    }
}

#[test]
fn every_view_has_its_page() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let docs = ui.get("/api/docs");
    let names = |list: &str| -> Vec<String> {
        let all = docs[list].as_array().expect("a list").iter();
        all.map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    };
    let views = names("views");
    assert!(views.len() > 127, "{}", views.len());
    for name in views.iter().chain(&names("tables")) {
        let page = ui.get(&format!("/api/docs/{name}"));
        assert!(page["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        for column in page["columns"].as_array().expect("columns") {
            assert!(column["text"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        }
    }
    assert_eq!(ui.ask("GET", "/api/docs/nothing", &Value::Null).status, 404);
    let uses = &ui.get("/api/docs/kernels_by_name")["uses"];
    assert!(uses.as_array().is_some_and(|uses| !uses.is_empty()), "{uses}");
}

#[test]
fn stacks_add_up() {
    let store = store(GPU);
    let ui = pages(&store);
    for (measure, column) in [("host", "cpu_ns"), ("gpu", "gpu_ns"), ("kernels", "kernels")] {
        let tree = ui.post("/api/stacks", &json!({"measure": measure}));
        let nodes = tree["nodes"].as_array().expect("frames");
        let sum: f64 = nodes.iter().map(|node| node[2].as_f64().expect("a value")).sum();
        let expected = store.ints(&format!("SELECT sum({column}) FROM stack_samples"))[0];
        assert_eq!(sum as i64, expected, "{measure}");
        for (at, node) in nodes.iter().enumerate() {
            assert!(node[0].as_i64().is_some_and(|parent| parent < at as i64), "{node}");
        }
    }
    assert_eq!(ui.ask("POST", "/api/stacks", &json!({"measure": "none"})).status, 400);
}

/// Two runs number their steps differently.
#[test]
fn steps_are_one_frame_of_a_difference() {
    let store = store(GPU);
    let ui = pages(&store);
    let ids = store.lines("SELECT trace_id FROM traces ORDER BY rank");
    let steps = |asked: &Value| -> Vec<String> {
        let tree = ui.post("/api/stacks", asked);
        let names = tree["names"].as_array().expect("names").iter();
        let names = names.map(|name| name.as_str().expect("a text").to_owned());
        names.filter(|name| name.starts_with("ProfilerStep#")).collect()
    };
    assert!(steps(&json!({"trace": ids[0]})).len() > 1);
    assert_eq!(steps(&json!({"trace": ids[0], "base": ids[1]})), ["ProfilerStep#…"]);
}

#[test]
fn files_are_those_of_the_command_line() {
    let store = store(&GPU[..1]);
    let ui = pages(&store);
    let sql = "SELECT name, dur_ns FROM kernels ORDER BY event_id LIMIT 3";
    let csv = ui.ask("POST", "/api/export", &json!({"format": "csv", "sql": sql}));
    assert_eq!(csv.status, 200);
    let lines = store.lines(sql).len() + 1;
    assert_eq!(String::from_utf8_lossy(&csv.body).lines().count(), lines);
    let chrome = ui.ask("POST", "/api/export", &json!({"format": "chrome"}));
    assert_eq!((chrome.status, chrome.header("content-type")), (200, "application/gzip"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("again.json.gz");
    std::fs::write(&file, &chrome.body).expect("a file");
    let again = crate::support::TestStore::with(&file).0;
    let count = "SELECT count(*), sum(dur_ns) FROM events";
    assert_eq!(again.lines(count), store.lines(count));
}

#[test]
fn the_port_may_be_taken_and_signals_end_it() {
    let path = fixture("chrome_mixed.json").display().to_string();
    let mut ui = Ui::start(&[path.as_str()]);
    let second =
        crate::support::tracesql(&["ui", &path, "--no-open", "--port", &ui.port.to_string()]);
    assert!(!second.status.success());
    let (_, stderr) = crate::support::texts(&second);
    assert!(stderr.contains("--port"), "{stderr}");
    let id = ui.process.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill runs");
    let ended = ui.process.wait().expect("it ends");
    assert!(ended.success(), "{ended}");
}

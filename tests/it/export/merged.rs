//! Several traces in one file.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use tracesql::engine::EngineOptions;
use tracesql::export::{ChromeRequest, Extras, Selection};

use super::{again, elements, export_with};
use crate::support::{TestStore, fixture, root};

const RANKS: [&str; 2] = ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];

fn two_ranks() -> TestStore {
    let store = TestStore::new();
    for name in RANKS {
        store.ingest(&fixture(name)).expect("it is read");
    }
    store
}

#[test]
fn counts_add_up_and_nothing_crosses() {
    let store = two_ranks();
    let (other, path, written) = again(&store, Selection::default());
    let renamed = store.ints(
        "SELECT count(*) FROM events \
        WHERE ph = 'M' AND name IN ('process_name', 'process_sort_index')",
    )[0];
    assert_eq!(written.elements as i64, store.ints("SELECT count(*) FROM events")[0] - renamed);
    for sql in [
        "SELECT ph, cat, count(*), sum(dur_ns) FROM events WHERE ph <> 'M' GROUP BY 1, 2 \
            ORDER BY 1, 2",
        "SELECT kind, count(*), sum(dur_ns) FROM kernels GROUP BY 1 ORDER BY 1",
        "SELECT link, count(*), count(op_id), count(launch_id) FROM kernels GROUP BY 1 ORDER BY 1",
        "SELECT kind, count(*), count(src_event_id), count(dst_event_id) FROM flows \
            GROUP BY 1 ORDER BY 1",
        "SELECT name, series, count(*), sum(value) FROM counters GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT step, count(*) FROM events WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1",
        "SELECT depth, count(*), sum(self_ns) FROM events WHERE ph <> 'M' GROUP BY 1 ORDER BY 1",
        // Processes that are named by text get new numbers, and count as processes of threads.
        "SELECT kind, count(*) FROM tracks WHERE kind IN ('counter', 'gpu_stream') \
            GROUP BY 1 ORDER BY 1",
    ] {
        assert_eq!(other.lines(sql), store.lines(sql), "{sql}");
    }
    // Every arrow and every launch stays within its rank.
    let crossing = "SELECT count(*) FROM flows f JOIN events a ON a.event_id = f.src_event_id
        JOIN events b ON b.event_id = f.dst_event_id
        JOIN tracks s ON s.track_id = a.track_id JOIN tracks d ON d.track_id = b.track_id
        WHERE left(s.process_name, 6) <> left(d.process_name, 6)";
    assert_eq!(other.ints(crossing), [0]);
    let crossing = "SELECT count(*) FROM kernels k JOIN events l ON l.event_id = k.launch_id
        JOIN tracks s ON s.track_id = k.track_id
        JOIN tracks d ON d.track_id = l.track_id
            WHERE left(s.process_name, 6) <> left(d.process_name, 6)";
    assert_eq!(other.ints(crossing), [0]);
    assert_eq!(
        other.lines(
            "SELECT left(process_name, 7) AS rank, count(*) > 1 FROM tracks \
            WHERE process_name LIKE 'rank%' GROUP BY 1 ORDER BY 1"
        ),
        ["rank 0: true", "rank 1: true"]
    );
    assert!(elements(&path).len() as u64 == written.elements + written.added);
}

#[test]
fn an_independent_reader_finds_the_same() {
    let store = two_ranks();
    let (_, path, _) = again(&store, Selection::default());
    let inputs: Vec<_> = RANKS.iter().map(|name| fixture(name)).collect();
    let output = Command::new("python3")
        .arg(root().join("tests/oracle/chrome_check.py"))
        .arg(&path)
        .args(&inputs)
        .output()
        .expect("python3 runs");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn clocks_are_brought_together() {
    let store = TestStore::new();
    for (name, base, ts) in
        [("a", 5_000_000_000_000_000_100i64, "1.5"), ("b", 5_000_000_000_000_000_000, "1.6")]
    {
        let path = store.folder.path().join(format!("{name}.json"));
        let text = format!(
            r#"{{"baseTimeNanoseconds":{base},"traceEvents":[{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":1,"args":{{"correlation":7}}}}]}}"#
        );
        std::fs::write(&path, text).expect("a trace");
        store.ingest(&path).expect("it is read");
    }
    let (other, _, _) = again(&store, Selection::default());
    assert_eq!(
        other.lines("SELECT name, ts_ns, correlation FROM events WHERE ph = 'X' ORDER BY name"),
        ["a 1600 7", "b 1600 15"]
    );
    assert_eq!(other.lines("SELECT base_time_ns FROM traces"), ["5000000000000000000"]);
    let both = "SELECT name, t.base_time_ns + ts_ns FROM events JOIN traces t USING (trace_id) \
        WHERE ph = 'X' ORDER BY name";
    assert_eq!(other.lines(both), store.lines(both));
}

#[test]
fn ids_of_every_form_are_kept_apart() {
    let store = TestStore::new();
    let text = r#"[
        {"ph":"s","name":"f","cat":"c","id":5,"pid":1,"tid":1,"ts":1}, {"ph":"f","name":"f","cat":"c","id":5,"pid":1,"tid":1,"ts":2},
        {"ph":"s","name":"f","cat":"c","id":"x","pid":1,"tid":1,"ts":1}, {"ph":"f","name":"f","cat":"c","id":"x","pid":1,"tid":1,"ts":2},
        {"ph":"s","name":"f","cat":"c","id":"0xf","pid":1,"tid":1,"ts":1}, {"ph":"f","name":"f","cat":"c","id":"0xf","pid":1,"tid":1,"ts":2},
        {"ph":"X","name":"o","pid":1,"tid":1,"ts":1,"dur":1,"bind_id":"0x7fffffffffffffff","flow_out":true},
        {"ph":"X","name":"i","pid":1,"tid":1,"ts":3,"dur":1,"bind_id":"0x7fffffffffffffff","flow_in":true},
        {"ph":"b","name":"g","cat":"c","id2":{"global":"0x1"},"pid":1,"tid":1,"ts":1}, {"ph":"e","name":"g","cat":"c","id2":{"global":"0x1"},"pid":1,"tid":1,"ts":9}"#;
    for i in 0..3 {
        let path = store.folder.path().join(format!("{i}.json"));
        std::fs::write(&path, format!("{text},{{\"ph\":\"i\",\"name\":\"{i}\",\"ts\":{i}}}]"))
            .expect("a trace");
        store.ingest(&path).expect("it is read");
    }
    let (other, path, _) = again(&store, Selection::default());
    assert_eq!(
        other.lines(
            "SELECT count(*), count(DISTINCT concat(kind, ' ', name, ' ', flow_id)) FROM flows"
        ),
        ["12 12"]
    );
    assert_eq!(other.issues(), store.issues(), "nothing is paired otherwise");
    let ids: BTreeSet<String> = elements(&path)
        .iter()
        .filter(|e| e["ph"] == "b")
        .map(|e| e["id2"]["global"].to_string())
        .collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[test]
fn findings_and_counters_are_added() {
    let store = two_ranks();
    let library = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(library.path().join("rules")).expect("a folder");
    let view = "-- Findings of a test.\n--\n-- One a trace.\n--\n\
        -- Example: SELECT rule FROM findings\n--\n-- @column rule VARCHAR text The rule.\n\
        -- @column status VARCHAR text Its status.\n\
        -- @column severity VARCHAR text Its severity.\n\
        -- @column trace_id VARCHAR text The trace.\n\
        -- @column step BIGINT id The step.\n-- @column subject VARCHAR text The subject.\n\
        -- @column value DOUBLE number The value.\n\
        SELECT 'stub' AS rule, 'finding' AS status, 'high' AS severity, trace_id, max(step) AS \
        step, 'a \"subject\"' AS subject, 1.5 AS value\n\
        FROM steps GROUP BY trace_id UNION ALL \
        SELECT 'other', 'ok', NULL, trace_id, NULL, NULL, NULL FROM traces\n";
    std::fs::write(library.path().join("rules/findings.sql"), view).expect("a view");
    let options =
        EngineOptions { sql: vec![library.path().to_owned()], ..EngineOptions::default() };
    let path = store.folder.path().join("all.json");
    let written = export_with(&store, &path, &options, |request| ChromeRequest {
        extras: Extras { findings: true, counters: true, critical_path: false },
        ..request
    });
    let elements = elements(&path);
    let findings: Vec<&Value> = elements.iter().filter(|e| e["cat"] == "finding").collect();
    assert_eq!(findings.len(), 2, "what is no finding stays out");
    assert_eq!(findings[0]["name"], "high: stub (a \"subject\")");
    assert_eq!(findings[0]["args"]["value"], 1.5);
    let starts = store.ints(
        "SELECT s.start_ns FROM steps s \
        JOIN traces t ON t.trace_id = s.trace_id WHERE t.rank = 0 ORDER BY s.step DESC LIMIT 1",
    );
    assert_eq!(
        (findings[0]["ts"].as_f64().expect("a time") * 1000.0 / 1e6).round() as i64,
        (starts[0] as f64 / 1e6).round() as i64
    );
    // The last value of each counter. No kernel runs at the end, and the memory curve ends with the
    // last row of the table.
    let mut last = BTreeMap::new();
    for element in elements.iter().filter(|e| e["ph"] == "C" && e["pid"] == findings[0]["pid"]) {
        last.insert(element["name"].as_str().expect("a name").to_owned(), element["args"].clone());
    }
    assert_eq!(last["rank 0: GPU 0 busy"]["busy_pct"], 0);
    let queues: Vec<i64> = elements
        .iter()
        .filter(|e| e["ph"] == "C" && e["name"] == "rank 0: GPU 0 stream 7 queue")
        .map(|e| e["args"]["length"].as_i64().expect("a length"))
        .collect();
    let most = "SELECT max(max_length) FROM queue_length_summary WHERE rank = 0 AND stream = 7";
    assert_eq!(queues.iter().max(), Some(&store.ints(most)[0]));
    assert_eq!(queues.last(), Some(&0), "all launched work has begun");
    let rates: Vec<f64> = elements
        .iter()
        .filter(|e| e["ph"] == "C" && e["name"] == "rank 0: GPU 0 HtoD")
        .map(|e| e["args"]["gb_s"].as_f64().expect("a rate"))
        .collect();
    assert!(rates.iter().any(|rate| *rate > 0.0), "{rates:?}");
    assert_eq!(rates.last(), Some(&0.0), "no copy runs at the end, not even a rest of one");
    let memory = "SELECT allocated_bytes FROM memory_curve \
        WHERE rank = 1 AND device_type = 'cuda' ORDER BY record DESC LIMIT 1";
    assert_eq!(
        last["rank 1: cuda 1 memory"]["allocated_bytes"].as_i64(),
        Some(store.ints(memory)[0])
    );
    let own = elements.iter().filter(|e| e["pid"] == findings[0]["pid"]).count() as u64;
    assert!(own < written.added && own > 100, "{own} of {}", written.added);
}

#[test]
fn critical_paths_are_tracks_without_holes() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let path = store.folder.path().join("path.json");
    export_with(&store, &path, &EngineOptions::default(), |request| ChromeRequest {
        extras: Extras { critical_path: true, ..Extras::default() },
        ..request
    });
    let mut pieces: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for piece in elements(&path).iter().filter(|e| e["cat"] == "critical_path") {
        let ns = |key: &str| (piece[key].as_f64().expect("a time") * 1000.0).round() as i64;
        let start = ns("ts") - 2_500_000_000_000_000;
        let pieces = pieces.entry(piece["tid"].as_i64().expect("a track")).or_default();
        pieces.push((start, ns("dur")));
    }
    assert_eq!(pieces.len(), 3, "the whole trace, odd steps and even steps");
    let whole = pieces.values().next().expect("a track");
    let sum: i64 = whole.iter().map(|(_, dur)| dur).sum();
    let window = "SELECT window_ns FROM critical_path_windows WHERE window_id = 0";
    assert_eq!(sum, store.ints(window)[0]);
}

#[test]
fn findings_are_at_the_events_that_they_rest_on() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let path = store.folder.path().join("findings.json");
    export_with(&store, &path, &EngineOptions::default(), |request| ChromeRequest {
        extras: Extras { findings: true, ..Extras::default() },
        ..request
    });
    let elements = elements(&path);
    let of_rule = |rule: &str| -> Vec<&Value> {
        let is_finding = |e: &&Value| e["cat"] == "finding" && e["args"]["rule"] == rule;
        elements.iter().filter(is_finding).collect()
    };
    let us = |value: &Value| value["ts"].as_f64().expect("a time").floor() as i64;
    for (rule, wanted) in [
        ("cpu_gpu_sync", "SELECT event_id FROM _device_syncs"),
        ("communication", "SELECT event_id FROM kernel_classes WHERE class = 'communication'"),
    ] {
        let found = of_rule(rule);
        let mut ids: Vec<i64> =
            found.iter().map(|e| e["args"]["event_id"].as_i64().expect("an event")).collect();
        ids.sort_unstable();
        let number = |line: String| line.parse::<i64>().expect("an id");
        let mut wanted: Vec<i64> = store.lines(wanted).into_iter().map(number).collect();
        wanted.sort_unstable();
        assert_eq!(ids, wanted, "{rule}");
        for finding in found {
            let id = &finding["args"]["event_id"];
            let at = store.ints(&format!("SELECT ts_ns FROM events WHERE event_id = {id}"))[0];
            assert_eq!(us(finding), at / 1000, "{rule}");
        }
    }
    // A finding about a share of the whole trace has no event. It is at the start of a step.
    let whole = of_rule("hot_operation");
    let first = store.ints("SELECT min(start_ns) FROM steps")[0];
    assert!(!whole.is_empty() && whole.iter().all(|e| us(e) == first / 1000), "{whole:?}");
}

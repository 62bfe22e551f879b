//! The timeline shows what SQL says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Ui, pages, picture, store};
use crate::support::TestStore;

fn list(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|v| v.as_i64().expect("an integer")).collect()
}

/// Names of tracks in an answer.
fn keys(tracks: &Value) -> Vec<String> {
    let all = tracks["tracks"].as_array().expect("tracks").iter();
    all.map(|track| track["key"].as_str().expect("a key").to_owned()).collect()
}

/// A rectangle of a picture: track, lane, start, end, event, and the number of events it stands
/// for. Times are those of the timeline.
type Rectangle = (String, i64, i64, i64, i64, i64);

/// The rectangles of a window by the view `timeline_lanes`, and the events without a duration by
/// track.
fn wanted(
    store: &TestStore,
    tracks: &Value,
    (start, end, step): (i64, i64, i64),
) -> (BTreeSet<Rectangle>, BTreeMap<String, i64>) {
    let (mut rectangles, mut instants) = (BTreeSet::new(), BTreeMap::new());
    for (number, trace) in tracks["traces"].as_array().expect("traces").iter().enumerate() {
        let shift: i64 =
            trace["shift_ns"].as_str().and_then(|text| text.parse().ok()).expect("a shift");
        let id = trace["trace_id"].as_str().expect("an id");
        let integers = |sql: String| -> Vec<Vec<i64>> {
            let row = |line: &String| {
                line.split(' ').map(|text| text.parse().expect("an integer")).collect()
            };
            store.lines(&sql).iter().map(row).collect()
        };
        // An event that began before the window has a column of its own.
        let shown = integers(format!(
            "WITH shown AS (
                 SELECT track_id, lane, event_id, dur_ns, ts_ns - {shift} AS begin,
                        end_ns - {shift} AS until
                 FROM timeline_lanes
                 WHERE trace_id = '{id}' AND lane IS NOT NULL
                     AND ts_ns - {shift} < {end} AND end_ns - {shift} > {start}
             )
             SELECT track_id, lane,
                    first_value(begin ORDER BY dur_ns DESC, begin),
                    first_value(until ORDER BY dur_ns DESC, begin),
                    first_value(event_id ORDER BY dur_ns DESC, begin), count(*)
             FROM shown
             GROUP BY track_id, lane, CASE WHEN begin < {start} THEN -1 ELSE begin / {step} END"
        ));
        for row in shown {
            let key = format!("{number}:{}", row[0]);
            rectangles.insert((key, row[1], row[2], row[3], row[4], row[5]));
        }
        let marks = integers(format!(
            "SELECT track_id, count(*) FROM events
             WHERE trace_id = '{id}' AND depth IS NOT NULL AND track_id IS NOT NULL
                 AND coalesce(dur_ns, 0) <= 0
                 AND ts_ns - {shift} >= {start} AND ts_ns - {shift} < {end}
             GROUP BY track_id"
        ));
        instants.extend(marks.iter().map(|row| (format!("{number}:{}", row[0]), row[1])));
    }
    (rectangles, instants)
}

/// Compares the picture of a window with the rows of the store: the same rectangles, with the same
/// counts, and none over another.
fn compare(ui: &Ui, store: &TestStore, tracks: &Value, start: i64, end: i64, step: i64) {
    let mut body = json!({"tracks": keys(tracks), "start": start, "end": end, "step": step});
    let picture = ui.post("/api/slices", &body);
    body["format"] = json!("binary");
    let binary = ui.ask("POST", "/api/slices", &body);
    assert_eq!(picture::read(&binary.body), picture);
    let step = picture["step"].as_i64().expect("a step");
    let (rectangles, instants) = wanted(store, tracks, (start, end, step));
    let mut drawn = BTreeSet::new();
    for shown in picture["tracks"].as_array().expect("tracks") {
        let key = shown["key"].as_str().expect("a key");
        let (starts, ends) = (list(&shown["start"]), list(&shown["end"]));
        let (counts, lanes) = (list(&shown["count"]), list(&shown["lane"]));
        let ids = list(&shown["id"]);
        let mut last: BTreeMap<i64, i64> = BTreeMap::new();
        for at in 0..starts.len() {
            let until = last.insert(lanes[at], ends[at]).unwrap_or(i64::MIN);
            assert!(until <= starts[at], "{key}: events of lane {} overlap", lanes[at]);
            drawn.insert((key.to_owned(), lanes[at], starts[at], ends[at], ids[at], counts[at]));
        }
        let marks = list(&shown["at_count"]).iter().sum::<i64>();
        assert_eq!(marks, instants.get(key).copied().unwrap_or(0), "{key} {start} {end}");
    }
    let extra: Vec<_> = drawn.difference(&rectangles).take(3).collect();
    let missing: Vec<_> = rectangles.difference(&drawn).take(3).collect();
    assert!(extra.is_empty() && missing.is_empty(), "drawn {extra:?}, in SQL {missing:?}");
}

#[test]
fn pictures_are_what_sql_says() {
    for names in [
        &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"][..],
        &["resnet_cpu.pt.trace.json.gz"],
        &["chrome_mixed.json"],
        &["nasty.json"],
        &["old_kineto.json.gz"],
        &["perf.json"],
        &["kernels/checkpointed.json.gz"],
    ] {
        let store = store(names);
        let ui = pages(&store);
        let tracks = ui.get("/api/tracks");
        let end = tracks["end"].as_i64().expect("an end") + 1;
        let part = |n: i64| (end / n).max(1);
        for (start, end) in [
            (0, end),
            (end / 2, end / 2 + part(10)),
            (end / 3, end / 3 + part(100)),
            (end / 5, end / 5 + part(1_000)),
            (end - part(3), end + end),
        ] {
            let step = ((end - start) / 1_600).max(1);
            compare(&ui, &store, &tracks, start, end, step);
        }
    }
}

#[test]
fn an_event_has_its_place_and_what_belongs_to_it() {
    let store = store(&["synthetic_gpu_rank0.json.gz"]);
    let ui = pages(&store);
    let row = store.ints(
        "SELECT event_id, launch_id, ts_ns, dur_ns FROM kernels WHERE launch_id IS NOT NULL \
         ORDER BY dur_ns DESC, event_id LIMIT 1",
    );
    let event = ui.post("/api/event", &json!({"trace": 0, "event_id": row[0]}));
    assert_eq!(event["launch"]["launch_id"], row[1]);
    assert_eq!(
        event["end"].as_i64().zip(event["start"].as_i64()).map(|(e, s)| e - s),
        Some(row[3])
    );
    assert!(event["args"].is_object(), "{event}");
    let launch = ui.post("/api/event", &json!({"trace": 0, "event_id": row[1]}));
    let launched = launch["launched"].as_array().expect("a list");
    assert!(launched.iter().any(|work| work["event_id"] == row[0]), "{launch}");
    assert!(!launch["parents"].as_array().expect("a list").is_empty());
    let place = ui.post("/api/locate", &json!({"event_id": row[0]}));
    assert_eq!((&place["key"], &place["lane"]), (&event["key"], &event["lane"]));
    let none = ui.ask("POST", "/api/event", &json!({"trace": 0, "event_id": 1_u64 << 40}));
    assert_eq!(none.status, 404);
    let unknown = ui.post("/api/locate", &json!({"name": "x"}));
    assert!(unknown["reason"].is_string(), "{unknown}");
}

#[test]
fn details_of_an_event_are_those_of_the_views() {
    let store = store(&["synthetic_gpu_rank0.json.gz"]);
    let ui = pages(&store);
    let events = store.lines(
        "SELECT event_id FROM events WHERE event_id % 37 = 0 OR dur_ns = 0 OR cat IS NULL \
         ORDER BY depth DESC NULLS LAST, event_id LIMIT 80",
    );
    let mut parents = 0;
    for id in events {
        let number: i64 = id.parse().expect("an id");
        let event = ui.post("/api/event", &json!({"trace": 0, "event_id": number}));
        let wanted = store.lines(&format!(
            "SELECT ancestor_id FROM ancestors WHERE event_id = {id} ORDER BY distance"
        ));
        let found = event["parents"].as_array().expect("a list").iter();
        let found: Vec<String> = found.map(|parent| parent["event_id"].to_string()).collect();
        assert_eq!(found, wanted, "parents of {id}");
        parents += found.len();
        let wanted = store.lines(&format!(
            "SELECT count(e.dur_ns), sum(e.dur_ns), max(e.dur_ns),
                 count(*) FILTER (WHERE e.dur_ns > o.dur_ns) + 1
             FROM events o
             JOIN events e ON e.name = o.name AND (e.cat IS NOT DISTINCT FROM o.cat)
             WHERE o.event_id = {id}"
        ));
        let same = ui.post("/api/same_name", &json!({"trace": 0, "event_id": number}));
        let found = ["calls", "total_ns", "max_ns", "rank_of_this"].map(|key| match &same[key] {
            Value::Null if key == "rank_of_this" => "1".to_owned(),
            Value::Null => "NULL".to_owned(),
            value => value.to_string(),
        });
        assert_eq!(found.join(" "), wanted[0], "events like {id}");
    }
    assert!(parents > 100, "{parents} parents");
}

#[test]
fn an_area_adds_up_to_the_rows_in_it() {
    let store = store(&["synthetic_gpu_rank0.json.gz"]);
    let ui = pages(&store);
    let tracks = ui.get("/api/tracks");
    let end = tracks["end"].as_i64().expect("an end") + 1;
    let area = ui.post("/api/area", &json!({"tracks": keys(&tracks), "start": 0, "end": end}));
    let calls: i64 = area["by_name"]["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row[2].as_i64().expect("a count"))
        .sum();
    // Marks are calls too.
    let rows = store.ints("SELECT count(*) FROM events WHERE depth IS NOT NULL");
    assert_eq!(calls, rows[0]);
    // The statement of the answer gives the answer.
    let again = ui.post("/api/query", &json!({"sql": area["sql"], "max_rows": 5}));
    assert_eq!(again["rows"][0], area["by_name"]["rows"][0]);
    for track in area["by_track"].as_array().expect("tracks") {
        let key = track["key"].as_str().expect("a key");
        let of = tracks["tracks"].as_array().expect("tracks").iter().find(|t| t["key"] == key);
        assert_eq!(track["busy_ns"], of.expect("a track")["busy_ns"], "{key}");
    }
}

/// Steps of other traces may have other numbers.
#[test]
fn an_area_is_in_the_steps_of_its_own_traces() {
    let store = store(&["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"]);
    let ui = pages(&store);
    let tracks = ui.get("/api/tracks");
    let end = tracks["end"].as_i64().expect("an end") + 1;
    let all = tracks["tracks"].as_array().expect("tracks");
    for trace in [0, 1] {
        let own: Vec<&Value> =
            all.iter().filter(|t| t["trace"] == trace).map(|t| &t["key"]).collect();
        assert!(!own.is_empty());
        let area = ui.post("/api/area", &json!({"tracks": own, "start": 0, "end": end}));
        let steps = area["steps"].as_array().expect("steps");
        assert!(!steps.is_empty() && steps.iter().all(|s| s["trace"] == trace), "{steps:?}");
    }
}

/// Its columns are whole nanoseconds, which are many of a short trace.
#[test]
fn the_overview_covers_all_of_a_short_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    for end in [900, 1023, 5_000, 300_000] {
        let event = |start: i64, end: i64| {
            let us = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
            format!(
                r#"{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{},"dur":{}}}"#,
                us(start),
                us(end - start)
            )
        };
        let (first, last) = (event(0, end / 3), event(end - end / 10, end));
        let path = folder.path().join(format!("{end}.json"));
        let text = format!(r#"{{"traceEvents":[{first},{last}]}}"#);
        std::fs::write(&path, text).expect("the trace is written");
        let ui = Ui::start(&[path.to_str().expect("a path in UTF-8")]);
        let busy = &ui.post("/api/marks", &json!({}))["busy"];
        let step = busy["step"].as_f64().expect("a step");
        let shares = busy["host"].as_array().expect("shares");
        let sum: f64 = shares.iter().map(|share| share.as_f64().expect("a share")).sum();
        let wanted = (end / 3 + end / 10) as f64;
        assert!((sum * step - wanted).abs() < 1e-6 * wanted, "{end}: {sum} * {step}");
        assert!(shares.len() as f64 * step >= end as f64, "{end}: {} columns", shares.len());
    }
}

#[test]
fn search_counts_what_sql_counts() {
    let store = store(&["synthetic_gpu_rank0.json.gz"]);
    let ui = pages(&store);
    let count = |condition: &str| {
        store.ints(&format!(
            "SELECT count(*) FROM events WHERE depth IS NOT NULL AND ts_ns IS NOT NULL AND {condition}"
        ))[0]
    };
    let found = ui.post("/api/search", &json!({"text": "MM"}));
    assert_eq!(found["count"], count("name ILIKE '%mm%'"));
    let found = ui.post("/api/search", &json!({"text": "^aten::(mm|add)", "mode": "regex"}));
    assert_eq!(found["count"], count("regexp_like(name, '^aten::(mm|add)')"));
    let condition = "cat = 'cpu_op' AND dur_ns > 10000";
    let found = ui.post("/api/search", &json!({"text": condition, "mode": "sql", "limit": 3}));
    assert_eq!(found["count"], count(condition));
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(3));
    for (text, mode) in [("(", "regex"), ("no_column = 1", "sql"), ("1) OR (1", "sql")] {
        let reply = ui.ask("POST", "/api/search", &json!({"text": text, "mode": mode}));
        assert!(reply.status == 400 || mode == "sql", "{text}: {}", reply.status);
    }
}

#[test]
fn odd_traces_have_a_timeline() {
    let one = TestStore::of_text(
        r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":2}]}"#,
    )
    .0;
    let ui = pages(&one);
    let tracks = ui.get("/api/tracks");
    assert_eq!((tracks["end"].as_i64(), keys(&tracks).len()), (Some(2_000), 1));
    let none = TestStore::of_text(r#"{"traceEvents":[]}"#).0;
    let ui = pages(&none);
    assert_eq!(keys(&ui.get("/api/tracks")).len(), 0);
    let events: Vec<String> = (0..1_000)
        .map(|n| format!(r#"{{"ph":"X","name":"n{n}","pid":{n},"tid":1,"ts":7,"dur":0}}"#))
        .collect();
    let same = TestStore::of_text(format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))).0;
    let ui = pages(&same);
    let tracks = ui.get("/api/tracks");
    assert_eq!((tracks["end"].as_i64(), keys(&tracks).len()), (Some(0), 1_000));
    let far = r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},
        {"ph":"X","name":"b","pid":1,"tid":1,"ts":8640000000000,"dur":1}]}"#;
    let far = TestStore::of_text(far).0;
    let ui = pages(&far);
    let tracks = ui.get("/api/tracks");
    assert_eq!(tracks["end"].as_i64(), Some(8_640_000_000_001_000));
    let windows = json!({"tracks": ["0:0"], "start": 0, "end": 1e17, "step": 1});
    assert_eq!(ui.ask("POST", "/api/slices", &windows).status, 400);
}

//! Times that count from the start of the traces.

use serde_json::Value;
use tracesql::engine::EngineOptions;
use tracesql::export::ChromeRequest;

use super::{elements, export_with};
use crate::support::{TestStore, fixture};

/// Unix times in microseconds as doubles lose nanoseconds; times since the start do not.
#[test]
fn doubles_hold_all_nanoseconds() {
    let event = |ts: &str, dur: &str| {
        format!(r#"{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let list = [event("1712195495997093.251", "10.007"), event("1712195495997095.262", "1.003")];
    let text = format!(r#"{{"baseTimeNanoseconds":5,"traceEvents":[{}]}}"#, list.join(","));
    let (store, _) = TestStore::of_text(text);
    let path = store.folder.path().join("moved.json");
    let from_start = |request| ChromeRequest { from_start: true, ..request };
    export_with(&store, &path, &EngineOptions::default(), from_start);
    let times = elements(&path).into_iter().map(|e| e["ts"].as_f64().expect("a time") * 1e3);
    let times: Vec<f64> = times.collect();
    let want = [0.0, 2011.0];
    assert!(times.iter().zip(want).all(|(ns, want)| (ns - want).abs() < 1e-3), "{times:?}");
    let text = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(text.matches("baseTimeNanoseconds").count(), 1);
    let (moved, _) = TestStore::with(&path);
    let absolute = "SELECT t.base_time_ns + e.ts_ns, e.dur_ns, e.name FROM events e \
        JOIN traces t ON t.trace_id = e.trace_id ORDER BY 1";
    assert_eq!(moved.lines(absolute), store.lines(absolute));
}

/// Several traces keep their distances.
#[test]
fn ranks_keep_their_distances() {
    let store = TestStore::new();
    for name in ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"] {
        store.ingest(&fixture(name)).expect("it is read");
    }
    let times = |from_start: bool| {
        let path = store.folder.path().join(format!("{from_start}.json"));
        let change = |request| ChromeRequest { from_start, ..request };
        export_with(&store, &path, &EngineOptions::default(), change);
        let of = |e: &Value| e["ts"].as_number().map(|n| n.as_f64().expect("a time"));
        elements(&path).iter().filter(|e| e["ph"] != "M").filter_map(of).collect::<Vec<_>>()
    };
    let (plain, moved) = (times(false), times(true));
    assert_eq!(plain.len(), moved.len());
    let earliest = plain.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(moved.iter().copied().fold(f64::INFINITY, f64::min), 0.0);
    for (plain, moved) in plain.iter().zip(&moved) {
        assert!((plain - earliest - moved).abs() < 1.0, "{plain} {moved}");
    }
}

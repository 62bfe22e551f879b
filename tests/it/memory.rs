//! Memory and call graphs over the whole corpus, and the figures of MLLM's sample trace.

use std::path::{Path, PathBuf};

use crate::support::{TestStore, elements, needs};

/// The JSON files below a folder.
fn traces(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            traces(&path, out);
        } else if path.to_string_lossy().ends_with(".json")
            || path.to_string_lossy().ends_with(".json.gz")
        {
            out.push(path);
        }
    }
}

/// A store with every trace of the corpus that can be read.
fn corpus_store() -> Option<TestStore> {
    let corpus = needs::corpus()?;
    let mut paths = Vec::new();
    traces(&corpus, &mut paths);
    let store = TestStore::new();
    let read = paths.iter().filter(|p| store.ingest(p).is_ok()).count();
    assert!(read > 100, "only {read} traces were read");
    Some(store)
}

#[test]
fn every_trace_of_the_corpus_adds_up() {
    let Some(store) = corpus_store() else { return };
    // The curve equals the profiler's own total at every record that has one.
    let [records, equal, traces] = store.ints(
        "SELECT count(*), count(*) FILTER (WHERE c.allocated_bytes = m.total_allocated_bytes),
            count(DISTINCT m.trace_id)
         FROM memory m JOIN memory_curve c ON c.trace_id = m.trace_id AND c.event_id = m.event_id
         WHERE m.total_allocated_bytes IS NOT NULL",
    )[..] else {
        panic!("three figures")
    };
    assert_eq!(records, equal);
    assert!(records > 8000 && traces > 10, "{records} records of {traces} traces");
    // Every allocation and every free is in one row of allocations.
    let rest = "SELECT (SELECT count(*) FROM memory WHERE action IN ('alloc', 'free'))
                    - (SELECT count(alloc_event_id) + count(free_event_id) FROM allocations)";
    assert_eq!(store.ints(rest), [0]);
    // The blobs that were alive at the peak add up to the peak.
    let peaks = "SELECT count(*) FROM memory_peak p JOIN (
            SELECT trace_id, device_type, device, sum(bytes) AS bytes FROM peak_composition
                GROUP BY trace_id, device_type, device
        ) c ON c.trace_id = p.trace_id AND c.device_type = p.device_type AND coalesce(c.device,
            -9) = coalesce(p.device, -9)
        WHERE c.bytes <> p.peak_allocated_bytes";
    assert_eq!(store.ints(peaks), [0]);
    // Inference on GPUs frees all its memory: in these four traces every allocation has a matching
    // free.
    let paired = "SELECT t.path LIKE '%Falconsai%', count(*) FILTER (WHERE a.state <> 'freed')
            FROM allocations a JOIN traces t ON t.trace_id = a.trace_id
        WHERE t.path LIKE '%Falconsai%' OR t.path LIKE '%gaunernst%' OR t.path LIKE '%Qwen1.5%'
            GROUP BY 1 ORDER BY 1";
    assert_eq!(store.lines(paired), ["false 0", "true 0"]);
    // The self times of the call graph add up to the times of its roots, and its device time equals
    // that of the trace.
    let graphs = store.ints(
        "SELECT count(*), count(*) FILTER (WHERE own <> roots OR own_device <> roots_device
             OR own_device <> coalesce(device, 0)) FROM (
             SELECT
                 g.trace_id, sum(g.host_self_ns) AS own, sum(CASE
                     WHEN g.depth = 0 THEN g.host_total_ns ELSE 0 END) AS roots,
                 sum(g.device_self_ns) AS own_device, sum(CASE
                     WHEN g.depth = 0 THEN g.device_total_ns ELSE 0 END) AS roots_device,
                 max(k.ns) AS device
             FROM call_graph g
             LEFT JOIN (SELECT trace_id, sum(dur_ns) AS ns FROM kernels
                 WHERE kind IN ('kernel', 'memcpy', 'memset') GROUP BY trace_id) k
                 ON k.trace_id = g.trace_id
             GROUP BY g.trace_id)",
    );
    assert!(graphs[0] > 60, "{} traces have a call graph", graphs[0]);
    assert_eq!(graphs[1], 0, "of {} traces", graphs[0]);
    // No device time is lost in the costs of operators, and each row has either figures or a
    // reason.
    let costs = "SELECT (SELECT sum(device_self_ns)
                        FROM operator_costs) - (SELECT sum(device_self_ns) FROM operator_calls),
                        (SELECT count(*) FROM operator_costs
                            WHERE (read_bytes IS NULL) <> (reason IS NOT NULL))";
    assert_eq!(store.ints(costs), [0, 0]);
}

#[test]
fn the_sample_of_mllm_has_its_known_figures() {
    let Some(corpus) = needs::corpus() else { return };
    let (store, _) = TestStore::with(&corpus.join("public/mllm/tools/mllm-perf-viewer/perf.json"));
    let summary = "SELECT blobs, peak_bytes, memory_duration, lanes, alive_blobs, operations \
        FROM mllm_summary";
    assert_eq!(store.lines(summary), ["13 486572032 305.0 13 0 0"]);
    let curve = store.lines("SELECT time, allocated_bytes FROM mllm_memory_curve ORDER BY ts_ns");
    assert_eq!(curve.len(), 23);
    assert_eq!(curve[12..15], ["298.0 486572032", "319.0 436240384", "321.0 234913792"]);
    assert_eq!(curve[22], "331.0 0");
    assert_eq!(store.lines("SELECT sum(bytes) FROM mllm_peak_blobs"), ["486572032"]);
    assert!(store.issues().is_empty());
}

/// A trace with this number of steps of 1 ms. Each step has an allocation on each device, which
/// determines the growth of the device's total.
fn growing(steps: i64, growth: &[fn(i64) -> i64]) -> TestStore {
    let mut events = Vec::new();
    let mut totals = vec![0; growth.len()];
    for step in 0..steps {
        let start = step * 1000;
        events.push(format!(r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{step}","pid":1,"tid":1,"ts":{start},"dur":1000}}"#));
        for (device, grow) in growth.iter().enumerate() {
            let bytes = grow(step);
            totals[device] += bytes;
            if bytes == 0 {
                continue;
            }
            events.push(format!(
                r#"{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":{}.000,"args":{{"Device Type":1,"Device Id":{device},
                    "Addr":{},"Bytes":{bytes},"Total Allocated":{},"Total Reserved":{}}}}}"#,
                start + 100,
                step * 100 + device as i64 + 1,
                totals[device],
                totals[device]
            ));
        }
    }
    elements(events.join(",\n"))
}

#[test]
fn growth_is_a_leak_above_the_limit_over_enough_steps_on_a_line() {
    let store = growing(
        12,
        &[
            |_| 16 << 20,
            |_| 10_000_001,
            |_| 10_000_000,
            // A single jump: the fitted line would grow by 15.4 MB per step, but it explains only
            // 23 percent.
            |step| if step == 11 { 400_000_000 } else { i64::from(step == 0) },
        ],
    );
    let leaks = "SELECT device, steps, CAST(round(slope_bytes) AS BIGINT), round(r2, 3), verdict \
        FROM memory_leak ORDER BY device";
    assert_eq!(
        store.lines(leaks),
        [
            "0 12 16777216 1.0 leak",
            "1 12 10000001 1.0 leak",
            "2 12 10000000 1.0 stable",
            "3 12 15384615 0.231 stable"
        ]
    );
    let left = "SELECT device, count(*), sum(alive_bytes) FROM allocations_across_steps \
        WHERE device < 2 GROUP BY device ORDER BY device";
    assert_eq!(store.lines(left), ["0 12 201326592", "1 12 120000012"]);
    let few = growing(9, &[|_| 16 << 20]);
    assert_eq!(few.lines(leaks), ["0 9 16777216 1.0 not measurable"]);
}

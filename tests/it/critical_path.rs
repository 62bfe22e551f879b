//! Critical paths without holes: rules on small traces, and the sums on all fixtures.

use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, bottlenecks, elements, fixture, fixtures, needs, rows_of};

/// A complete event; times are microseconds.
fn event(name: &str, cat: &str, track: (i64, i64), times: (i64, i64), args: &str) -> String {
    let ((pid, tid), (start, end)) = (track, times);
    let dur = end - start;
    format!(
        r#"{{"ph":"X","name":"{name}","cat":"{cat}","pid":{pid},"tid":{tid},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
    )
}

fn operator(name: &str, tid: i64, start: i64, end: i64) -> String {
    event(name, "cpu_op", (1, tid), (start, end), "")
}

fn call(name: &str, correlation: i64, start: i64, end: i64) -> String {
    let args = format!(r#""correlation":{correlation}"#);
    event(name, "cuda_runtime", (1, 1), (start, end), &args)
}

fn kernel(name: &str, stream: i64, correlation: i64, start: i64, end: i64) -> String {
    let args = format!(r#""device":0,"stream":{stream},"correlation":{correlation}"#);
    event(name, "kernel", (0, stream), (start, end), &args)
}

/// A row of the device about a wait.
fn wait(name: &str, stream: i64, correlation: i64, at: i64, args: &str) -> String {
    let args = format!(
        r#""device":0,"stream":{stream},"correlation":{correlation},"cuda_sync_kind":"{name}"{args}"#
    );
    event(name, "cuda_sync", (0, stream), (at, at + 1), &args)
}

/// The pieces of a window as `start end kind name`, in microseconds.
fn path(events: &[String], window: i64) -> Vec<String> {
    elements(events.join(",\n")).lines(&format!(
        "SELECT start_ns / 1000, end_ns / 1000, kind, coalesce(name, '-')
         FROM critical_path WHERE window_id = {window} ORDER BY position"
    ))
}

#[test]
fn device_work_waits_for_the_work_before_it_or_for_its_launch() {
    let events = [
        operator("aten::a", 1, 0, 100),
        call("cudaLaunchKernel", 1, 10, 20),
        call("cudaLaunchKernel", 2, 30, 40),
        kernel("k1", 7, 1, 25, 125),
        kernel("k2", 7, 2, 127, 200),
    ];
    assert_eq!(
        path(&events, 0),
        [
            "0 10 operator aten::a",
            "10 25 launch k1",
            "25 125 compute k1",
            "125 127 stream_gap k2",
            "127 200 compute k2",
        ]
    );
}

#[test]
fn a_gap_of_queued_work_without_a_reason_is_unknown() {
    let events = [
        operator("aten::a", 1, 0, 50),
        call("cudaLaunchKernel", 1, 10, 20),
        call("cudaLaunchKernel", 2, 30, 40),
        kernel("k1", 7, 1, 25, 125),
        kernel("k2", 7, 2, 165, 200),
    ];
    let path = path(&events, 0);
    assert_eq!(path[3..], ["125 165 unknown k2", "165 200 compute k2"]);
}

#[test]
fn work_that_is_launched_late_waits_for_the_host() {
    let events = [
        operator("aten::a", 1, 0, 50),
        call("cudaLaunchKernel", 1, 10, 20),
        kernel("k1", 7, 1, 25, 60),
        operator("aten::b", 1, 70, 120),
        call("cudaLaunchKernel", 2, 80, 90),
        kernel("k2", 7, 2, 95, 200),
    ];
    assert_eq!(
        path(&events, 0),
        [
            "0 10 operator aten::a",
            "10 20 runtime_call cudaLaunchKernel",
            "20 50 operator aten::a",
            "50 70 host_gap -",
            "70 80 operator aten::b",
            "80 95 launch k2",
            "95 200 compute k2",
        ]
    );
}

/// Work on stream 20, another on stream 9, and work on stream 7 that waits for the former.
fn two_streams() -> Vec<String> {
    vec![
        operator("aten::a", 1, 0, 30),
        call("cudaLaunchKernel", 3, 5, 6),
        call("cudaLaunchKernel", 1, 10, 12),
        call("cudaEventRecord", 5, 14, 15),
        call("cudaStreamWaitEvent", 6, 16, 17),
        call("cudaLaunchKernel", 2, 20, 22),
        kernel("other", 9, 3, 7, 82),
        kernel("source", 20, 1, 15, 80),
        kernel("target", 7, 2, 83, 100),
    ]
}

#[test]
fn a_stream_waits_for_recorded_events() {
    let mut events = two_streams();
    events.push(wait(
        "Stream Wait Event",
        7,
        6,
        16,
        r#","wait_on_stream":20,"wait_on_cuda_event_id":1,"wait_on_cuda_event_record_corr_id":5"#,
    ));
    assert_eq!(
        path(&events, 0),
        [
            "0 5 operator aten::a",
            "5 6 runtime_call cudaLaunchKernel",
            "6 10 operator aten::a",
            "10 15 launch source",
            "15 80 compute source",
            "80 83 event_delay target",
            "83 100 compute target",
        ]
    );
}

#[test]
fn an_event_follows_all_that_its_stream_had_to_wait_for() {
    // Stream 7 waits for stream 20, on which nothing ran since it was told to wait for stream 9.
    let mut events = two_streams();
    events.retain(|e| !e.contains("source"));
    let event = |stream: i64, key: i64| {
        format!(
            r#","wait_on_stream":{stream},"wait_on_cuda_event_id":{key},"wait_on_cuda_event_record_corr_id":{key}"#
        )
    };
    events.extend([
        call("cudaEventRecord", 7, 7, 8),
        call("cudaStreamWaitEvent", 8, 9, 10),
        wait("Stream Wait Event", 20, 8, 9, &event(9, 7)),
        wait("Stream Wait Event", 7, 6, 16, &event(20, 5)),
    ]);
    let path = path(&events, 0);
    assert_eq!(path[path.len() - 2..], ["82 83 event_delay target", "83 100 compute target"]);
    assert!(path.contains(&"7 82 compute other".to_owned()), "{path:?}");
}

#[test]
fn waits_between_streams_are_inferred_where_the_trace_records_none() {
    let store = elements(two_streams().join(",\n"));
    assert_eq!(
        store.lines(
            "SELECT kind, name, cause_name, is_inferred FROM critical_path \
            WHERE kind = 'event_delay'"
        ),
        ["event_delay target other true"]
    );
}

#[test]
fn a_synchronising_call_leads_to_the_work_that_it_waited_for() {
    let events = [
        operator("aten::a", 1, 0, 15),
        call("cudaLaunchKernel", 1, 10, 12),
        call("cudaDeviceSynchronize", 2, 20, 85),
        operator("aten::b", 1, 90, 100),
        kernel("k", 7, 1, 15, 80),
        wait("Context Sync", -1, 2, 20, ""),
    ];
    assert_eq!(
        path(&events, 0),
        [
            "0 10 operator aten::a",
            "10 15 launch k",
            "15 80 compute k",
            "80 85 synchronisation cudaDeviceSynchronize",
            "85 90 host_gap -",
            "90 100 operator aten::b",
        ]
    );
}

/// Work that another thread launched ends just after the call returned, which cannot have waited for
/// it.
#[test]
fn a_call_did_not_wait_for_work_that_began_after_it() {
    let launch = r#""correlation":3"#;
    let events = [
        call("cudaLaunchKernel", 1, 0, 5),
        call("cudaStreamSynchronize", 2, 6, 100),
        event("cudaLaunchKernel", "cuda_runtime", (1, 2), (90, 95), launch),
        kernel("k1", 7, 1, 10, 95),
        kernel("k2", 8, 3, 101, 103),
        operator("aten::b", 1, 110, 200),
    ];
    let path = path(&events, 0);
    assert_eq!(
        path[..3],
        ["0 10 launch k1", "10 95 compute k1", "95 100 synchronisation cudaStreamSynchronize"]
    );
}

/// The kernel before the last one was still running when the one between them had ended.
#[test]
fn work_waits_for_the_last_end_where_kernels_of_a_stream_overlap() {
    let events = [
        call("cudaLaunchKernel", 1, 0, 3),
        call("cudaLaunchKernel", 2, 4, 7),
        call("cudaLaunchKernel", 3, 8, 11),
        kernel("k1", 7, 1, 5, 100),
        kernel("k2", 7, 2, 60, 80),
        kernel("k3", 7, 3, 101, 150),
    ];
    let found = path(&events, 0);
    let tail = ["5 100 compute k1", "100 101 stream_gap k3", "101 150 compute k3"];
    assert_eq!(found[found.len() - 3..], tail);
}

#[test]
fn a_call_that_did_not_have_to_wait_is_time_of_the_host() {
    let events = [
        operator("aten::a", 1, 0, 15),
        call("cudaLaunchKernel", 1, 10, 12),
        kernel("k", 7, 1, 15, 40),
        call("cudaDeviceSynchronize", 2, 50, 60),
        wait("Context Sync", -1, 2, 50, ""),
    ];
    let path = path(&events, 0);
    assert_eq!(path.last().map(String::as_str), Some("50 60 runtime_call cudaDeviceSynchronize"));
    assert!(!path.iter().any(|piece| piece.contains("compute")), "{path:?}");
}

#[test]
fn the_backward_thread_takes_over_while_the_other_one_waits() {
    let backward = "autograd::engine::evaluate_function: AddBackward0";
    let events = [
        event("ProfilerStep#1", "user_annotation", (1, 1), (0, 160), ""),
        operator("aten::forward", 1, 0, 50),
        operator(backward, 2, 60, 100),
        operator("aten::step", 1, 110, 150),
    ];
    assert_eq!(
        path(&events, 1),
        [
            "0 50 operator aten::forward".to_owned(),
            "50 60 handoff -".to_owned(),
            format!("60 100 operator {backward}"),
            "100 110 handoff ProfilerStep#1".to_owned(),
            "110 150 operator aten::step".to_owned(),
            "150 160 host_gap ProfilerStep#1".to_owned(),
        ]
    );
}

#[test]
fn a_step_lasts_until_its_last_device_work() {
    let events = [
        event("ProfilerStep#1", "user_annotation", (1, 1), (0, 50), ""),
        event("ProfilerStep#2", "user_annotation", (1, 1), (50, 90), ""),
        call("cudaLaunchKernel", 1, 10, 20),
        kernel("k", 7, 1, 25, 70),
    ];
    let store = elements(events.join(",\n"));
    assert_eq!(
        store.lines(
            "SELECT window_id, step, start_ns / 1000, end_ns / 1000, compute_ns / 1000 \
            FROM critical_path_windows ORDER BY window_id"
        ),
        ["0 NULL 0 90 0", "1 1 0 70 45", "2 2 50 90 0"]
    );
}

#[test]
fn negative_and_missing_durations_take_no_part() {
    let events = [
        operator("aten::a", 1, 0, 100),
        operator("negative", 1, 20, 10),
        event("ProfilerStep#1", "user_annotation", (1, 1), (0, 0), ""),
    ];
    assert_eq!(path(&events, 0), ["0 100 operator aten::a"]);
}

/// What `what_if` says about a kernel in the whole trace: recorded and forecast, in microseconds.
fn forecast(events: &[String], kernel: &str) -> Vec<String> {
    elements(events.join(",\n")).lines(&format!(
        "SELECT recorded_ns / 1000, forecast_ns / 1000, status FROM what_if
         WHERE target_kind = 'kernel' AND name = '{kernel}' AND window_id = 0"
    ))
}

#[test]
fn work_after_faster_work_moves_up() {
    let events = [
        operator("aten::a", 1, 0, 100),
        call("cudaLaunchKernel", 1, 10, 20),
        call("cudaLaunchKernel", 2, 30, 40),
        kernel("k1", 7, 1, 25, 125),
        kernel("k2", 7, 2, 127, 200),
    ];
    assert_eq!(forecast(&events, "k1"), ["200 150 forecast"]);
}

#[test]
fn faster_work_saves_nothing_where_the_host_is_late() {
    let events = [
        operator("aten::a", 1, 0, 50),
        call("cudaLaunchKernel", 1, 10, 20),
        kernel("k1", 7, 1, 25, 69),
        call("cudaLaunchKernel", 2, 60, 62),
        kernel("k2", 7, 2, 71, 100),
    ];
    // Half of k1 ends at 47; k2 is launched at 60 and starts after the usual 15 µs at most.
    assert_eq!(forecast(&events, "k1"), ["100 100 forecast"]);
}

#[test]
fn a_waiting_call_returns_with_faster_work() {
    let events = [
        operator("aten::a", 1, 0, 15),
        call("cudaLaunchKernel", 1, 10, 12),
        call("cudaDeviceSynchronize", 2, 20, 85),
        operator("aten::b", 1, 90, 100),
        kernel("k", 7, 1, 16, 80),
        wait("Context Sync", -1, 2, 20, ""),
    ];
    assert_eq!(forecast(&events, "k"), ["100 68 forecast"]);
}

#[test]
fn recorded_times_follow_from_the_waits_in_all_fixtures() {
    let store = fixtures();
    // Graphs are launched once a step, so traces without steps have no forecast of them.
    let failed = "SELECT DISTINCT trace_id FROM what_if
                  WHERE status <> 'forecast'
                      AND NOT (target_kind = 'cuda_graphs' AND status = 'no steps')";
    assert_eq!(store.rows(failed), Vec::<Vec<String>>::new());
    assert!(store.ints("SELECT count(*) FROM what_if")[0] > 50);
}

/// Windows whose pieces do not cover them without gaps and overlaps.
const HOLES: &str = "WITH pieces AS (
        SELECT
            trace_id, window_id, start_ns, end_ns,
            lag(end_ns) OVER (PARTITION BY trace_id, window_id ORDER BY position) AS before_ns
        FROM critical_path
    ),
    covered AS (
        SELECT
            trace_id, window_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns,
            sum(end_ns - start_ns) AS path_ns,
            bool_and(before_ns IS NULL OR before_ns = start_ns) AS is_whole
        FROM pieces
        GROUP BY trace_id, window_id
    )
    SELECT w.trace_id, w.window_id, w.to_ns - w.from_ns, c.path_ns
    FROM _path_windows w
    LEFT JOIN covered c ON c.trace_id = w.trace_id AND c.window_id = w.window_id
    WHERE NOT coalesce(
        c.is_whole AND c.start_ns = w.from_ns AND c.end_ns = w.to_ns
            AND c.path_ns = w.to_ns - w.from_ns,
        false
    )";

#[test]
fn paths_of_the_fixtures_have_no_holes() {
    for store in [fixtures(), bottlenecks()] {
        let engine = Engine::open(&store.store, None, &EngineOptions::default()).expect("a store");
        assert_eq!(rows_of(&engine, HOLES).expect("rows"), Vec::<Vec<String>>::new());
        let windows = rows_of(&engine, "SELECT count(*) FROM _path_windows").expect("rows");
        assert!(windows[0][0].parse::<i64>().expect("a number") > 5);
    }
    let (store, _) = TestStore::with(&fixture("moe/moe_training.json.gz"));
    assert_eq!(store.rows(HOLES), Vec::<Vec<String>>::new());
}

#[test]
fn paths_of_public_traces_have_no_holes() {
    let Some(corpus) = needs::corpus() else { return };
    let mut folders = vec![corpus.join("public")];
    let (mut windows, mut traces) = (0, 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").flatten().map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let store = TestStore::new();
            if store.ingest(&path).is_err() {
                continue;
            }
            assert_eq!(store.rows(HOLES), Vec::<Vec<String>>::new(), "{}", path.display());
            windows += store.ints("SELECT count(*) FROM _path_windows")[0];
            traces += 1;
        }
    }
    assert!(traces > 30 && windows > 100, "{traces} traces, {windows} windows");
}

#[test]
fn slack_is_the_time_by_which_work_may_end_later() {
    let events = [
        operator("aten::a", 1, 0, 60),
        call("cudaLaunchKernel", 1, 10, 20),
        call("cudaLaunchKernel", 2, 30, 40),
        call("cudaLaunchKernel", 3, 45, 55),
        call("cudaDeviceSynchronize", 4, 70, 205),
        kernel("k1", 7, 1, 25, 125),
        kernel("k2", 7, 2, 127, 200),
        kernel("k3", 8, 3, 60, 100),
        wait("Context Sync", -1, 4, 70, ""),
    ];
    let store = elements(events.join(",\n"));
    assert_eq!(
        store.lines("SELECT name, slack_ns / 1000 FROM slack WHERE kind = 'kernel' ORDER BY name"),
        ["k1 0", "k2 0", "k3 105"]
    );
    // The thread may be late by as long as it waits for the device; k2 waits for k1 for 82 µs more
    // than for its launch.
    let host = "SELECT name, slack_ns / 1000 FROM slack WHERE name LIKE 'cuda%' ORDER BY event_id";
    let found = store.lines(host);
    assert_eq!(found[0], "cudaLaunchKernel 82");
    assert_eq!(found[2..], ["cudaLaunchKernel 130", "cudaDeviceSynchronize 0"]);
}

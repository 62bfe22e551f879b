//! The start, end and duration of a trace, which are those of its work.

use crate::support::{TestStore, elements};

/// Two operators, 13 s apart on the clock of a host that has been up for 41 days.
const UPTIME: &str = r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":3605054728338.344,"dur":2.5},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":3605068349990.000,"dur":6.792}"#;

/// The times in the table `traces`.
fn span(store: &TestStore) -> String {
    store.lines("SELECT start_ns, end_ns, duration_ns FROM traces").remove(0)
}

const OF_UPTIME: &str = "3605054728338344 3605068349996792 13621658448";

#[test]
fn metadata_does_not_count_for_start_and_end_of_a_trace() {
    for ts in ["0", "0.0", "1", "-5", "9000000000000000"] {
        let store = elements(format!(
            r#"{{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":{ts},"args":{{"name":"python"}}}}, {UPTIME}"#
        ));
        assert_eq!(span(&store), OF_UPTIME, "{ts}");
        assert!(store.issues().is_empty(), "{ts}");
    }
}

#[test]
fn flows_and_clock_marks_are_not_work() {
    let store = elements(format!(
        r#"{{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":5}}, {{"ph":"f","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":9000000000000}},
           {{"ph":"c","name":"clock_sync","pid":1,"tid":1,"ts":7,"args":{{"sync_id":"a","issue_ts":6}}}}, {UPTIME}"#
    ));
    assert_eq!(span(&store), OF_UPTIME);
}

#[test]
fn instants_counters_begins_and_ends_are_work() {
    for (first, last) in [
        (r#""ph":"i","name":"x""#, r#""ph":"i","name":"x""#),
        (r#""ph":"C","name":"x","args":{"v":1}"#, r#""ph":"C","name":"x","args":{"v":1}"#),
        (r#""ph":"B","name":"x""#, r#""ph":"E","name":"x""#),
        (r#""ph":"b","cat":"c","id":1,"name":"x""#, r#""ph":"e","cat":"c","id":1,"name":"x""#),
    ] {
        let store = elements(format!(
            r#"{{{first},"pid":1,"tid":1,"ts":40}}, {{"ph":"X","name":"y","pid":1,"tid":2,"ts":50,"dur":1}}, {{{last},"pid":1,"tid":1,"ts":90}}"#
        ));
        assert_eq!(span(&store), "40000 90000 50000", "{first}");
    }
}

#[test]
fn a_trace_may_begin_at_0() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5}, {"ph":"i","name":"b","pid":1,"tid":1,"ts":0}, {"ph":"X","name":"c","pid":1,"tid":1,"ts":86400000000,"dur":1}"#,
    );
    assert_eq!(span(&store), "0 86400000001000 86400000001000");
    assert!(store.issues().is_empty());
    assert_eq!(
        span(&elements(r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5}"#)),
        "0 5000 5000"
    );
}

#[test]
fn work_at_0_more_than_a_day_from_all_other_work_is_counted_apart() {
    let store = elements(format!(
        r#"{{"ph":"i","name":"late","pid":1,"tid":1,"ts":3605068349996}}, {{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":4,"args":{{"device":0}}}},
           {{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":0,"dur":9000000000000}}, {UPTIME}"#
    ));
    assert_eq!(span(&store), OF_UPTIME);
    assert_eq!(
        store.lines("SELECT code, severity, count, skipped_count, first_event_id FROM ingest_issues WHERE code = 'time_not_set'"),
        ["time_not_set warning 2 0 1"]
    );
    assert_eq!(
        store.lines("SELECT event_id, ts_ns FROM events WHERE ts_ns = 0 ORDER BY 1"),
        ["1 0", "2 0"],
        "their rows stay as they were written"
    );
    assert_eq!(
        store.lines("SELECT ts_ns, dur_ns, end_ns FROM kernels"),
        ["NULL 4000 NULL"],
        "such work has a length but no place in time"
    );
}

#[test]
fn a_clock_that_begins_at_base_time_moves_the_0() {
    let text = |base: &str| {
        format!(
            r#"{{"traceEvents":[{{"ph":"X","name":"unset","pid":1,"tid":1,"ts":-1767189312000000.000,"dur":3}}, {{"ph":"X","name":"a","pid":1,"tid":1,"ts":10,"dur":3}}],
               "baseTimeNanoseconds":{base}}}"#
        )
    };
    let (store, _) = TestStore::of_text(text("1767189312000000000"));
    assert_eq!(span(&store), "10000 13000 3000");
    assert_eq!(store.issues(), ["time_not_set 1"]);
    let (store, _) = TestStore::of_text(text("1767189312000000001"));
    assert_eq!(
        span(&store),
        "-1767189312000000000 13000 1767189312000013000",
        "another time is believed"
    );
}

#[test]
fn a_trace_without_work_has_no_times() {
    let store = elements(
        r#"{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":5,"args":{"name":"a"}}, {"ph":"s","cat":"f","name":"f","id":1,"pid":1,"tid":1,"ts":5}"#,
    );
    assert_eq!(span(&store), "NULL NULL NULL");
}

#[test]
fn a_duration_beyond_64_bits_is_not_known() {
    let store = elements(
        r#"{"ph":"i","name":"a","pid":1,"tid":1,"ts":-9223372036854775.807}, {"ph":"i","name":"b","pid":1,"tid":1,"ts":9223372036854775.807}"#,
    );
    assert_eq!(span(&store), "-9223372036854775807 9223372036854775807 NULL");
}

#[test]
fn views_of_a_trace_with_unset_times_stay_inside_of_it() {
    let work = |ts: &str| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{ts},"dur":5}},
               {{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{ts},"dur":4,"args":{{"device":0,"stream":7}}}}"#
        )
    };
    let store = elements(format!(
        "{}, {}, {}",
        work("0"),
        work("3605054728338.344"),
        work("3605054728358.344")
    ));
    assert_eq!(store.lines("SELECT duration_ns, profiled_ns FROM overview"), ["25000 25000"]);
    assert_eq!(
        store.lines("SELECT total_time_ns, busy_time_ns, idle_time_ns FROM gpu_timeline"),
        ["24000 8000 16000"]
    );
    assert_eq!(store.lines("SELECT idle_ns FROM gpu_idle_gaps"), ["16000"]);
    assert_eq!(store.lines("SELECT total_ns FROM step_time"), ["25000"]);
    assert_eq!(store.lines("SELECT calls, total_ns FROM kernels_by_name"), ["3 12000"]);
    assert_eq!(store.lines("SELECT exposed_communication_pct FROM rank_communication"), ["0.0"]);
    assert_eq!(
        store.lines("SELECT count(*) FROM gpu_timeline_over_time g JOIN traces t USING (trace_id) WHERE g.start_ns < t.start_ns OR g.start_ns + g.length_ns > t.end_ns"),
        ["0"]
    );
}

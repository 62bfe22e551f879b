//! MLLM's perf.json: memory blobs and operator blobs.

use crate::support::TestStore;

fn read(text: &str) -> TestStore {
    TestStore::of_text(text).0
}

#[test]
fn blobs_are_events_allocations_and_frees() {
    let store = read(
        r#"{"init_time":100,"memory_blobs":[{"device_type":"CPU","start_time":110,"end_time":150,"memory_usage":64,"uuid":7}],
            "op_blobs":[{"device_type":"QNN","start_time":120,"end_time":130,"op_name":"matmul"}]}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT event_id, ph, cat, name, ts_ns, dur_ns, end_ns FROM events ORDER BY event_id"
        ),
        ["0 X memory_blob Memory 7 10000 40000 50000", "1 X op_blob matmul 20000 10000 30000"]
    );
    assert_eq!(
        store.lines(
            "SELECT event_id, ts_ns, action, addr, bytes, device_type FROM memory ORDER BY ts_ns"
        ),
        ["0 10000 alloc 7 64 CPU", "0 50000 free 7 -64 CPU"]
    );
    assert_eq!(
        store.lines(
            "SELECT format, framework, base_time_ns, start_ns, end_ns, element_count FROM traces"
        ),
        ["mllm_perf mllm 100000 10000 50000 2"]
    );
    assert_eq!(
        store.lines("SELECT t.kind, t.thread_name, e.name FROM tracks t JOIN events e USING (track_id) ORDER BY 2"),
        ["span CPU memory Memory 7", "span QNN operators matmul"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn a_blob_that_was_never_freed_lives_to_the_end() {
    let store = read(
        r#"{"init_time":100,"memory_blobs":[{"device_type":"CPU","start_time":110,"end_time":0,"memory_usage":64,"uuid":7},
            {"device_type":"CPU","start_time":120,"end_time":190,"memory_usage":1,"uuid":8}]}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns, end_ns FROM events ORDER BY event_id"),
        ["Memory 7 80000 90000", "Memory 8 70000 90000"]
    );
    assert_eq!(
        store.lines("SELECT action, addr FROM memory ORDER BY ts_ns, addr"),
        ["alloc 7", "alloc 8", "free 8"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn at_one_instant_frees_come_before_allocations() {
    let store = read(
        r#"{"init_time":1,"memory_blobs":[{"device_type":"CPU","start_time":50,"end_time":60,"memory_usage":2,"uuid":2},
            {"device_type":"CPU","start_time":10,"end_time":50,"memory_usage":1,"uuid":1}]}"#,
    );
    assert_eq!(
        store.lines("SELECT action, addr FROM memory"),
        ["alloc 1", "free 1", "alloc 2", "free 2"]
    );
}

#[test]
fn without_init_time_the_earliest_start_is_zero() {
    let store = read(
        r#"{"op_blobs":[{"device_type":"CPU","start_time":50,"end_time":60,"op_name":"b"},{"device_type":"CPU","start_time":40,"end_time":45,"op_name":"a"}]}"#,
    );
    assert_eq!(store.lines("SELECT name, ts_ns FROM events ORDER BY 1"), ["a 0", "b 10000"]);
    assert_eq!(store.issues(), ["blob_init_time 1"]);
}

#[test]
fn times_before_init_time_are_negative() {
    let store = read(
        r#"{"init_time":100,"op_blobs":[{"device_type":"CPU","start_time":90,"end_time":120,"op_name":"a"}]}"#,
    );
    assert_eq!(store.lines("SELECT ts_ns, dur_ns FROM events"), ["-10000 30000"]);
    assert_eq!(store.issues(), ["blob_init_time 1"]);
}

#[test]
fn blobs_without_a_start_are_skipped_and_counted() {
    let store = read(
        r#"{"init_time":1,"op_blobs":[{"device_type":"CPU","end_time":60,"op_name":"a"}, 7, {"device_type":"CPU","start_time":0,"end_time":60,"op_name":"b"},
            {"device_type":"CPU","start_time":10,"end_time":60,"op_name":"c"}]}"#,
    );
    assert_eq!(store.lines("SELECT event_id, name FROM events"), ["3 c"]);
    assert_eq!(store.issues(), ["blob_no_start 2", "not_an_object 1"]);
    assert_eq!(
        store.lines("SELECT element_count, event_count, skipped_count FROM traces"),
        ["4 1 3"]
    );
}

#[test]
fn an_end_before_the_start_leaves_no_duration() {
    let store = read(
        r#"{"init_time":1,"memory_blobs":[{"device_type":"CPU","start_time":50,"end_time":40,"memory_usage":2,"uuid":2}]}"#,
    );
    assert_eq!(store.lines("SELECT dur_ns, end_ns FROM events"), ["NULL NULL"]);
    assert_eq!(
        store.lines("SELECT ts_ns, action, bytes FROM memory ORDER BY action"),
        ["49000 alloc 2", "49000 free -2"]
    );
    assert_eq!(store.issues(), ["blob_end_before_start 1"]);
}

#[test]
fn a_blob_of_no_length_is_allocated_before_it_is_freed() {
    let store = read(
        r#"{"init_time":1,"memory_blobs":[{"device_type":"CPU","start_time":50,"end_time":50,"memory_usage":2,"uuid":2}]}"#,
    );
    assert_eq!(store.lines("SELECT action FROM memory"), ["alloc", "free"]);
}

#[test]
fn the_same_uuid_twice_is_counted() {
    let blob = r#"{"device_type":"CPU","start_time":50,"end_time":60,"memory_usage":2,"uuid":2}"#;
    let store = read(&format!(r#"{{"init_time":1,"memory_blobs":[{blob},{blob}]}}"#));
    assert_eq!(store.ints("SELECT count(*) FROM memory"), [4]);
    assert_eq!(store.issues(), ["blob_repeated_uuid 1"]);
}

#[test]
fn blobs_are_kept_whole_in_args() {
    let store = read(
        r#"{"init_time":1,"op_blobs":[{"device_type":"CPU", "start_time":5,"end_time":6,"op_name":"a","new":[1, 2]}],"version":"x"}"#,
    );
    assert_eq!(
        store.value("SELECT args FROM events"),
        r#"{"device_type":"CPU","start_time":5,"end_time":6,"op_name":"a","new":[1,2]}"#
    );
    assert_eq!(store.value("SELECT metadata FROM traces"), r#"{"init_time":1,"version":"x"}"#);
}

#[test]
fn blobs_in_a_file_with_trace_events_are_metadata() {
    let store =
        read(r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}],"memory_blobs":[{"uuid":1}]}"#);
    assert_eq!(
        store.lines("SELECT format, metadata FROM traces"),
        [r#"chrome {"memory_blobs":[{"uuid":1}]}"#]
    );
    assert_eq!(store.issues(), ["mixed_formats 1"]);
}

#[test]
fn a_file_cut_short_keeps_its_whole_blobs() {
    let store = read(
        r#"{"init_time":1,"memory_blobs":[{"device_type":"CPU","start_time":50,"end_time":60,"memory_usage":2,"uuid":2}, {"device_type":"C"#,
    );
    assert_eq!(store.ints("SELECT count(*) FROM events"), [1]);
    assert_eq!(store.issues(), ["truncated_input 1"]);
}

#[test]
fn sizes_that_cannot_be_are_null_and_left_out_of_the_curve() {
    let blob = |uuid: i64, size: &str| {
        format!(
            r#"{{"device_type":"CPU","start_time":{},"end_time":90,"memory_usage":{size},"uuid":{uuid}}}"#,
            10 + uuid
        )
    };
    let sizes = [
        "-64",
        "9223372036854775807",
        "9223372036854775807",
        "99999999999999999999",
        "6.5",
        "\"12\"",
    ];
    let blobs: Vec<String> =
        sizes.iter().enumerate().map(|(i, size)| blob(i as i64, size)).collect();
    let store = read(&format!(r#"{{"init_time":1,"memory_blobs":[{}]}}"#, blobs.join(",")));
    assert_eq!(
        store.lines("SELECT addr, bytes FROM memory WHERE action = 'alloc' ORDER BY addr"),
        ["0 NULL", "1 9223372036854775807", "2 NULL", "3 NULL", "4 NULL", "5 NULL"]
    );
    assert_eq!(
        store.lines("SELECT code, count, first_event_id FROM ingest_issues"),
        ["blob_value 6 0"]
    );
    assert_eq!(
        store.lines("SELECT ts_ns, allocated_bytes FROM mllm_memory_curve ORDER BY ts_ns"),
        ["10000 9223372036854775807", "89000 0"]
    );
    assert_eq!(
        store.lines("SELECT blobs, peak_bytes FROM mllm_summary"),
        ["6 9223372036854775807"]
    );
}

#[test]
fn times_beyond_the_range_are_counted_and_no_sum_overflows() {
    let store = read(
        r#"{"init_time":100,"memory_blobs":[{"device_type":"CPU","start_time":9223372036854775807,"end_time":1,"memory_usage":1,"uuid":1},
            {"device_type":"CPU","start_time":-9223372036854775,"end_time":5,"memory_usage":1,"uuid":2},
            {"device_type":"CPU","start_time":110,"end_time":9223372036854775,"memory_usage":1,"uuid":3},
            {"device_type":"CPU","start_time":110,"end_time":120,"memory_usage":1,"uuid":4}]}"#,
    );
    assert_eq!(
        store.lines("SELECT event_id, ts_ns, dur_ns FROM events ORDER BY event_id"),
        ["2 10000 NULL", "3 10000 10000"]
    );
    assert_eq!(store.issues(), ["end_overflow 1", "timestamp_out_of_range 2"]);
    assert_eq!(
        store.lines("SELECT element_count, event_count, skipped_count FROM traces"),
        ["4 2 2"]
    );
}

#[test]
fn lists_that_are_null_or_missing_hold_no_blobs() {
    let store = read(r#"{"init_time":1,"memory_blobs":null,"op_blobs":[]}"#);
    assert_eq!(store.issues(), ["empty_trace 1"]);
    assert_eq!(
        store.lines("SELECT blobs, operations, peak_bytes, lanes FROM mllm_summary"),
        ["0 0 0 0"]
    );
}

#[test]
fn blobs_that_are_not_a_list_are_refused_with_their_place() {
    let folder = TestStore::new();
    let path = folder.folder.path().join("perf.json");
    std::fs::write(&path, r#"{"init_time":100,"memory_blobs":{"a":1}}"#).expect("write a trace");
    let error = folder.ingest(&path).expect_err("it is refused").to_string();
    assert!(error.contains("`memory_blobs` is not a list") && error.contains("byte 32"), "{error}");
}

#[test]
fn comments_are_read_as_blanks_and_counted() {
    let store = read(
        "// of today\n{\"init_time\":100, /* us ] } */ \"memory_blobs\":[ // the blobs\n  {\"device_type\":\"CPU // 0\", // where\n   \
         \"start_time\":110,\"end_time\":150,\"memory_usage\":64 /* bytes */,\"uuid\":7}]}",
    );
    assert_eq!(store.lines("SELECT name, ts_ns, dur_ns FROM events"), ["Memory 7 10000 40000"]);
    assert_eq!(
        store.lines("SELECT device_type, bytes FROM memory WHERE action = 'alloc'"),
        ["CPU // 0 64"]
    );
    assert_eq!(store.issues(), ["comments 5"]);
    assert_eq!(store.ints("SELECT first_byte_offset FROM ingest_issues"), [0]);
}

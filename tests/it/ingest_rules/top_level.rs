//! The keys next to the event list: devices, job, clock, and everything else as metadata.

use crate::support::TestStore;

const EVENT: &str = r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}"#;

fn read(text: &str) -> TestStore {
    TestStore::of_text(text.replace("EVENT", EVENT)).0
}

#[test]
fn devices_come_from_device_properties() {
    let store = read(
        r#"{"deviceProperties":[{"id":0,"name":"NVIDIA A100","totalGlobalMem":85899345920,"computeMajor":8,"computeMinor":0,"maxThreadsPerBlock":1024,
            "maxThreadsPerMultiprocessor":2048,"regsPerBlock":65536,"warpSize":32,"sharedMemPerBlock":49152,"numSms":108,"regsPerMultiprocessor":65537,
            "sharedMemPerMultiprocessor":167936,"sharedMemPerBlockOptin":166912}, {"id":1,"name":"second"}], "traceEvents":[EVENT]}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT device, name, total_memory_bytes, compute_major, compute_minor, sm_count, max_threads_per_block, max_threads_per_sm, \
             registers_per_block, registers_per_sm, shared_memory_per_block_bytes, shared_memory_per_sm_bytes, warp_size FROM devices"
        ),
        [
            "0 NVIDIA A100 85899345920 8 0 108 1024 2048 65536 65537 49152 167936 32",
            "1 second NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL"
        ]
    );
    assert_eq!(
        store.value("SELECT metadata FROM devices WHERE device = 1"),
        r#"{"id":1,"name":"second"}"#
    );
    assert!(
        store
            .value("SELECT metadata FROM devices WHERE device = 0")
            .contains(r#""sharedMemPerBlockOptin":166912"#)
    );
}

#[test]
fn the_job_comes_from_distributed_info_before_or_after_the_events() {
    let info = r#""distributedInfo":{"backend":"nccl","rank":3,"world_size":8,"pg_count":2}"#;
    for text in [
        format!(r#"{{{info},"traceEvents":[EVENT]}}"#),
        format!(r#"{{"traceEvents":[EVENT],{info}}}"#),
    ] {
        assert_eq!(read(&text).lines("SELECT rank, world_size, backend FROM traces"), ["3 8 nccl"]);
    }
}

#[test]
fn a_rank_in_quotes_is_a_rank() {
    let store = read(
        r#"{"distributedInfo":{"backend":"gloo","rank":"1","world_size":"2"},"traceEvents":[EVENT]}"#,
    );
    assert_eq!(store.lines("SELECT rank, world_size FROM traces"), ["1 2"]);
    assert!(store.issues().is_empty());
}

#[test]
fn clock_and_host() {
    let store = read(
        r#"{"baseTimeNanoseconds":1727740800000000000,"host_name":"n\u006fde7","traceEvents":[EVENT]}"#,
    );
    assert_eq!(
        store.lines("SELECT base_time_ns, host, format, framework FROM traces"),
        ["1727740800000000000 node7 kineto pytorch"]
    );
    let store = read(r#"{"traceEvents":[EVENT], "baseTimeNanoseconds":5}"#);
    assert_eq!(
        store.lines("SELECT base_time_ns, host FROM traces"),
        ["5 NULL"],
        "the clock may stand after the events"
    );
}

#[test]
fn all_other_keys_are_kept_as_metadata_in_their_order() {
    let store = read(
        r#"{"schemaVersion": 1, "zebra" : {"b" : [1, 2.50]} , "traceEvents":[EVENT], "traceName":"x.json","apple":null}"#,
    );
    assert_eq!(
        store.value("SELECT metadata FROM traces"),
        r#"{"schemaVersion":1,"zebra":{"b":[1,2.50]},"traceName":"x.json","apple":null}"#
    );
}

#[test]
fn keys_with_columns_of_their_own_are_metadata_too() {
    let store =
        read(r#"{"distributedInfo":{"rank":1},"baseTimeNanoseconds":5,"traceEvents":[EVENT]}"#);
    assert_eq!(
        store.value("SELECT metadata FROM traces"),
        r#"{"distributedInfo":{"rank":1},"baseTimeNanoseconds":5}"#
    );
}

#[test]
fn a_bare_list_has_no_metadata() {
    let store = read(r#"[{"ph":"i","name":"a","ts":1}]"#);
    assert_eq!(store.lines("SELECT format, framework, metadata FROM traces"), ["chrome NULL {}"]);
}

#[test]
fn a_bare_list_need_not_be_closed() {
    for end in ["", ",", ",\n", "]"] {
        let store = read(&format!("[EVENT,\nEVENT{end}"));
        assert_eq!(store.ints("SELECT count(*) FROM events"), [2]);
        assert!(store.issues().is_empty(), "{end:?}");
    }
}

#[test]
fn an_object_cut_short_keeps_its_whole_events() {
    for (text, rows) in [
        ("{\"traceEvents\":[EVENT, EVENT", 2),
        ("{\"traceEvents\":[EVENT,", 1),
        ("{\"traceEvents\":[EVENT, {\"ph\":\"X\",\"na", 1),
        ("{\"traceEvents\":[EVENT]", 1),
    ] {
        let store = read(text);
        assert_eq!(store.ints("SELECT count(*) FROM events"), [rows], "{text}");
        assert_eq!(store.issues(), ["truncated_input 1"], "{text}");
    }
}

#[test]
fn a_truncated_input_reports_how_many_bytes_were_lost() {
    let store = read("{\"traceEvents\":[EVENT, {\"ph\":\"X\",\"na");
    let line = store.lines("SELECT first_byte_offset, detail FROM ingest_issues").remove(0);
    assert!(line.starts_with(&(16 + EVENT.len() + 2).to_string()), "{line}");
    assert!(line.ends_with("13 bytes after the last whole element were lost"), "{line}");
}

#[test]
fn an_event_list_within_something_else_is_not_the_event_list() {
    let store = read(
        r#"{"decoy":{"traceEvents":[EVENT,EVENT]},"text":"\"traceEvents\":[","traceEvents":[EVENT]}"#,
    );
    assert_eq!(store.ints("SELECT count(*) FROM events"), [1]);
    assert!(store.issues().is_empty());
}

#[test]
fn several_event_lists_are_all_read() {
    let store = read(r#"{"traceEvents":[EVENT,EVENT],"x":1,"traceEvents":[EVENT]}"#);
    assert_eq!(store.lines("SELECT event_id FROM events ORDER BY 1"), ["0", "1", "2"]);
    assert_eq!(store.issues(), ["repeated_event_list 1"]);
}

#[test]
fn what_follows_the_document_is_ignored_and_counted() {
    for rest in ["garbage", "{\"traceEvents\":[EVENT]}", "\0\0\0"] {
        let store = read(&format!("{{\"traceEvents\":[EVENT]}}\n{rest}"));
        assert_eq!(store.ints("SELECT count(*) FROM events"), [1]);
        assert_eq!(store.issues(), ["trailing_data 1"], "{rest:?}");
    }
}

#[test]
fn a_trace_without_events_is_a_trace() {
    let store = read(r#"{"traceEvents":[]}"#);
    assert_eq!(
        store.lines(
            "SELECT element_count, event_count, skipped_count, start_ns, duration_ns FROM traces"
        ),
        ["0 0 0 NULL NULL"]
    );
    assert_eq!(store.issues(), ["empty_trace 1"]);
}

#[test]
fn values_of_unexpected_types_are_kept_and_counted() {
    let store = read(r#"{"deviceProperties":"none","distributedInfo":[1],"traceEvents":[EVENT]}"#);
    assert_eq!(
        store.lines("SELECT rank, metadata FROM traces"),
        [r#"NULL {"deviceProperties":"none","distributedInfo":[1]}"#]
    );
    assert_eq!(store.issues(), ["top_level_value 2"]);
}

#[test]
fn metadata_is_valid_json_whatever_was_written() {
    let store = read(
        "{\"traceName\":\"C:\\Temp\\trace.json\",\"n\":NaN,\"raw\":\"a\nb\",\"traceEvents\":[EVENT]}",
    );
    let metadata: serde_json::Value =
        serde_json::from_str(&store.value("SELECT metadata FROM traces")).expect("JSON");
    assert_eq!(metadata["traceName"], "C:\\Temp\trace.json", "\\T is no escape, \\t is");
    assert_eq!(metadata["n"], "NaN");
    assert_eq!(metadata["raw"], "a\nb");
}

#[test]
fn sizes_and_hash_of_the_input_are_kept() {
    let text = format!(r#"{{"traceEvents":[{EVENT}]}}"#);
    let (store, outcome) = TestStore::of_text(&text);
    let n = text.len();
    assert_eq!(
        store.lines("SELECT input_bytes, text_bytes, content_hash, trace_id FROM traces"),
        [format!("{n} {n} {} {}", outcome.manifest.content_hash, outcome.manifest.trace_id)]
    );
    assert_eq!(outcome.manifest.content_hash.len(), 64);
    assert!(outcome.manifest.trace_id.starts_with("trace-"));
}

#[test]
fn a_byte_order_mark_and_crlf_are_read() {
    let store = read("\u{feff}\r\n{\r\n\"traceEvents\" : [\r\nEVENT\r\n]\r\n}\r\n");
    assert_eq!(store.ints("SELECT count(*) FROM events"), [1]);
    assert!(store.issues().is_empty());
}

//! Weights of samples, and frames that open and close in other units than time.

use super::SUM;
use crate::support::TestStore;

/// A store with a profile of speedscope that has these members besides its name.
fn profile(members: &str) -> TestStore {
    let store = TestStore::new();
    let path = store.folder.path().join("made.speedscope.json");
    let frames = r#"{"name":"main"},{"name":"f"},{"name":"g"}"#;
    let text = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{{"frames":[{frames}]}},"profiles":[{{"name":"p",{members}}}]}}"#
    );
    std::fs::write(&path, text).expect("a file");
    store.ingest(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(store.lines(SUM), ["0 0"]);
    store
}

/// A profile of frames that open (`O`) and close (`C`) at places.
fn evented(unit: &str, events: &[(&str, u32, &str)]) -> TestStore {
    let events: Vec<String> = events
        .iter()
        .map(|(kind, frame, at)| format!(r#"{{"type":"{kind}","frame":{frame},"at":{at}}}"#))
        .collect();
    profile(&format!(
        r#""type":"evented","unit":"{unit}","startValue":0,"endValue":100,"events":[{}]"#,
        events.join(",")
    ))
}

#[test]
fn frames_that_open_at_bytes_are_samples_with_bytes() {
    let events = [("O", 0, "0"), ("O", 1, "10"), ("C", 1, "20"), ("C", 0, "100")];
    let store = evented("bytes", &events);
    let sql = "SELECT e.call_stack, sum(p.bytes), sum(p.cpu_ns) FROM profile_samples p \
        JOIN events e USING (trace_id, event_id) GROUP BY 1 ORDER BY 1";
    assert_eq!(store.lines(sql), ["main 90 0", "main;f 10 0"]);
    assert_eq!(store.issues(), [""; 0]);
    assert_eq!(store.ints("SELECT element_count, event_count FROM traces"), [4, 4]);
    assert_eq!(store.lines("SELECT DISTINCT ts_ns, dur_ns FROM events"), ["NULL NULL"]);
}

#[test]
fn frames_that_open_at_numbers_keep_the_digits_of_whole_ones() {
    let events =
        [("O", 0, "0"), ("O", 1, "0"), ("C", 1, "9007199254740993"), ("C", 0, "9007199254740994")];
    let store = evented("none", &events);
    let sql = "SELECT e.call_stack, p.samples FROM profile_samples p \
        JOIN events e USING (trace_id, event_id) ORDER BY e.event_id";
    assert_eq!(store.lines(sql), ["main;f 9007199254740993", "main 1"]);
    let store = evented("none", &[("O", 2, "0.5"), ("C", 2, "2")]);
    let sql = "SELECT call_stack, args FROM events ORDER BY event_id LIMIT 1";
    assert_eq!(store.lines(sql), [r#"g {"weight":1.5,"unit":"none"}"#]);
}

#[test]
fn odd_events_of_other_units_are_rows_or_are_counted() {
    let events = [
        ("C", 1, "0"),
        ("O", 0, "1"),
        ("O", 1, "2"),
        // A place before the last one, and a frame that does not exist.
        ("O", 2, "1"),
        ("O", 9, "3"),
        // Ends `f` too, which has no end of its own.
        ("C", 0, "5"),
        ("O", 2, "6"),
    ];
    let store = evented("bytes", &events);
    assert_eq!(store.issues(), ["bad_record 2", "unmatched_begin 2", "unmatched_end 1"]);
    let sql = "SELECT e.call_stack, p.bytes FROM profile_samples p \
        JOIN events e USING (trace_id, event_id) ORDER BY e.event_id";
    assert_eq!(store.lines(sql), ["main 1", "main;f 3"]);
}

#[test]
fn weights_that_fit_64_bits_are_not_beyond_them() {
    let store = profile(
        r#""type":"sampled","unit":"bytes","samples":[[0],[1],[2]],
        "weights":[9223372036854775807,-9223372036854775808,9223372036854775808]"#,
    );
    assert_eq!(store.issues(), ["record_value 1"]);
    assert_eq!(
        store.lines("SELECT bytes FROM profile_samples ORDER BY event_id"),
        ["9223372036854775807", "-9223372036854775808", "0"]
    );
}

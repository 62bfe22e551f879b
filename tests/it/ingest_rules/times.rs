//! Times: decimal microseconds in the text become exact nanoseconds.

use crate::support::{TestStore, elements};

/// The starts of instants whose `ts` has these texts, in ns and in file order.
fn starts(texts: &[&str]) -> (TestStore, Vec<String>) {
    let instant = |ts: &&str| format!(r#"{{"ph":"i","name":"x","pid":1,"tid":1,"ts":{ts}}}"#);
    let store = elements(texts.iter().map(instant).collect::<Vec<_>>().join(","));
    let starts = store.lines("SELECT ts_ns FROM events ORDER BY event_id");
    (store, starts)
}

/// The duration, end and issues of one event.
fn one_event(ts: &str, dur: &str) -> (TestStore, String) {
    let store =
        elements(format!(r#"{{"ph":"X","name":"x","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#));
    let line = store.lines("SELECT ts_ns, dur_ns, end_ns FROM events").remove(0);
    (store, line)
}

#[test]
fn three_decimals_of_large_times_survive() {
    let (store, starts) =
        starts(&["7234567890123456.789", "7234567890123456.790", "1712195495406752.797"]);
    assert_eq!(starts, ["7234567890123456789", "7234567890123456790", "1712195495406752797"]);
    assert!(store.issues().is_empty());
}

#[test]
fn durations_and_ends_are_exact() {
    assert_eq!(
        one_event("7234567890123456.789", "0.011").1,
        "7234567890123456789 11 7234567890123456800"
    );
}

#[test]
fn whole_fewer_and_more_decimals() {
    let (store, starts) = starts(&["12", "12.5", "12.34", "12.3450000", "0.001"]);
    assert_eq!(starts, ["12000", "12500", "12340", "12345", "1"]);
    assert!(store.issues().is_empty(), "zeros below the nanosecond are not rounded away");
}

#[test]
fn exponents() {
    let (store, starts) = starts(&["1.5e3", "1E-3", "2e+2", "12345e-3"]);
    assert_eq!(starts, ["1500000", "1", "200000", "12345"]);
    assert!(store.issues().is_empty());
}

#[test]
fn numbers_in_quotes_count() {
    assert_eq!(starts(&[r#""1000""#, r#"" 1.5 ""#]).1, ["1000000", "1500"]);
    assert_eq!(one_event("1", r#""0.25""#).1, "1000 250 1250");
}

#[test]
fn negative_starts_are_legal() {
    let (store, starts) = starts(&["-0.5", "-3"]);
    assert_eq!(starts, ["-500", "-3000"]);
    assert!(store.issues().is_empty());
    assert_eq!(
        store.lines("SELECT start_ns, end_ns, duration_ns FROM traces"),
        ["-3000 -500 2500"]
    );
}

#[test]
fn digits_below_the_nanosecond_are_rounded_half_to_even() {
    let (store, starts) = starts(&[
        "0.0005",
        "0.0015",
        "0.0025",
        "0.00250001",
        "-0.0015",
        "9e-06",
        "10.000000000000011",
    ]);
    assert_eq!(starts, ["0", "2", "2", "3", "-2", "0", "10000"]);
    assert_eq!(
        store.lines("SELECT code, severity, count, first_event_id FROM ingest_issues"),
        ["time_rounded info 7 0"]
    );
}

#[test]
fn rounded_durations_are_counted_too() {
    let (store, line) = one_event("1", "5.410000000000011");
    assert_eq!(line, "1000 5410 6410");
    assert_eq!(store.issues(), ["time_rounded 1"]);
}

#[test]
fn the_last_nanosecond_of_64_bits_fits() {
    assert_eq!(
        starts(&["9223372036854775.807", "-9223372036854775.807"]).1,
        ["9223372036854775807", "-9223372036854775807"]
    );
}

#[test]
fn starts_beyond_64_bits_are_skipped_and_counted() {
    let digits = "1".repeat(400);
    let (store, starts) =
        starts(&["5", "9223372036854775.808", "99999999999999999999999", "1e400", &digits]);
    assert_eq!(starts, ["5000"]);
    assert_eq!(store.issues(), ["timestamp_out_of_range 4"]);
    assert_eq!(
        store.lines("SELECT element_count, event_count, skipped_count FROM traces"),
        ["5 1 4"]
    );
}

#[test]
fn elements_whose_start_is_not_a_number_are_skipped_and_counted() {
    let (store, starts) =
        starts(&["5", "null", "true", "NaN", "\"yesterday\"", "[1]", "{}", "\"\"", "0x10"]);
    assert_eq!(starts, ["5000"]);
    assert_eq!(
        store.lines("SELECT code, severity, count, skipped_count, first_event_id FROM ingest_issues WHERE code = 'no_timestamp'"),
        ["no_timestamp error 8 8 1"]
    );
}

#[test]
fn a_missing_start_skips_all_but_metadata() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"dur":1}, {"ph":"i","name":"b","pid":1,"tid":1},
           {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}"#,
    );
    assert_eq!(store.lines("SELECT event_id, ph, ts_ns, dur_ns FROM events"), ["2 M NULL NULL"]);
    assert_eq!(store.issues(), ["no_timestamp 2"]);
}

#[test]
fn an_end_beyond_64_bits_leaves_no_duration() {
    let (store, line) = one_event("9000000000000000", "9000000000000000");
    assert_eq!(line, "9000000000000000000 NULL NULL");
    assert_eq!(store.issues(), ["end_overflow 1"]);
}

#[test]
fn a_negative_duration_is_kept() {
    let (store, line) = one_event("10", "-5");
    assert_eq!(line, "10000 -5000 10000");
    assert_eq!(store.issues(), ["negative_duration 1"]);
}

#[test]
fn an_unusable_duration_is_null() {
    for dur in ["null", "\"long\"", "true", "[1]", "NaN"] {
        let (store, line) = one_event("10", dur);
        assert_eq!(line, "10000 NULL NULL", "{dur}");
        assert!(store.issues().contains(&"missing_duration 1".to_owned()), "{dur}");
    }
}

#[test]
fn what_could_not_be_a_duration_is_kept_as_it_was_written() {
    assert_eq!(
        one_event("10", "\"long\"").0.value("SELECT extra FROM events"),
        r#"{"dur":"long"}"#
    );
    assert_eq!(
        one_event("9000000000000000", "9000000000000000").0.value("SELECT extra FROM events"),
        r#"{"dur":9000000000000000}"#
    );
}

#[test]
fn a_duration_of_other_phases_is_kept_as_it_was_written() {
    let store = elements(r#"{"ph":"i","name":"x","pid":1,"tid":1,"ts":1,"dur":5}"#);
    assert_eq!(store.lines("SELECT dur_ns, extra FROM events"), [r#"NULL {"dur":5}"#]);
}

#[test]
fn the_trace_spans_its_earliest_start_and_latest_end() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":100,"dur":50}, {"ph":"X","name":"b","pid":1,"tid":2,"ts":90,"dur":1},
           {"ph":"i","name":"c","pid":1,"tid":1,"ts":120}"#,
    );
    assert_eq!(
        store.lines("SELECT start_ns, end_ns, duration_ns FROM traces"),
        ["90000 150000 60000"]
    );
}

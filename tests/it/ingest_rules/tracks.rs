//! Tracks: threads, streams and counters, with their names and order.

use crate::support::elements;

#[test]
fn processes_and_threads_are_numbers_or_text() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"pid":1,"tid":2}, {"ph":"i","name":"b","ts":1,"pid":"Spans","tid":"PyTorch Profiler"},
           {"ph":"i","name":"c","ts":1,"pid":-1,"tid":18446744073709551615}, {"ph":"i","name":"d","ts":1,"pid":null}, {"ph":"i","name":"e","ts":1,"pid":1.5,"tid":[1]}"#,
    );
    assert_eq!(
        store.lines("SELECT e.name, e.pid, e.tid, t.pid, t.tid, pid_text, tid_text FROM events e JOIN tracks t USING (track_id) ORDER BY 1"),
        [
            "a 1 2 1 2 1 2",
            "b NULL NULL NULL NULL Spans PyTorch Profiler",
            "c -1 NULL -1 NULL -1 18446744073709551615",
            "d NULL NULL NULL NULL NULL NULL",
            "e NULL NULL NULL NULL 1.5 [1]"
        ]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn zero_is_a_thread_and_empty_text_is_text() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"pid":0,"tid":0}, {"ph":"i","name":"b","ts":1,"pid":"","tid":""}"#,
    );
    assert_eq!(
        store.rows("SELECT pid, tid, pid_text, tid_text FROM tracks ORDER BY track_id"),
        [["0", "0", "0", "0"], ["NULL", "NULL", "", ""]]
    );
}

#[test]
fn numbers_and_the_same_digits_as_text_are_different_threads() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"pid":1,"tid":1}, {"ph":"i","name":"b","ts":1,"pid":1,"tid":"1"}, {"ph":"i","name":"c","ts":1,"pid":1,"tid":1.0}"#,
    );
    assert_eq!(
        store.ints("SELECT count(*), count(tid), count(DISTINCT tid_text) FROM tracks"),
        [3, 1, 2]
    );
}

#[test]
fn names_labels_and_order_come_from_metadata_wherever_it_stands() {
    let store = elements(
        r#"{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}}, {"ph":"X","name":"a","pid":1,"tid":5,"ts":1,"dur":1},
           {"ph":"M","name":"thread_name","pid":1,"tid":5,"ts":0,"args":{"name":"main"}}, {"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"CPU"}},
           {"ph":"M","name":"process_sort_index","pid":1,"tid":0,"args":{"sort_index":3}}, {"ph":"X","name":"b","pid":1,"tid":6,"ts":1,"dur":1},
           {"ph":"M","name":"thread_sort_index","pid":1,"tid":6,"args":{"sort_index":-7}}"#,
    );
    assert_eq!(
        store.lines("SELECT tid, process_name, thread_name, labels, sort_index FROM tracks WHERE tid > 0 ORDER BY tid"),
        ["5 python main CPU 3", "6 python NULL CPU -7"]
    );
}

#[test]
fn of_several_names_the_last_in_the_file_counts() {
    let store = elements(
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":9,"args":{"name":"first"}}, {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
           {"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"last"}}"#,
    );
    assert_eq!(store.lines("SELECT thread_name FROM tracks"), ["last"]);
}

#[test]
fn metadata_without_a_usable_value_is_counted_and_changes_nothing() {
    let store = elements(
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}, {"ph":"M","name":"thread_name","pid":1,"tid":1},
           {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":null}}, {"ph":"M","name":"process_name","pid":1,"args":{"name":7}}"#,
    );
    assert_eq!(
        store.lines("SELECT DISTINCT process_name, thread_name FROM tracks WHERE tid = 1"),
        ["NULL main"]
    );
    assert_eq!(store.issues(), ["metadata_value 3"]);
}

#[test]
fn other_metadata_is_a_row_and_nothing_more() {
    let store = elements(r#"{"ph":"M","name":"num_cpus","pid":1,"tid":0,"args":{"number":4}}"#);
    assert_eq!(store.lines("SELECT name, args FROM events"), [r#"num_cpus {"number":4}"#]);
    assert!(store.issues().is_empty());
}

#[test]
fn kinds_of_tracks() {
    let store = elements(
        r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
           {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}},
           {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":9},
           {"ph":"C","name":"util","pid":0,"tid":0,"ts":1,"args":{"v":1}},
           {"ph":"M","name":"thread_name","pid":9,"tid":9,"args":{"name":"idle"}}"#,
    );
    assert_eq!(
        store
            .lines("SELECT kind, pid_text, tid_text, device, stream FROM tracks ORDER BY track_id"),
        [
            "gpu_stream 0 7 0 7",
            "cpu_thread 1 1 NULL NULL",
            "other 9 9 NULL NULL",
            "span Spans PyTorch Profiler NULL NULL",
            "counter 0 NULL NULL NULL"
        ]
    );
}

#[test]
fn tracks_come_in_the_order_of_process_and_thread() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"pid":10,"tid":2}, {"ph":"i","name":"b","ts":1,"pid":9,"tid":30}, {"ph":"i","name":"c","ts":1,"pid":9,"tid":4},
           {"ph":"i","name":"d","ts":1,"pid":"x","tid":1}, {"ph":"i","name":"e","ts":1}, {"ph":"i","name":"f","ts":1,"pid":-3,"tid":1}"#,
    );
    assert_eq!(
        store.lines("SELECT e.name FROM tracks JOIN events e USING (track_id) ORDER BY track_id"),
        ["f", "c", "b", "a", "d", "e"]
    );
}

#[test]
fn each_series_of_a_counter_is_a_row() {
    let store = elements(
        r#"{"ph":"C","name":"mem","pid":1,"tid":3,"ts":1,"args":{"used":10,"free":5.5}}, {"ph":"C","name":"mem","pid":1,"tid":3,"ts":2,"args":{"used":"7","list":[1],"text":"many"}}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT event_id, ts_ns, name, series, value FROM counters ORDER BY event_id, series"
        ),
        [
            "0 1000 mem free 5.5",
            "0 1000 mem used 10.0",
            "1 2000 mem list NULL",
            "1 2000 mem text NULL",
            "1 2000 mem used 7.0"
        ]
    );
    assert_eq!(store.lines("SELECT DISTINCT t.kind, t.pid, t.thread_name FROM counters JOIN tracks t USING (track_id)"), ["counter 1 mem"]);
    assert_eq!(store.lines("SELECT DISTINCT pid, tid FROM events"), ["1 3"]);
}

#[test]
fn counter_values_that_are_not_numbers_are_counted() {
    let store = elements(
        r#"{"ph":"C","name":"c","pid":1,"ts":1,"args":{"a":"many"}}, {"ph":"C","name":"c","pid":1,"ts":2,"args":{"a":NaN}}, {"ph":"C","name":"c","pid":1,"ts":3,"args":{"a":1}}"#,
    );
    assert_eq!(store.lines("SELECT value FROM counters ORDER BY ts_ns"), ["NULL", "NULL", "1.0"]);
    assert!(store.issues().contains(&"counter_value 2".to_owned()));
    // Not the elements that follow.
    let example = "SELECT example FROM ingest_issues WHERE code = 'counter_value'";
    assert_eq!(store.lines(example), ["\"many\""]);
}

#[test]
fn counters_of_different_ids_have_tracks_of_their_own() {
    let store = elements(
        r#"{"ph":"C","name":"c","id":1,"pid":1,"ts":1,"args":{"v":1}}, {"ph":"C","name":"c","id":2,"pid":1,"ts":1,"args":{"v":2}}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT t.thread_name, value FROM counters JOIN tracks t USING (track_id) ORDER BY 1"
        ),
        ["c [1] 1.0", "c [2] 2.0"]
    );
}

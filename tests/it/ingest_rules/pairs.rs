//! Begin and end events: the row of the begin event gets the duration, and the row of the end event
//! is kept.

use crate::support::elements;

#[test]
fn a_begin_takes_the_time_to_its_end() {
    let store = elements(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1.5}, {"ph":"E","name":"a","pid":1,"tid":1,"ts":4}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT event_id, ph, ts_ns, dur_ns, end_ns, depth, self_ns FROM events ORDER BY 1"
        ),
        ["0 B 1500 2500 4000 0 2500", "1 E 4000 NULL NULL NULL NULL"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn ends_close_the_begin_that_began_last() {
    let store = elements(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"B","name":"b","pid":1,"tid":1,"ts":2},
           {"ph":"E","pid":1,"tid":1,"ts":5}, {"ph":"E","pid":1,"tid":1,"ts":9}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns, parent_id, depth FROM events WHERE ph = 'B' ORDER BY 1"),
        ["a 8000 NULL 0", "b 3000 0 1"]
    );
    assert!(store.issues().is_empty(), "an end needs no name");
}

#[test]
fn crossed_names_pair_by_stack_and_are_counted() {
    let store = elements(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"B","name":"b","pid":1,"tid":1,"ts":2},
           {"ph":"E","name":"a","pid":1,"tid":1,"ts":5}, {"ph":"E","name":"b","pid":1,"tid":1,"ts":9}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns FROM events WHERE ph = 'B' ORDER BY 1"),
        ["a 8000", "b 3000"]
    );
    assert_eq!(store.issues(), ["begin_end_name_mismatch 2"]);
}

#[test]
fn time_decides_what_pairs_not_the_place_in_the_file() {
    let store = elements(
        r#"{"ph":"E","name":"b","pid":1,"tid":1,"ts":4}, {"ph":"E","name":"a","pid":1,"tid":1,"ts":9},
           {"ph":"B","name":"b","pid":1,"tid":1,"ts":2}, {"ph":"B","name":"a","pid":1,"tid":1,"ts":1}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns FROM events WHERE ph = 'B' ORDER BY 1"),
        ["a 8000", "b 2000"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn each_thread_pairs_for_itself() {
    let store = elements(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"B","name":"b","pid":1,"tid":2,"ts":2}, {"ph":"B","name":"c","pid":2,"tid":1,"ts":3},
           {"ph":"E","pid":1,"tid":1,"ts":10}, {"ph":"E","pid":1,"tid":2,"ts":20}, {"ph":"E","pid":2,"tid":1,"ts":30}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns FROM events WHERE ph = 'B' ORDER BY 1"),
        ["a 9000", "b 18000", "c 27000"]
    );
}

#[test]
fn a_begin_without_end_has_no_duration_and_encloses_what_follows() {
    let store = elements(
        r#"{"ph":"X","name":"before","pid":1,"tid":1,"ts":0,"dur":1}, {"ph":"B","name":"open","pid":1,"tid":1,"ts":1},
           {"ph":"X","name":"after","pid":1,"tid":1,"ts":5,"dur":2}, {"ph":"i","name":"mark","pid":1,"tid":1,"ts":99}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT name, dur_ns, end_ns, parent_id, depth, self_ns FROM events ORDER BY event_id"
        ),
        [
            "before 1000 1000 NULL 0 1000",
            "open NULL NULL NULL 0 NULL",
            "after 2000 7000 1 1 2000",
            "mark NULL NULL 1 1 NULL"
        ]
    );
    assert_eq!(store.issues(), ["unmatched_begin 1"]);
}

#[test]
fn an_end_without_begin_keeps_its_row() {
    let store = elements(
        r#"{"ph":"E","name":"a","pid":1,"tid":1,"ts":4}, {"ph":"B","name":"a","pid":1,"tid":1,"ts":5}"#,
    );
    assert_eq!(
        store.lines("SELECT ph, dur_ns FROM events ORDER BY event_id"),
        ["E NULL", "B NULL"]
    );
    assert_eq!(store.issues(), ["unmatched_begin 1", "unmatched_end 1"]);
}

#[test]
fn args_of_both_ends_are_merged_into_the_begin() {
    let store = elements(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1,"args":{"a":1,"k":"begin"}},
           {"ph":"E","pid":1,"tid":1,"ts":4,"args":{"k":"end", "b":[2, 3]}}"#,
    );
    assert_eq!(
        store.lines("SELECT args FROM events ORDER BY event_id"),
        [r#"{"a":1,"k":"end","b":[2,3]}"#, r#"{"k":"end","b":[2,3]}"#]
    );
}

#[test]
fn args_of_the_end_alone_reach_the_begin_and_its_columns() {
    let store = elements(
        r#"{"ph":"B","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1},
           {"ph":"E","pid":1,"tid":1,"ts":4,"args":{"External id":9,"Input Dims":[[2]]}}"#,
    );
    assert_eq!(
        store.lines("SELECT external_id, input_dims, args FROM events WHERE ph = 'B'"),
        [r#"9 [[2]] {"External id":9,"Input Dims":[[2]]}"#]
    );
}

#[test]
fn begins_and_complete_events_nest_in_each_other() {
    let store = elements(
        r#"{"ph":"B","name":"b","pid":1,"tid":1,"ts":0}, {"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":8},
           {"ph":"B","name":"c","pid":1,"tid":1,"ts":2}, {"ph":"E","pid":1,"tid":1,"ts":4}, {"ph":"E","pid":1,"tid":1,"ts":10}"#,
    );
    assert_eq!(
        store.lines("SELECT name, depth, self_ns FROM events WHERE ph <> 'E' ORDER BY pre"),
        ["b 0 2000", "x 1 6000", "c 2 2000"]
    );
}

#[test]
fn async_events_pair_by_id_on_a_track_of_their_own() {
    let store = elements(
        r#"{"ph":"b","cat":"net","name":"get","pid":1,"tid":1,"ts":1,"id":"0x1"}, {"ph":"b","cat":"net","name":"put","pid":1,"tid":1,"ts":2,"id":"0x2"},
           {"ph":"e","cat":"net","name":"get","pid":1,"tid":2,"ts":5,"id":"0x1"}, {"ph":"e","cat":"net","name":"put","pid":1,"tid":1,"ts":9,"id":"0x2"}"#,
    );
    assert_eq!(
        store.lines("SELECT e.name, e.dur_ns, t.kind, t.pid, t.thread_name FROM events e JOIN tracks t USING (track_id) WHERE ph = 'b' ORDER BY 1"),
        ["get 4000 span 1 net 0x1", "put 7000 span 1 net 0x2"]
    );
    assert_eq!(
        store.lines("SELECT name, ph, pid, tid FROM events WHERE id = '0x1' ORDER BY ts_ns"),
        ["get b 1 1", "get e 1 2"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn async_events_of_one_id_nest() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"outer","pid":1,"tid":1,"ts":0,"id":7}, {"ph":"b","cat":"c","name":"inner","pid":1,"tid":1,"ts":2,"id":7},
           {"ph":"n","cat":"c","name":"mark","pid":1,"tid":1,"ts":3,"id":7}, {"ph":"e","cat":"c","name":"inner","pid":1,"tid":1,"ts":4,"id":7},
           {"ph":"e","cat":"c","name":"outer","pid":1,"tid":1,"ts":9,"id":7}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT name, depth, parent_id, self_ns FROM events WHERE ph <> 'e' ORDER BY pre"
        ),
        ["outer 0 NULL 7000", "inner 1 0 2000", "mark 2 1 NULL"]
    );
}

#[test]
fn async_ids_belong_to_their_category_and_scope() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"id":1}, {"ph":"b","cat":"d","name":"b","pid":1,"tid":1,"ts":2,"id":1},
           {"ph":"b","cat":"c","name":"c","pid":1,"tid":1,"ts":3,"id":1,"scope":"s"},
           {"ph":"e","cat":"c","name":"a","pid":1,"tid":1,"ts":10,"id":1}, {"ph":"e","cat":"d","name":"b","pid":1,"tid":1,"ts":20,"id":1},
           {"ph":"e","cat":"c","name":"c","pid":1,"tid":1,"ts":30,"id":1,"scope":"s"}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns FROM events WHERE ph = 'b' ORDER BY 1"),
        ["a 9000", "b 18000", "c 27000"]
    );
    assert_eq!(store.ints("SELECT count(DISTINCT track_id) FROM events"), [3]);
}

#[test]
fn local_ids_belong_to_a_process_and_global_ones_to_all() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"local 1","pid":1,"tid":1,"ts":1,"id2":{"local":"5"}}, {"ph":"b","cat":"c","name":"local 2","pid":2,"tid":1,"ts":2,"id2":{"local":"5"}},
           {"ph":"e","cat":"c","name":"local 1","pid":1,"tid":1,"ts":10,"id2":{"local":"5"}}, {"ph":"e","cat":"c","name":"local 2","pid":2,"tid":1,"ts":20,"id2":{"local":"5"}},
           {"ph":"b","cat":"c","name":"global","pid":1,"tid":1,"ts":1,"id2":{"global":"5"}}, {"ph":"e","cat":"c","name":"global","pid":2,"tid":4,"ts":30,"id2":{"global":"5"}}"#,
    );
    assert_eq!(
        store.lines("SELECT name, dur_ns FROM events WHERE ph = 'b' ORDER BY 1"),
        ["global 29000", "local 1 9000", "local 2 18000"]
    );
    assert_eq!(
        store.lines("SELECT pid, tid FROM events WHERE name = 'global' ORDER BY ts_ns"),
        ["1 1", "2 4"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn an_id_that_is_a_number_is_not_the_same_written_as_text() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"id":1}, {"ph":"e","cat":"c","name":"a","pid":1,"tid":1,"ts":2,"id":"1"}"#,
    );
    assert_eq!(store.issues(), ["unmatched_begin 1", "unmatched_end 1"]);
}

#[test]
fn scope_and_id_are_not_mixed_up() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"scope":"s:t","id":"u"},
           {"ph":"e","cat":"c","name":"a","pid":1,"tid":1,"ts":2,"scope":"s","id":"t:u"}"#,
    );
    assert_eq!(store.issues(), ["unmatched_begin 1", "unmatched_end 1"]);
}

#[test]
fn async_events_without_id_cannot_pair() {
    let store = elements(
        r#"{"ph":"b","cat":"c","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"e","cat":"c","name":"a","pid":1,"tid":1,"ts":4}"#,
    );
    assert_eq!(
        store.lines("SELECT ph, dur_ns, tid FROM events ORDER BY event_id"),
        ["b NULL 1", "e NULL 1"]
    );
    assert_eq!(store.issues(), ["async_no_id 2"]);
}

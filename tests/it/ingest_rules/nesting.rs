//! Nesting: the parent of each event, and its self time.

use crate::support::{TestStore, elements, spans};

/// `name parent depth self` of all spans in file order, with times in ns.
fn tree(store: &TestStore) -> Vec<String> {
    store.lines(
        "SELECT e.name, coalesce(p.name, '-'), e.depth, e.self_ns FROM events e LEFT JOIN events p ON p.event_id = e.parent_id \
         WHERE e.depth IS NOT NULL ORDER BY e.event_id",
    )
}

#[test]
fn the_parent_is_the_innermost_event_around() {
    let store = spans(&[("a", 0, 100), ("b", 10, 50), ("c", 20, 10), ("d", 70, 10), ("e", 200, 5)]);
    assert_eq!(
        tree(&store),
        ["a - 0 40000", "b a 1 40000", "c b 2 10000", "d a 1 10000", "e - 0 5000"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn intervals_are_half_open() {
    let store = spans(&[("a", 0, 10), ("last", 5, 5), ("next", 10, 3)]);
    assert_eq!(tree(&store), ["a - 0 5000", "last a 1 5000", "next - 0 3000"]);
}

#[test]
fn a_zero_length_event_at_its_neighbours_end_is_not_its_child() {
    let store = spans(&[("a", 0, 10), ("at end", 10, 0), ("at start", 0, 0), ("within", 5, 0)]);
    assert_eq!(tree(&store), ["a - 0 10000", "at end - 0 0", "at start a 1 0", "within a 1 0"]);
}

#[test]
fn zero_length_events_at_one_instant_stack() {
    let store = spans(&[("a", 5, 0), ("b", 5, 0), ("c", 5, 0)]);
    assert_eq!(tree(&store), ["a - 0 0", "b a 1 0", "c b 2 0"]);
}

#[test]
fn of_events_that_start_together_the_longest_encloses() {
    let store = spans(&[("short", 0, 5), ("long", 0, 20), ("middle", 0, 10)]);
    assert_eq!(tree(&store), ["short middle 2 5000", "long - 0 10000", "middle long 1 5000"]);
}

#[test]
fn of_equal_events_the_first_in_the_file_encloses() {
    let store = spans(&[("first", 0, 5), ("second", 0, 5), ("third", 0, 5)]);
    assert_eq!(tree(&store), ["first - 0 0", "second first 1 0", "third second 2 5000"]);
}

#[test]
fn the_order_in_the_file_does_not_matter() {
    let store = spans(&[("c", 20, 10), ("e", 200, 5), ("b", 10, 50), ("a", 0, 100)]);
    assert_eq!(tree(&store), ["c b 2 10000", "e - 0 5000", "b a 1 40000", "a - 0 50000"]);
}

#[test]
fn one_nanosecond_decides_about_nesting() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":7234567890123456.100,"dur":0.050},
           {"ph":"X","name":"b","pid":1,"tid":1,"ts":7234567890123456.149,"dur":0.001},
           {"ph":"X","name":"c","pid":1,"tid":1,"ts":7234567890123456.150,"dur":0.001}"#,
    );
    assert_eq!(tree(&store), ["a - 0 49", "b a 1 1", "c - 0 1"]);
    assert!(store.issues().is_empty(), "doubles would see an overlap here");
}

#[test]
fn partial_overlaps_are_marked_and_belong_to_what_encloses_them_fully() {
    let store = spans(&[("a", 0, 100), ("b", 10, 40), ("c", 40, 30)]);
    assert_eq!(tree(&store), ["a - 0 40000", "b a 1 40000", "c a 1 30000"]);
    assert_eq!(store.lines("SELECT name FROM events WHERE overlaps"), ["c"]);
    assert_eq!(
        store.lines("SELECT code, severity, count, first_event_id FROM ingest_issues"),
        ["partial_overlap info 1 2"]
    );
}

#[test]
fn events_within_an_overlap_belong_to_the_one_that_started_last() {
    let store = spans(&[("a", 0, 50), ("b", 40, 40), ("c", 45, 3), ("d", 60, 5)]);
    assert_eq!(tree(&store), ["a - 0 50000", "b - 0 32000", "c b 1 3000", "d b 1 5000"]);
}

#[test]
fn self_time_is_the_duration_less_the_union_of_direct_children() {
    let store = spans(&[("a", 0, 100), ("b", 10, 40), ("c", 40, 30), ("within b", 15, 20)]);
    assert_eq!(tree(&store)[0], "a - 0 40000", "children cover 10 to 70, once");
    assert!(store.ints("SELECT min(self_ns) FROM events")[0] >= 0);
}

#[test]
fn pre_and_post_bound_the_descendants() {
    let store = spans(&[
        ("a", 0, 100),
        ("b", 10, 50),
        ("c", 20, 10),
        ("d", 70, 10),
        ("e", 200, 5),
        ("f", 201, 1),
    ]);
    let below = "SELECT a.name, string_agg(d.name, '' ORDER BY d.name) FROM events a JOIN events d ON d.pre > a.pre AND d.pre <= a.post GROUP BY 1 ORDER BY 1";
    assert_eq!(store.lines(below), ["a bcd", "b c", "e f"]);
    assert_eq!(store.lines("SELECT name FROM events WHERE pre = post ORDER BY 1"), ["c", "d", "f"]);
}

#[test]
fn instants_have_a_parent_and_no_children() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}, {"ph":"i","name":"i","pid":1,"tid":1,"ts":5}, {"ph":"I","name":"I","pid":1,"tid":1,"ts":5},
           {"ph":"R","name":"R","pid":1,"tid":1,"ts":6}, {"ph":"i","name":"end","pid":1,"tid":1,"ts":10}, {"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":0}"#,
    );
    assert_eq!(
        tree(&store),
        ["a - 0 10000", "i a 1 NULL", "I a 1 NULL", "R a 1 NULL", "end - 0 NULL", "b a 1 0"]
    );
}

#[test]
fn ends_counters_flows_and_metadata_take_no_part() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}, {"ph":"C","name":"c","pid":1,"tid":1,"ts":5,"args":{"v":1}},
           {"ph":"s","name":"s","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":5,"args":{"name":"main"}}"#,
    );
    assert_eq!(
        store.lines(
            "SELECT name, parent_id, depth, self_ns FROM events WHERE ph <> 'X' ORDER BY name"
        ),
        ["c NULL NULL NULL", "s NULL NULL NULL", "thread_name NULL NULL NULL"]
    );
}

#[test]
fn threads_and_processes_do_not_nest_in_each_other() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":100}, {"ph":"X","name":"b","pid":1,"tid":2,"ts":10,"dur":5},
           {"ph":"X","name":"c","pid":2,"tid":1,"ts":10,"dur":5}, {"ph":"X","name":"d","pid":1,"tid":"1","ts":10,"dur":5}"#,
    );
    assert_eq!(tree(&store), ["a - 0 100000", "b - 0 5000", "c - 0 5000", "d - 0 5000"]);
}

#[test]
fn device_work_is_never_a_parent() {
    for cat in ["kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"] {
        let store = elements(format!(
            r#"{{"ph":"X","cat":"{cat}","name":"a","pid":0,"tid":7,"ts":0,"dur":100}}, {{"ph":"X","cat":"{cat}","name":"b","pid":0,"tid":7,"ts":10,"dur":5}}"#
        ));
        assert_eq!(tree(&store), ["a - 0 100000", "b - 0 5000"], "{cat}");
    }
}

#[test]
fn annotations_on_a_device_enclose_its_work() {
    let store = elements(
        r#"{"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":0,"dur":100},
           {"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":10,"dur":50}, {"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":20,"dur":10}"#,
    );
    assert_eq!(tree(&store), ["step - 0 50000", "k1 step 1 50000", "k2 step 1 10000"]);
}

#[test]
fn a_negative_duration_counts_as_zero() {
    let store = spans(&[("a", 0, 100), ("negative", 50, -20), ("b", 40, 10)]);
    assert_eq!(tree(&store), ["a - 0 90000", "negative a 1 0", "b a 1 10000"]);
}

#[test]
fn a_missing_duration_makes_an_instant() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}, {"ph":"X","name":"no end","pid":1,"tid":1,"ts":5}, {"ph":"X","name":"b","pid":1,"tid":1,"ts":6,"dur":1}"#,
    );
    assert_eq!(tree(&store), ["a - 0 9000", "no end a 1 NULL", "b a 1 1000"]);
}

#[test]
fn deep_nesting_is_counted_to_the_bottom() {
    let events: Vec<(String, i64, i64)> =
        (0..3000).map(|i| (format!("n{i}"), i, 10_000 - 2 * i)).collect();
    let events: Vec<(&str, i64, i64)> =
        events.iter().map(|(name, ts, dur)| (name.as_str(), *ts, *dur)).collect();
    let store = spans(&events);
    assert_eq!(
        store.lines("SELECT max(depth), count(parent_id), sum(self_ns) FROM events"),
        ["2999 2999 10000000"]
    );
}

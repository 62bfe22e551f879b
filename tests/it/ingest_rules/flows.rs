//! Flows: arrows between the events that flow elements refer to.

use crate::support::{TestStore, elements};

/// A trace with slices a (0 to 10 us) on thread 1, b (20 to 30 us) and c (40 to 50 us) on thread 2,
/// and these flow elements.
fn slices(flows: &str) -> TestStore {
    elements(format!(
        r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}}, {{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":10}},
           {{"ph":"X","name":"c","pid":1,"tid":2,"ts":40,"dur":10}}, {flows}"#
    ))
}

fn arrows(store: &TestStore) -> Vec<String> {
    store.lines(
        "SELECT coalesce(s.name, '-'), coalesce(d.name, '-'), src_ts_ns, dst_ts_ns FROM flows f \
         LEFT JOIN events s ON s.event_id = src_event_id LEFT JOIN events d ON d.event_id = dst_event_id ORDER BY src_ts_ns, dst_ts_ns",
    )
}

#[test]
fn a_flow_joins_the_events_around_its_ends() {
    let store = slices(
        r#"{"ph":"s","cat":"ac2g","name":"launch","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","bp":"e","cat":"ac2g","name":"launch","id":1,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(arrows(&store), ["a b 5000 25000"]);
    assert_eq!(
        store.lines("SELECT kind, name, flow_id, src_flow_event_id, dst_flow_event_id FROM flows"),
        ["ac2g launch 1 3 4"]
    );
    assert!(store.issues().is_empty());
}

#[test]
fn an_end_that_does_not_bind_to_what_encloses_it_binds_to_the_next_event() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(arrows(&store), ["a c 5000 25000"]);
}

#[test]
fn the_next_event_may_start_at_the_same_time() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":20}"#,
    );
    assert_eq!(arrows(&store), ["a b 5000 20000"]);
}

#[test]
fn ends_at_the_start_of_an_event_touch_it() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":0}, {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":40}"#,
    );
    assert_eq!(arrows(&store), ["a c 0 40000"]);
}

#[test]
fn steps_in_between_make_two_arrows() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"t","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":21},
           {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":45}"#,
    );
    assert_eq!(arrows(&store), ["a b 5000 21000", "b c 21000 45000"]);
}

#[test]
fn one_start_may_have_several_ends() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":25},
           {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":45}"#,
    );
    assert_eq!(arrows(&store), ["a b 5000 25000", "a c 5000 45000"]);
}

#[test]
fn an_id_may_be_used_again() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":25},
           {"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":26}, {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":45}"#,
    );
    assert_eq!(arrows(&store), ["a b 5000 25000", "b c 26000 45000"]);
}

#[test]
fn category_name_and_id_together_name_a_flow() {
    let store = slices(
        r#"{"ph":"s","cat":"x","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"s","cat":"y","name":"n","id":1,"pid":1,"tid":1,"ts":6},
           {"ph":"f","bp":"e","cat":"x","name":"n","id":1,"pid":1,"tid":2,"ts":45}, {"ph":"f","bp":"e","cat":"y","name":"n","id":1,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(
        store.lines("SELECT kind, dst_ts_ns FROM flows ORDER BY kind"),
        ["x 45000", "y 25000"]
    );
}

#[test]
fn ids_may_be_text_and_large() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":"0xa","pid":1,"tid":1,"ts":5}, {"ph":"f","bp":"e","cat":"c","name":"n","id":"0xa","pid":1,"tid":2,"ts":25},
           {"ph":"s","cat":"c","name":"n","id":18446744073709551615,"pid":1,"tid":1,"ts":6}, {"ph":"f","bp":"e","cat":"c","name":"n","id":18446744073709551615,"pid":1,"tid":2,"ts":26}"#,
    );
    assert_eq!(
        store.lines("SELECT flow_id FROM flows ORDER BY src_ts_ns"),
        ["0xa", "18446744073709551615"]
    );
}

#[test]
fn halves_of_flows_are_counted() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":5}, {"ph":"f","bp":"e","cat":"c","name":"n","id":2,"pid":1,"tid":2,"ts":25},
           {"ph":"t","cat":"c","name":"n","id":3,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(store.ints("SELECT count(*) FROM flows"), [0]);
    assert_eq!(
        store.lines("SELECT code, severity, count, first_event_id FROM ingest_issues"),
        ["flow_half info 3 3"]
    );
}

#[test]
fn flows_without_id_are_counted() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","pid":1,"tid":1,"ts":5}, {"ph":"f","cat":"c","name":"n","id":null,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(store.issues(), ["flow_no_id 2"]);
}

#[test]
fn an_end_that_touches_no_event_leaves_its_side_null() {
    let store = slices(
        r#"{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":1,"ts":10}, {"ph":"f","bp":"e","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":25}"#,
    );
    assert_eq!(arrows(&store), ["- b 10000 25000"]);
    assert_eq!(store.issues(), ["flow_unbound 1"]);
}

#[test]
fn slices_with_a_bind_id_are_flows() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5,"bind_id":"0x7","flow_out":true},
           {"ph":"X","name":"b","pid":1,"tid":2,"ts":10,"dur":5,"bind_id":"0x7","flow_in":true,"flow_out":true},
           {"ph":"X","name":"c","pid":2,"tid":1,"ts":20,"dur":5,"bind_id":"0x7","flow_in":true}"#,
    );
    assert_eq!(arrows(&store), ["a b 0 10000", "b c 10000 20000"]);
    assert_eq!(store.lines("SELECT DISTINCT kind, flow_id FROM flows"), ["bind_id 0x7"]);
}

#[test]
fn forward_and_backward_operators_are_joined() {
    let store = elements(
        r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":5}, {"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":2,"ts":50,"dur":5},
           {"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":3,"pid":1,"tid":1,"ts":0}, {"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":3,"pid":1,"tid":2,"ts":50}"#,
    );
    assert_eq!(arrows(&store), ["aten::mm MmBackward0 0 50000"]);
}

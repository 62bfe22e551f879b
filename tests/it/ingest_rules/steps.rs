//! Steps: rows of `steps`, and the step of every other row.

use tracesql_ingest::IngestOptions;

use crate::support::{TestStore, elements};

/// Steps 3 (0 to 100 us) and 4 (100 to 200 us) on thread 1 of process 1, and these elements.
fn two_steps(more: &str) -> TestStore {
    elements(format!(
        r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":100}},
           {{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":1,"ts":100,"dur":100}}, {more}"#
    ))
}

fn steps_of(store: &TestStore) -> Vec<String> {
    store.lines("SELECT name, step FROM events WHERE cat IS DISTINCT FROM 'user_annotation' ORDER BY event_id")
}

#[test]
fn annotations_of_steps_are_rows() {
    let store = two_steps(r#"{"ph":"i","name":"x","pid":1,"tid":1,"ts":5}"#);
    assert_eq!(
        store.lines("SELECT step, name, event_id, start_ns, end_ns FROM steps"),
        ["3 ProfilerStep#3 0 0 100000", "4 ProfilerStep#4 1 100000 200000"]
    );
    assert_eq!(
        store.lines("SELECT t.pid, t.tid FROM steps JOIN tracks t USING (track_id)"),
        ["1 1", "1 1"]
    );
}

#[test]
fn names_of_steps() {
    let names = [
        "ProfilerStep#0",
        "ProfilerStep #1",
        "ProfilerStep#x",
        "ProfilerStep",
        "ProfilerStep#",
        "my ProfilerStep#2",
        "ProfilerStep#2 end",
    ];
    let element = |(i, name): (usize, &&str)| {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"{name}","pid":1,"tid":1,"ts":{},"dur":5}}"#,
            i * 10
        )
    };
    let store = elements(names.iter().enumerate().map(element).collect::<Vec<_>>().join(","));
    assert_eq!(
        store.lines("SELECT step, name FROM steps"),
        ["0 ProfilerStep#0", "1 ProfilerStep #1"]
    );
}

#[test]
fn steps_of_old_traces_are_operators() {
    for cat in ["cpu_op", "Operator"] {
        let store = elements(format!(
            r#"{{"ph":"X","cat":"{cat}","name":"ProfilerStep#1","pid":1,"tid":"2330004352","ts":1,"dur":5}}"#
        ));
        assert_eq!(store.lines("SELECT step FROM steps"), ["1"], "{cat}");
    }
    let store = elements(
        r#"{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":1,"dur":5}"#,
    );
    assert!(
        store.lines("SELECT step FROM steps").is_empty(),
        "on a device it is an echo of the host's"
    );
}

#[test]
fn host_rows_of_any_thread_have_the_step_at_their_start() {
    let store = two_steps(
        r#"{"ph":"X","name":"same thread","pid":1,"tid":1,"ts":5,"dur":1}, {"ph":"X","name":"other thread","pid":1,"tid":2,"ts":110,"dur":1},
           {"ph":"i","name":"instant","pid":1,"tid":2,"ts":99.999}, {"ph":"C","name":"counter","pid":1,"ts":50,"args":{"v":1}},
           {"ph":"X","name":"crosses","pid":1,"tid":3,"ts":90,"dur":50}"#,
    );
    assert_eq!(
        steps_of(&store),
        ["same thread 3", "other thread 4", "instant 3", "counter 3", "crosses 3"]
    );
}

#[test]
fn steps_are_half_open() {
    let store = two_steps(
        r#"{"ph":"i","name":"before","pid":1,"tid":2,"ts":-1}, {"ph":"i","name":"first","pid":1,"tid":2,"ts":0}, {"ph":"i","name":"border","pid":1,"tid":2,"ts":100},
           {"ph":"i","name":"end","pid":1,"tid":2,"ts":200}"#,
    );
    assert_eq!(steps_of(&store), ["before NULL", "first 3", "border 4", "end NULL"]);
}

#[test]
fn the_annotation_itself_is_in_its_step() {
    let store = two_steps(r#"{"ph":"i","name":"x","pid":1,"tid":1,"ts":5}"#);
    assert_eq!(
        store.lines("SELECT name, step FROM events WHERE cat = 'user_annotation' ORDER BY 1"),
        ["ProfilerStep#3 3", "ProfilerStep#4 4"]
    );
}

#[test]
fn other_processes_have_steps_of_their_own() {
    let store = two_steps(
        r#"{"ph":"X","name":"a","pid":2,"tid":1,"ts":5,"dur":1}, {"ph":"X","cat":"user_annotation","name":"ProfilerStep#8","pid":3,"tid":1,"ts":0,"dur":50},
           {"ph":"X","name":"b","pid":3,"tid":2,"ts":5,"dur":1}"#,
    );
    assert_eq!(steps_of(&store), ["a NULL", "b 8"]);
}

#[test]
fn of_overlapping_steps_the_one_that_started_last_holds() {
    let store = elements(
        r#"{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
           {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":2,"ts":40,"dur":20},
           {"ph":"i","name":"a","pid":1,"tid":3,"ts":30}, {"ph":"i","name":"b","pid":1,"tid":3,"ts":50}, {"ph":"i","name":"c","pid":1,"tid":3,"ts":70}"#,
    );
    assert_eq!(steps_of(&store), ["a 1", "b 2", "c 1"]);
}

#[test]
fn device_rows_have_the_step_of_their_launch() {
    let store = two_steps(
        r#"{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":90,"dur":5,"args":{"correlation":5}},
           {"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":150,"dur":5,"args":{"correlation":5}},
           {"ph":"X","cat":"kernel","name":"unlinked","pid":0,"tid":7,"ts":160,"dur":5,"args":{"correlation":6}},
           {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#3","pid":0,"tid":7,"ts":140,"dur":50}"#,
    );
    assert_eq!(
        steps_of(&store),
        ["cudaLaunchKernel 3", "late 3", "unlinked NULL", "ProfilerStep#3 NULL"]
    );
    assert_eq!(
        store.lines("SELECT name, step FROM kernels ORDER BY 1"),
        ["late 3", "unlinked NULL"]
    );
}

#[test]
fn metadata_has_no_step() {
    let store =
        two_steps(r#"{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}"#);
    assert_eq!(steps_of(&store), ["thread_name NULL"]);
}

#[test]
fn allocations_and_frees_are_rows_of_memory() {
    let store = two_steps(
        r#"{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":10,"args":{"Total Reserved":4096,"Total Allocated":1024,"Bytes":512,
             "Addr":139836,"Device Id":0,"Device Type":1}},
           {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":110,"args":{"Bytes":-512,"Addr":139836,"Device Id":-1,"Device Type":0}}"#,
    );
    assert_eq!(
        store.lines("SELECT event_id, ts_ns, action, addr, bytes, device_type, device, total_allocated_bytes, total_reserved_bytes, step FROM memory ORDER BY 1"),
        ["2 10000 alloc 139836 512 cuda 0 1024 4096 3", "3 110000 free 139836 -512 cpu -1 NULL NULL 4"]
    );
}

#[test]
fn memory_events_without_usable_bytes_are_counted() {
    let store = elements(
        r#"{"ph":"i","name":"[memory]","ts":1,"args":{"Bytes":"64","Addr":1}}, {"ph":"i","name":"[memory]","ts":2,"args":{"Addr":2,"Device Type":99}},
           {"ph":"i","name":"[memory]","ts":3,"args":{"Bytes":9223372036854775808}}"#,
    );
    assert_eq!(
        store.lines("SELECT bytes, action, device_type FROM memory ORDER BY ts_ns"),
        ["64 alloc NULL", "NULL NULL 99", "NULL NULL NULL"]
    );
    assert_eq!(store.issues(), ["memory_value 2"]);
    let example = "SELECT example FROM ingest_issues";
    assert_eq!(store.lines(example), [r#"{"Addr":2,"Device Type":99}"#]);
}

/// The steps of elements that are read with `--steps-from`, and the issues.
fn named(pattern: &str, list: &str) -> (Vec<String>, Vec<String>) {
    let store = TestStore::new();
    let path = store.folder.path().join("named.json");
    std::fs::write(&path, format!(r#"{{"traceEvents":[{list}]}}"#)).expect("written");
    let steps_from = Some(pattern.parse().expect("a pattern"));
    let options = IngestOptions { steps_from, ..IngestOptions::default() };
    store.ingest_with(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    (store.lines("SELECT step, name, event_id FROM steps"), store.issues())
}

#[test]
fn steps_have_names_of_the_users_choice() {
    let list = r#"
        {"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":300},
        {"ph":"X","cat":"user_annotation","name":"epoch 1 it 7","pid":1,"tid":1,"ts":0,"dur":100},
        {"ph":"B","cat":"user_annotation","name":"epoch 1 it 8","pid":1,"tid":1,"ts":100},
        {"ph":"E","pid":1,"tid":1,"ts":200},
        {"ph":"X","cat":"user_annotation","name":"epoch 2 it 7","pid":1,"tid":1,"ts":200,"dur":50},
        {"ph":"B","cat":"user_annotation","name":"epoch 2 it 8","pid":1,"tid":1,"ts":260},
        {"ph":"i","cat":"user_annotation","name":"epoch 2 it 9","pid":1,"tid":1,"ts":270},
        {"ph":"X","cat":"gpu_user_annotation","name":"epoch 1 it 7","pid":0,"tid":7,"ts":5,"dur":50}"#;
    // Numbers of the name; ranges without an end and marks are no steps.
    let (steps, _) = named(r"epoch 1 it \d+", list);
    assert_eq!(steps, ["7 epoch 1 it 7 1", "8 epoch 1 it 8 2"]);
    let (steps, _) = named(r"epoch (\d+) it 7", list);
    assert_eq!(steps, ["1 epoch 1 it 7 1", "2 epoch 2 it 7 4"]);
    // A number that a track has twice is no number of a step.
    let (steps, _) = named(r"epoch \d+ it \d+", list);
    assert_eq!(steps, ["0 epoch 1 it 7 1", "1 epoch 1 it 8 2", "2 epoch 2 it 7 4"]);
    // The whole name must match. Otherwise the trace keeps its steps, and says so.
    let (steps, issues) = named("epoch 1", list);
    assert_eq!(steps, ["3 ProfilerStep#3 0"]);
    assert!(issues.contains(&"no_named_step 1".to_owned()), "{issues:?}");
}

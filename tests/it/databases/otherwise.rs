//! The same files as other programs copy or export them, and with a damaged schema.

use serde_json::Value;

use super::{lines_of, links, made};
use tracesql_ingest::IngestOptions;

use crate::support::TestStore;

/// Tools for tables copy a database without its keys.
#[test]
fn a_copy_without_keys_has_the_same_rows() {
    let (store, _) = TestStore::with(&made("rocpd_copied.db"));
    let mut want = lines_of(&made("rocpd.truth.tsv"));
    want.sort();
    assert_eq!(links(&store, "k.step"), want);
    let (known, _) = TestStore::with(&made("rocpd.db"));
    // The text of one mark differs.
    let names = "SELECT name, count(*), sum(dur_ns) FROM events \
        WHERE cat NOT IN ('pmc', 'user_annotation') GROUP BY name ORDER BY name";
    assert_eq!(store.lines(names), known.lines(names));
}

#[test]
fn counters_have_the_time_of_their_sample_or_region() {
    let (store, _) = TestStore::with(&made("rocpd_copied.db"));
    let values = "SELECT c.value, e.name, c.ts_ns - e.ts_ns FROM counters c \
        JOIN events e ON e.ts_ns = c.ts_ns AND e.ph IN ('i', 'X') \
        WHERE c.value > 70 ORDER BY c.value";
    let found = store.lines(values);
    assert_eq!(found[0], "71.5 epoch 1 begins 0", "the text of the mark is its name");
    assert!(found[1].starts_with("72.5 "), "{found:?}");
    let (known, _) = TestStore::with(&made("rocpd.db"));
    let mut issues = known.issues();
    issues.push("no_timestamp 1".to_owned());
    issues.sort();
    assert_eq!(store.issues(), issues, "only the counter of an event that is not there");
}

/// With `--ts-normalize`, times are Unix times.
#[test]
fn exports_with_other_clocks_odd_tables_and_texts_are_read() {
    let (store, _) = TestStore::with(&made("nsys_exported.sqlite"));
    assert_eq!(store.lines("SELECT base_time_ns FROM traces"), ["-5000"]);
    let (known, _) = TestStore::with(&made("nsys.sqlite"));
    let mut issues = known.issues();
    issues.extend(["invalid_utf8 1", "unread_table 1"].map(str::to_owned));
    issues.sort();
    assert_eq!(store.issues(), issues);
    assert_eq!(
        store.lines("SELECT example FROM ingest_issues WHERE code = 'unread_table'"),
        ["CUDNN_EVENTS"]
    );
}

/// Both processes of the export number their device 0.
#[test]
fn devices_of_processes_without_a_table_of_devices_are_named() {
    let mut bytes = std::fs::read(made("nsys.sqlite")).expect("a file");
    let table = b"TARGET_INFO_CUDA_DEVICE";
    let is_name = |(_, part): &(usize, &[u8])| part == table;
    let places = bytes.windows(table.len()).enumerate().filter(is_name).map(|(at, _)| at);
    let places: Vec<usize> = places.collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + table.len()].copy_from_slice(b"TARGET_INFO_CUDA_OTHERS");
    }
    let store = TestStore::new();
    let path = store.folder.path().join("devices.sqlite");
    std::fs::write(&path, bytes).expect("a file");
    store.ingest(&path).unwrap_or_else(|e| panic!("{e}"));
    let shared = "SELECT code, count, example FROM ingest_issues WHERE code = 'shared_device'";
    assert_eq!(store.lines(shared), ["shared_device 1 device 0"]);
    let (known, _) = TestStore::with(&made("nsys.sqlite"));
    assert_eq!(known.lines(shared), [""; 0], "the table says that it is one GPU");
}

/// SQLite calls such a schema malformed. Without the entry, the kernels would be missing.
#[test]
fn a_damaged_schema_is_refused() {
    let mut bytes = std::fs::read(made("nsys.sqlite")).expect("a file");
    let entry = b"tableCUPTI_ACTIVITY_KIND_KERNEL";
    let at = bytes.windows(entry.len()).position(|part| part == entry).expect("the entry");
    bytes[at + 1] ^= 1;
    let store = TestStore::new();
    let path = store.folder.path().join("damaged.sqlite");
    std::fs::write(&path, bytes).expect("a file");
    let error = store.ingest(&path).expect_err("refused").to_string();
    assert!(error.contains("damaged SQLite database: entry"), "{error}");
}

/// Keys of JSON have no order, and tools sort them.
#[test]
fn rocprofv3_json_may_have_its_keys_in_any_order() {
    let text = std::fs::read_to_string(made("rocprofv3.json")).expect("a file");
    let tree: Value = serde_json::from_str(&text).expect("JSON");
    let store = TestStore::new();
    let path = store.folder.path().join("sorted.json");
    // Maps are sorted, unless the crate keeps their order.
    let sorted = serde_json::to_string(&sort(&tree)).expect("JSON");
    assert!(sorted.find("buffer_records") < sorted.find("kernel_symbols"));
    std::fs::write(&path, sorted).expect("a file");
    store.ingest(&path).expect("a trace");
    let (known, _) = TestStore::with(&made("rocprofv3.json"));
    let rows = "SELECT ts_ns, dur_ns, name, cat FROM events ORDER BY 1, 2, 3, 4";
    assert_eq!(store.lines(rows), known.lines(rows));
    assert_eq!(links(&store, "k.step"), links(&known, "k.step"));
    assert_eq!(store.issues(), known.issues());
}

fn sort(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            sorted.into_iter().map(|(key, value)| (key.clone(), sort(value))).collect()
        }
        Value::Array(items) => items.iter().map(sort).collect(),
        other => other.clone(),
    }
}

/// Each process counts its own steps if their names have no number.
#[test]
fn ranges_with_a_name_of_the_users_choice_are_steps() {
    let store = TestStore::new();
    let options = IngestOptions {
        steps_from: Some("forward".parse().expect("a pattern")),
        ..Default::default()
    };
    store.ingest_with(&made("nsys.sqlite"), &options).unwrap_or_else(|e| panic!("{e}"));
    let steps = "SELECT t.pid, s.step, s.name, s.start_ns FROM steps s \
        JOIN tracks t ON t.track_id = s.track_id ORDER BY s.start_ns";
    assert_eq!(
        store.lines(steps),
        [
            "101 0 forward 1510000",
            "202 0 forward 1547000",
            "101 1 forward 2010000",
            "202 1 forward 2047000"
        ]
    );
}

//! Small traces of Perfetto, written field by field.

use crate::support::TestStore;

/// A field of a message of protobuf: a number, or the bytes of a message or a text.
pub enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

pub fn message(fields: &[(u64, Value)]) -> Value {
    fn varint(bytes: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    let mut bytes = Vec::new();
    for (number, value) in fields {
        match value {
            Value::Number(value) => {
                varint(&mut bytes, number << 3);
                varint(&mut bytes, *value);
            }
            Value::Bytes(value) => {
                varint(&mut bytes, number << 3 | 2);
                varint(&mut bytes, value.len() as u64);
                bytes.extend_from_slice(value);
            }
        }
    }
    Value::Bytes(bytes)
}

fn perfetto(packets: Vec<Value>) -> TestStore {
    written(&packets.into_iter().map(|packet| (1, packet)).collect::<Vec<_>>())
}

fn written(fields: &[(u64, Value)]) -> TestStore {
    let Value::Bytes(bytes) = message(fields) else { unreachable!("a message is bytes") };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.pftrace");
    std::fs::write(&path, bytes).expect("a file");
    TestStore::with(&path).0
}

/// A track with a counter whose values are differences.
fn incremental_counter() -> Value {
    let counter = message(&[(5, Value::Number(1))]);
    let name = Value::Bytes(b"bytes".to_vec());
    let track = message(&[(1, Value::Number(7)), (2, name), (8, counter)]);
    message(&[(60, track), (10, Value::Number(1)), (13, Value::Number(1))])
}

#[test]
fn sums_of_differences_begin_again_where_the_state_is_cleared() {
    let value = |ts: u64, value: u64, flags: u64| {
        let event =
            message(&[(9, Value::Number(4)), (11, Value::Number(7)), (30, Value::Number(value))]);
        let fields = [(8, ts), (10, 1), (13, flags)].map(|(n, v)| (n, Value::Number(v)));
        message(&fields.into_iter().chain([(11, event)]).collect::<Vec<_>>())
    };
    let values = [(10, 5, 0), (20, 5, 0), (30, 3, 1), (40, 4, 0)];
    let values = values.map(|(ts, number, flags)| value(ts, number, flags));
    let store = perfetto([incremental_counter()].into_iter().chain(values).collect());
    let sums = store.lines("SELECT ts_ns, value::BIGINT FROM counters ORDER BY ts_ns");
    assert_eq!(sums, ["10 5", "20 10", "30 3", "40 7"]);
}

#[test]
fn events_without_a_time_are_skipped_and_counted() {
    let event = |number: u64, fields: Vec<(u64, Value)>| {
        let event = message(&[(9, Value::Number(3)), (11, Value::Number(number))]);
        let own = [(10, Value::Number(1)), (11, event)];
        message(&fields.into_iter().chain(own).collect::<Vec<_>>())
    };
    let store = perfetto(vec![
        event(1, vec![(8, Value::Number(30))]),
        event(1, vec![]),
        event(1, vec![(8, Value::Number(1 << 63))]),
    ]);
    assert_eq!(store.lines("SELECT ts_ns FROM events"), ["30"]);
    let issues = store.lines(
        "SELECT code, \"count\" FROM ingest_issues WHERE code LIKE '%timestamp%' ORDER BY code",
    );
    assert_eq!(issues, ["no_timestamp 1", "timestamp_out_of_range 1"]);
    assert_eq!(store.value("SELECT skipped_count FROM traces"), "2");
}

#[test]
fn the_numbers_of_fields_that_are_not_read_are_listed() {
    let text = || Value::Bytes(b"x".to_vec());
    let event = message(&[(9, Value::Number(3)), (11, Value::Number(1)), (9_000, text())]);
    let packet = message(&[(8, Value::Number(30)), (10, Value::Number(1)), (11, event)]);
    let store = written(&[(1, packet), (7, text()), (7, text())]);
    let sql = "SELECT count, split_part(detail, 'their numbers. ', 2) FROM ingest_issues \
        WHERE code = 'unknown_field'";
    assert_eq!(store.lines(sql), ["3 trace: 7: 2; track events: 9000: 1"]);
}

/// Perfetto's trace processor takes a second track of the same ids as another thread.
#[test]
fn threads_whose_ids_are_used_again_keep_their_names() {
    let track = |uuid: u64, name: &str| {
        let name = Value::Bytes(name.as_bytes().to_vec());
        let thread = message(&[(1, Value::Number(1)), (2, Value::Number(2)), (5, name)]);
        let track = message(&[(1, Value::Number(uuid)), (4, thread)]);
        message(&[(60, track), (10, Value::Number(1)), (13, Value::Number(1))])
    };
    let event = |uuid: u64, ts: u64| {
        let event = message(&[(9, Value::Number(3)), (11, Value::Number(uuid))]);
        message(&[(8, Value::Number(ts)), (10, Value::Number(1)), (11, event)])
    };
    let named = ["10 worker A", "20 worker B"];
    let sql = "SELECT e.ts_ns, t.thread_name FROM events e JOIN tracks t USING (track_id) \
        ORDER BY e.ts_ns";
    let (one, two) = (|| track(11, "worker A"), || track(12, "worker B"));
    assert_eq!(perfetto(vec![one(), event(11, 10), two(), event(12, 20)]).lines(sql), named);
    assert_eq!(perfetto(vec![one(), two(), event(11, 10), event(12, 20)]).lines(sql), named);
}

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
    let fields: Vec<(u64, Value)> = packets.into_iter().map(|packet| (1, packet)).collect();
    let Value::Bytes(bytes) = message(&fields) else { unreachable!("a message is bytes") };
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

//! Reads pictures of the timeline in their binary format.

use serde_json::{Value, json};

/// The columns of 64-bit times, then those of 32-bit numbers; the flag is whether a column has a
/// number for each event with a duration.
const TIMES: [(&str, bool); 3] = [("start", true), ("end", true), ("at", false)];
const NUMBERS: [(&str, bool); 7] = [
    ("lane", true),
    ("id", true),
    ("name", true),
    ("count", true),
    ("at_id", false),
    ("at_name", false),
    ("at_count", false),
];

/// The picture as it is in JSON. Panics if a column is cut, or if bytes are left.
pub fn read(bytes: &[u8]) -> Value {
    let mut at = 0;
    let mut take = |count: usize| {
        let part = &bytes[at..at + count];
        at += count;
        part
    };
    let length = u32::from_le_bytes(take(4).try_into().expect("four bytes")) as usize;
    take(4);
    let mut picture: Value = serde_json::from_slice(take(length)).expect("JSON");
    let mut end = 8 + length;
    for track in picture["tracks"].as_array_mut().expect("tracks") {
        let track = track.as_object_mut().expect("a track");
        let mut count = |key: &str| {
            let count = track.remove(key).and_then(|count| count.as_u64()).expect("a count");
            usize::try_from(count).expect("a count")
        };
        let (spans, instants) = (count("spans"), count("instants"));
        let of = |is_span: bool| if is_span { spans } else { instants };
        take(end.next_multiple_of(8) - end);
        for (name, is_span) in TIMES {
            let times = take(8 * of(is_span)).chunks_exact(8);
            let time = |time: &[u8]| f64::from_le_bytes(time.try_into().expect("eight bytes"));
            let times: Vec<i64> = times.map(|bytes| time(bytes) as i64).collect();
            track.insert(name.to_owned(), json!(times));
        }
        for (name, is_span) in NUMBERS {
            let numbers = take(4 * of(is_span)).chunks_exact(4);
            let number = |number: &[u8]| u32::from_le_bytes(number.try_into().expect("four bytes"));
            let numbers: Vec<u32> = numbers.map(number).collect();
            track.insert(name.to_owned(), json!(numbers));
        }
        end = 32 * spans + 20 * instants;
    }
    assert_eq!(at, bytes.len(), "bytes are left");
    picture
}

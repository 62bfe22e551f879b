//! Whole inputs: each input is either refused, or stored so that every element is counted and every
//! page is readable.

use std::path::Path;

use tracesql_ingest::{IngestOptions, Progress, Store, examine, expand, ingest};

/// Checks any bytes as an input.
pub fn input(data: &[u8]) {
    store(data);
}

/// Checks the blobs of a perf.json: memory blobs up to the first line end, then operator blobs.
pub fn perf(data: &[u8]) {
    let half = data.iter().position(|&b| b == b'\n').unwrap_or(data.len());
    let (memory, operators) = data.split_at(half);
    store(&[b"{\"memory_blobs\":[", memory, b"],\"op_blobs\":[", operators, b"]}"].concat());
}

/// Checks the opcodes of a pickle: they come after the opcode that states the protocol.
pub fn snapshot(data: &[u8]) {
    store(&[b"\x80\x04", data].concat());
}

/// Checks the bytes of an SQLite database after those that begin every database.
pub fn database(data: &[u8]) {
    store(&[b"SQLite format 3\0", data].concat());
}

/// Checks the fields of a plane of an XPlane file: they come after its number and name.
pub fn xplane(data: &[u8]) {
    let plane = [b"\x08\x01\x12\x0d/device:TPU:0", data].concat();
    store(&message(1, &plane));
}

/// Checks the packets of a Perfetto trace: they come after a packet that starts a sequence.
pub fn perfetto(data: &[u8]) {
    store(&[&message(1, b"\x08\x01\x50\x07\x68\x01")[..], data].concat());
}

/// Checks any bytes as a file beside a trace; the seeds are such files.
pub fn beside(data: &[u8]) {
    store(data);
}

/// A field of a protobuf message that holds a message.
fn message(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut len = bytes.len();
    while len > 0x7f {
        out.push(len as u8 & 0x7f | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(bytes);
    out
}

fn store(data: &[u8]) {
    // The folder is in memory where possible, because each run writes a file for each table.
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }
        .expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, data).expect("a file");
    let Ok(inputs) = expand(&[path.display().to_string()]) else { return };
    let store = Store::open_or_create(&folder.path().join("store")).expect("a store");
    let options = IngestOptions { threads: 1, memory_limit: 200 << 20, ..IngestOptions::default() };
    for input in inputs.iter().take(4) {
        let Ok(outcome) = ingest(input, &store, &options, &Progress::default()) else { continue };
        if !outcome.was_there {
            let skipped = outcome
                .issues
                .iter()
                .filter(|(code, _)| code.skips())
                .map(|(_, issue)| issue.count)
                .sum::<u64>();
            assert_eq!(outcome.manifest.rows("events") + skipped, outcome.manifest.element_count);
            if let Some(elements) = events(data) {
                assert_eq!(outcome.manifest.element_count, elements);
            }
        }
    }
    let found = examine(store.root()).expect("the store can be read");
    assert!(found.is_sound(), "{:?}", found.problems);
}

/// Returns the number of events that another parser finds. The result is `None` if the text is not
/// JSON, or if the key of the events is missing or occurs twice.
fn events(data: &[u8]) -> Option<u64> {
    let list = match serde_json::from_slice(data).ok()? {
        // Lists of lists are memory timelines.
        serde_json::Value::Array(list) if list.iter().any(serde_json::Value::is_array) => {
            return None;
        }
        serde_json::Value::Array(list) => list,
        serde_json::Value::Object(mut top) => {
            let key = b"traceEvents";
            if data.windows(key.len()).filter(|w| w == key).count() != 1 {
                return None;
            }
            match top.remove("traceEvents")? {
                serde_json::Value::Array(list) => list,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(list.len() as u64)
}

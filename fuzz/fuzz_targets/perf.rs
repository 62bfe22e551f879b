//! Blobs of a perf.json.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesql_fuzz_store::store;

#[path = "../store.rs"]
mod tracesql_fuzz_store;

fuzz_target!(|data: &[u8]| {
    let half = data.iter().position(|&b| b == b'\n').unwrap_or(data.len());
    let (memory, operators) = data.split_at(half);
    store(&[b"{\"memory_blobs\":[", memory, b"],\"op_blobs\":[", operators, b"]}"].concat());
});

//! Traces that tests make.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The number of events of a [`random_trace`].
pub const RANDOM_EVENTS: usize = 2_000;

/// Writes a trace of [`RANDOM_EVENTS`] slices, as [`trace_of`] does. Traces of different numbers
/// have different bytes.
pub fn random_trace(folder: &Path, number: u64) -> PathBuf {
    trace_of(folder, &format!("random{number}.json"), RANDOM_EVENTS)
}

/// Writes a trace whose events are an object of their own in a store on object storage.
pub fn large_trace(folder: &Path, name: &str) -> PathBuf {
    trace_of(folder, name, 2_500)
}

/// Writes a trace of slices with arguments that cannot be compressed well. Traces of different
/// names have different bytes. 500 events or more are an object of their own.
pub fn trace_of(folder: &Path, name: &str, events: usize) -> PathBuf {
    let mut state = name
        .bytes()
        .fold(1_u64, |state, byte| state.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut text = String::from(r#"{"schemaVersion":1,"traceEvents":["#);
    for i in 0..events {
        let comma = if i == 0 { "" } else { "," };
        let start = i * 10;
        write!(
            text,
            r#"{comma}{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{start},"dur":2,"args":{{"x":""#,
        )
        .expect("a text");
        for _ in 0..24 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            write!(text, "{:012x}", state >> 16).expect("a text");
        }
        text.push_str("\"}}");
    }
    text.push_str("]}");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a trace");
    path
}

/// Writes `count` small traces of different sizes, `rank0.json` and so on, into a folder.
pub fn ranks(folder: &Path, count: usize) -> Vec<PathBuf> {
    std::fs::create_dir_all(folder).expect("a folder");
    let write = |rank: usize| {
        let path = folder.join(format!("rank{rank}.json"));
        let events = 20 + 37 * (rank % 5);
        std::fs::write(&path, super::small_trace(rank, events)).expect("a trace");
        path
    };
    (0..count).map(write).collect()
}

//! Paths, programs and servers that tests share.
#![allow(dead_code, unused_imports, reason = "each area uses a part of it")]

pub mod calls;
pub mod child;
pub mod moto;
#[path = "../../../../tests/it/support/needs.rs"]
pub mod needs;
pub mod program;
pub mod tools;
pub mod traces;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use child::{Child, free_port};
pub use moto::{Bucket, Moto};
pub use program::{Finished, Program};

/// The root folder of the repository.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.canonicalize().expect("the repository")
    });
    &ROOT
}

/// The path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures").join(name)
}

/// A small trace with `events` slices. Traces of different numbers have different bytes.
pub fn small_trace(number: usize, events: usize) -> Vec<u8> {
    let slices: Vec<String> = (0..events)
        .map(|i| {
            let name = ["aten::mm", "aten::add", "aten::copy_"][i % 3];
            format!(
                r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":{pid},"tid":1,"ts":{ts},"dur":2.5}}"#,
                pid = 1000 + number,
                ts = 10 * i + number,
            )
        })
        .collect();
    format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{number},"world_size":64}},"traceEvents":[{}]}}"#,
        slices.join(",\n")
    )
    .into_bytes()
}

#[test]
fn small_traces_are_json_and_differ() {
    let trace = small_trace(3, 4);
    let value: serde_json::Value = serde_json::from_slice(&trace).expect("JSON");
    assert_eq!(value["traceEvents"].as_array().map(Vec::len), Some(4));
    assert_ne!(trace, small_trace(4, 4));
}

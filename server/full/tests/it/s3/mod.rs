//! Stores on object storage: an S3 server on loopback, and `file://` URLs.

mod access;
mod damage;
mod faults;
mod housekeeping;
mod proxy;
mod requests;
mod round_trip;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::{Bucket, Finished, Program};

/// A call of the program on a bucket.
fn call(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> Finished {
    Program::new(folder).envs(bucket.environment()).args(arguments).run()
}

/// Standard output of a call on a bucket that must succeed.
#[track_caller]
fn done(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> String {
    call(folder, bucket, arguments).success()
}

/// A trace whose events are an object of their own.
fn large_trace(folder: &Path, name: &str) -> PathBuf {
    trace_of(folder, name, 2_500)
}

/// A trace with events whose arguments cannot be compressed well.
fn trace_of(folder: &Path, name: &str, events: usize) -> PathBuf {
    let mut state = name.bytes().fold(1_u64, |state, byte| state * 31 + u64::from(byte));
    let mut text = String::from(r#"{"schemaVersion":1,"traceEvents":["#);
    for i in 0..events {
        if i > 0 {
            text.push(',');
        }
        write!(
            text,
            r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{},"dur":2,"args":{{"x":""#,
            i * 10
        )
        .expect("a text");
        for _ in 0..16 {
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

/// A path as an argument.
fn text(path: &Path) -> &str {
    path.to_str().expect("a text")
}

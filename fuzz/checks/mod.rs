//! What must hold whatever bytes are given: one function for each fuzzer, which panics if it does
//! not.
//!
//! The fuzzers of this folder's workspace call them, and so does a test of the project
//! (`tests/it/fuzz.rs`), which needs neither a fuzzer nor a sanitizer.

mod elements;
mod json;
mod names;
mod profile;
mod stacks;
mod store;
mod times;

pub use elements::{decode, framing};
pub use json::json;
pub use names::names;
pub use stacks::stacks;
pub use store::{input, perf};
pub use times::times;

/// A check of any bytes.
pub type Check = fn(&[u8]);

/// All checks, by the names of their fuzzers.
#[allow(dead_code, reason = "fuzzers name the check that they run")]
pub const CHECKS: [(&str, Check); 8] = [
    ("framing", framing),
    ("decode", decode),
    ("times", times),
    ("json", json),
    ("names", names),
    ("stacks", stacks),
    ("input", input),
    ("perf", perf),
];

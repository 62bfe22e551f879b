//! Properties that must hold for any bytes: one function for each fuzzer, which panics where its
//! property does not hold.
//!
//! The fuzzers of this folder's workspace call them. `tests/it/fuzz.rs` calls them too, without a
//! fuzzer or a sanitizer.

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

/// All checks, by the name of the fuzzer.
#[allow(dead_code, reason = "each fuzzer names its own check")]
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

//! Properties that must hold for any bytes. There is one function per fuzzer, and it panics if its
//! property does not hold.
//!
//! The fuzzers of this folder's workspace call these functions. `tests/it/fuzz.rs` calls them too,
//! without a fuzzer or a sanitizer.

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
pub use store::{beside, database, input, perf, perfetto, snapshot, xplane};
pub use times::times;

/// A check that accepts any bytes.
pub type Check = fn(&[u8]);

/// All checks, with the name of the fuzzer.
#[allow(dead_code, reason = "each fuzzer names its own check")]
pub const CHECKS: [(&str, Check); 13] = [
    ("framing", framing),
    ("decode", decode),
    ("times", times),
    ("json", json),
    ("names", names),
    ("stacks", stacks),
    ("input", input),
    ("perf", perf),
    ("snapshot", snapshot),
    ("database", database),
    ("xplane", xplane),
    ("perfetto", perfetto),
    ("beside", beside),
];

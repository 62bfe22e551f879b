//! Events in any bytes: decoded, paired, sorted, nested.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesql_ingest::internals::{decode, nest};

fuzz_target!(|data: &[u8]| {
    let decoded = decode(data);
    // Nothing is spilled, so the folder is not used.
    let rows = nest(&decoded, std::path::Path::new("/nonexistent")).expect("nesting needs no disk");
    assert!(rows <= decoded.elements);
});

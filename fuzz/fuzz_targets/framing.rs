//! Where elements begin and end, in any bytes: reading ends, and never beyond the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesql_ingest::internals::{decode, frame};

fuzz_target!(|data: &[u8]| {
    let framed = frame(data);
    assert!(framed <= data.len());
    assert!(decode(data).elements <= data.len());
});

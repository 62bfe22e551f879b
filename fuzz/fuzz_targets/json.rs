//! What JSON does not allow is mended: whatever is written parses, and writing it again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesql_ingest::internals::{Oddities, args_json, compact_value};

fuzz_target!(|data: &[u8]| {
    // As reading hands values on: whole, in one of the forms that the cursor steps over.
    for json in args_json(data) {
        let value: serde_json::Value = match serde_json::from_slice(&json) {
            Ok(value) => value,
            // That parser stops at 128 levels, reading at 512.
            Err(e) if e.to_string().contains("recursion limit") => return,
            Err(e) if e.to_string().contains("number out of range") => return,
            Err(e) => panic!("{e}: {}", String::from_utf8_lossy(&json)),
        };
        let _ = value;
        let (mut again, mut odd) = (Vec::new(), Oddities::default());
        compact_value(&json, &mut again, &mut odd);
        assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&json));
    }
});

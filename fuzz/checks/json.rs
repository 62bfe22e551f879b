//! What JSON does not allow is mended.

use tracesql_ingest::internals::{Oddities, args_json, compact_value, copy_members};

/// Whatever args are written parse, and writing them again changes nothing.
pub fn json(text: &[u8]) {
    // A file that was changed since it was stepped over may hold anything.
    for any in [[b"{", text].concat(), text.to_vec()] {
        copy_members(&any, &mut Vec::new(), &mut Oddities::default(), |_, _, _| {});
        compact_value(&any, &mut Vec::new(), &mut Oddities::default());
    }
    // As reading hands values on: whole, in one of the forms that the cursor steps over.
    for json in args_json(text) {
        match serde_json::from_slice::<serde_json::Value>(&json) {
            Ok(_) => {}
            // That parser stops at 128 levels, reading at 512; and it keeps no numbers beyond those
            // of a processor.
            Err(e)
                if e.to_string().contains("recursion limit")
                    || e.to_string().contains("number out of range") => {}
            Err(e) => panic!("{e}: {}", String::from_utf8_lossy(&json)),
        }
        let (mut again, mut odd) = (Vec::new(), Oddities::default());
        compact_value(&json, &mut again, &mut odd);
        assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&json));
    }
}

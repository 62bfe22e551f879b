//! Checks the repair of text that JSON does not allow.

use tracesql_ingest::internals::{Oddities, args_json, compact_value, copy_members};

/// All args that are written can be parsed, and writing them again changes nothing.
pub fn json(text: &[u8]) {
    // A file may change between the two readings, so the second reading can meet any bytes.
    for any in [[b"{", text].concat(), text.to_vec()] {
        copy_members(&any, &mut Vec::new(), &mut Oddities::default(), |_, _, _| {});
        compact_value(&any, &mut Vec::new(), &mut Oddities::default());
    }
    // Values as the reader passes them on: complete, and in one of the forms that the cursor skips.
    let all = args_json(text, true);
    assert_eq!(all, args_json(text, false), "earlier args change later ones");
    for json in all {
        match serde_json::from_slice::<serde_json::Value>(&json) {
            Ok(_) => {}
            // The other parser stops at 128 levels, ours at 512, and it does not accept numbers
            // beyond 64 bits.
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

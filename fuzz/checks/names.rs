//! Names of kernels and operators.

use tracesql_udfs::names::{Rules, demangle, short_name};

/// A name is shortened to one that cannot be shortened further and is never empty; rules are read or refused.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.starts_with("ruleset,") {
        let _ = Rules::parse(&text);
        return;
    }
    let _ = demangle(&text);
    let short = short_name(&text);
    assert_eq!(short.is_empty(), text.trim().is_empty(), "{text:?} is shortened to {short:?}");
    assert_eq!(short_name(&short), short, "the short name of {text:?}");
}

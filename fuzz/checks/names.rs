//! Names of kernels and operators.

use tracesql_udfs::names::{Rules, demangle, short_name};

/// A name is shortened to one that cannot be shortened further and is never empty; what a mangled
/// name stands for is not longer than it may be; rules are read or refused. Fuzzers find names that
/// take long by their own limit of time.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.starts_with("ruleset,") {
        let _ = Rules::parse(&text);
        return;
    }
    // Random bytes seldom begin like a mangled name, and then mostly fail at its first letters.
    for name in [
        text.to_string(),
        format!("_Z1f{text}"),
        format!("_Z1fIX{text}EEvv"),
        format!("_ZN1a{text}E"),
    ] {
        assert!(demangle(&name).is_none_or(|full| full.len() <= 1 << 16), "{name:?}");
        let short = short_name(&name);
        assert_eq!(short.is_empty(), name.trim().is_empty(), "{name:?} is shortened to {short:?}");
        assert_eq!(short_name(&short), short, "the short name of {name:?}");
    }
}

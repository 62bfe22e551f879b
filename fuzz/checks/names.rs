//! Checks of the names of kernels and operators.

use tracesql_formats::names::{demangle, plain, short_name};

/// A short name cannot be shortened further, and it is empty only if the name is empty. The
/// demangled form and the plain form stay within their bounds. The fuzzer's own time limit finds
/// names that take too long.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // Random bytes rarely start like a mangled name, and when they do, parsing mostly fails at the
    // first letters.
    for name in [
        text.to_string(),
        format!("_Z1f{text}"),
        format!("_Z1fIX{text}EEvv"),
        format!("_ZN1a{text}E"),
    ] {
        assert!(demangle(&name).is_none_or(|full| full.len() <= 1 << 16), "{name:?}");
        assert!(plain(&name).len() <= 4096, "{name:?}");
        let short = short_name(&name);
        assert_eq!(short.is_empty(), name.trim().is_empty(), "{name:?} is shortened to {short:?}");
        assert_eq!(short_name(&short), short, "the short name of {name:?}");
    }
}

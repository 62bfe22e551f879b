//! Patterns in which `*` stands for any text.

/// Whether a whole text matches a pattern. Upper and lower case differ.
///
/// Each part between two stars is matched at its first occurrence, so the time is bounded by the
/// product of both lengths, however many stars there are.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "x"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*b*c", "aXbYc"),
            ("é*", "éa"),
            ("format*", "format_ns"),
            ("*_ns", "format_ns"),
            ("f*t*s", "format_ns"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a*", "ba"), ("a", "ab"), ("*b", "abc"), ("ab*b", "ab"), ("a*bc*c", "abc")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}

//! A frame's text in the folded format, which has no escapes.

use std::borrow::Cow;

/// A frame as the folded format can hold it.
pub fn fold_frame(frame: &str) -> Cow<'_, str> {
    let held = |c: char| match c {
        ';' => ':',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    match frame {
        "" => Cow::Borrowed("(empty)"),
        _ if frame.chars().any(|c| held(c) != c) => Cow::Owned(frame.chars().map(held).collect()),
        _ => Cow::Borrowed(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_fit_a_line() {
        assert_eq!(fold_frame("aten::mm (f32, 3)"), "aten::mm (f32, 3)");
        assert_eq!(fold_frame("a;b\nc\0d\u{85}"), "a:b\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(fold_frame(""), "(empty)");
        assert!(matches!(fold_frame("x"), Cow::Borrowed(_)));
    }
}

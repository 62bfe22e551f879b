//! Folded stacks: one line per stack, `root;…;leaf value`. The format has no escapes.

use std::borrow::Cow;
use std::fmt::Write;

use crate::error::Result;
use crate::measure::{position, stacks_of};
use crate::pprof::Builder;

/// Writes the stacks that have a value, sorted, one per line. If the profile is `compared` with a
/// base, each line has two values, the base's first.
///
/// # Errors
///
/// Fails if the profile has no measure with this name.
pub fn folded(profile: &Builder, measure_name: Option<&str>, compared: bool) -> Result<String> {
    let mut lines = String::new();
    for stack in stacks_of(profile, position(profile, measure_name)?, compared, |frame| {
        fold_frame(profile.frames().shown(frame)).into_owned()
    }) {
        let stack_text = stack.frames.join(";");
        // Writing to a `String` cannot fail.
        let _ = match (compared, stack.base, stack.value) {
            (true, 0, 0) | (false, _, 0) => Ok(()),
            (true, base, value) => writeln!(lines, "{stack_text} {base} {value}"),
            (false, _, value) => writeln!(lines, "{stack_text} {value}"),
        };
    }
    Ok(lines)
}

/// Converts a frame to a form that the folded format can hold: `;` becomes `:`, a control character
/// becomes `\u{fffd}`, and an empty frame becomes `(empty)`.
pub fn fold_frame(frame: &str) -> Cow<'_, str> {
    let written = |c: char| match c {
        ';' => ':',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    match frame {
        "" => Cow::Borrowed("(empty)"),
        _ if frame.chars().any(|c| written(c) != c) => {
            Cow::Owned(frame.chars().map(written).collect())
        }
        _ => Cow::Borrowed(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_fits_into_a_line() {
        assert_eq!(fold_frame("aten::mm (f32, 3)"), "aten::mm (f32, 3)");
        assert_eq!(fold_frame("a;b\nc\0d\u{85}"), "a:b\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(fold_frame(""), "(empty)");
        assert!(matches!(fold_frame("x"), Cow::Borrowed(_)));
    }
}

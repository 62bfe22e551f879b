//! Flame graphs as SVG.

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options, TextTruncateDirection};

use crate::error::{Error, Result};
use crate::folded::fold_frame;
use crate::measure::{position, stacks_of};
use crate::pprof::Builder;

/// Maximum number of characters of a frame. Longer names are cut, because a browser shows the whole
/// name as one tooltip.
const MAX_FRAME_CHARS: usize = 500;
/// The name for a stack without frames, which would not be drawn otherwise.
const NO_FRAMES: &str = "(no frames)";

/// A no-break space. It looks like a space, but the line format does not split at it.
const NO_BREAK: &str = "\u{a0}";

/// The direction in which stacks grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// Downwards, with the root at the top.
    #[default]
    Icicle,
    /// Upwards, with the root at the bottom.
    Flame,
}

/// Draws a flame graph of one measure as SVG. Without a name, the measure is the first one in
/// nanoseconds. If the profile is `compared` with a base, colours show how much each frame grew or
/// shrank.
///
/// # Errors
///
/// Fails if there is no such measure, if no stack has a value, or if the sum of all values exceeds
/// 64 bits.
pub fn flamegraph(
    profile: &Builder,
    measure_name: Option<&str>,
    title: &str,
    direction: Direction,
    compared: bool,
) -> Result<Vec<u8>> {
    let at = position(profile, measure_name)?;
    let sample_type = profile.types()[at].clone();
    let stacks = stacks_of(profile, at, compared, svg_frame);
    let mut lines: Vec<String> = Vec::with_capacity(stacks.len());
    for stack in stacks.iter().filter(|s| s.value > 0 || s.base > 0) {
        let text = one_line(&stack.frames);
        lines.push(if compared {
            format!("{text} {} {}", stack.base.max(0), stack.value.max(0))
        } else {
            format!("{text} {}", stack.value)
        });
    }
    let total: u128 = stacks.iter().map(|s| s.value.max(s.base).max(0) as u128).sum();
    if u64::try_from(total).is_err() {
        return Err(Error::Document(format!(
            "the stacks have {total} {} in all, more than the 64 bits that a flame graph counts \
             with",
            sample_type.name
        )));
    }
    if lines.iter().all(|line| line.ends_with(" 0")) {
        return Err(Error::Document(format!(
            "no stack has {}: there is nothing to draw",
            sample_type.name
        )));
    }
    let mut options = Options::default();
    options.title = title
        .chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { xml_char(c) })
        .collect();
    options.subtitle = Some(format!(
        "{} by stack{}",
        sample_type.name,
        if compared { ", compared with the base" } else { "" }
    ));
    options.colors = match (sample_type.name.as_str(), sample_type.unit.as_str()) {
        (_, "bytes") => Palette::Basic(BasicPalette::Green),
        ("gpu", _) => Palette::Basic(BasicPalette::Blue),
        _ => Palette::Basic(BasicPalette::Hot),
    };
    // Times are shown in microseconds, as in PyTorch's own tools. Counts and bytes are not scaled.
    (options.count_name, options.factor) = match sample_type.unit.as_str() {
        "nanoseconds" => ("us".to_owned(), 1e-3),
        "count" => (sample_type.name.clone(), 1.0),
        unit => (unit.to_owned(), 1.0),
    };
    options.direction = match direction {
        Direction::Icicle => flamegraph::Direction::Inverted,
        Direction::Flame => flamegraph::Direction::Straight,
    };
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.hash = true;
    options.deterministic = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .map_err(|e| Error::Document(format!("the flame graph: {e}")))?;
    Ok(svg)
}

/// Writes a stack as a line that inferno draws as a whole. A `# ` at the start would make the line
/// a comment, and a number at the end would be read as a value.
fn one_line(frames: &[String]) -> String {
    if frames.is_empty() {
        return NO_FRAMES.to_owned();
    }
    // Inferno always trims the line, so the checks below must see the trimmed line.
    let mut line = frames.join(";").trim().to_owned();
    if line == "#" {
        line.push_str(NO_BREAK);
    } else if line.starts_with("# ") {
        line.replace_range(1..2, NO_BREAK);
    }
    if let Some(at) = line.rfind(' ')
        && line[at + 1..].chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        line.replace_range(at..at + 1, NO_BREAK);
    }
    line
}

/// Returns the character, or a replacement if XML does not allow it.
fn xml_char(c: char) -> char {
    if matches!(c, '\u{fffe}' | '\u{ffff}') { char::REPLACEMENT_CHARACTER } else { c }
}

/// Removes the characters that SVG does not allow, and cuts the frame to [`MAX_FRAME_CHARS`].
fn svg_frame(frame: &str) -> String {
    let folded = match frame.trim() {
        "" => fold_frame(""),
        _ => fold_frame(frame),
    };
    if folded.chars().count() <= MAX_FRAME_CHARS {
        return folded.chars().map(xml_char).collect();
    }
    folded.chars().take(MAX_FRAME_CHARS).map(xml_char).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_stack_is_never_read_as_a_comment_or_a_value() {
        let line =
            |frames: &[&str]| one_line(&frames.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["main", "iteration 7"]), "main;iteration\u{a0}7");
        assert_eq!(line(&["main", "cutlass 80 1.5"]), "main;cutlass 80\u{a0}1.5");
        assert_eq!(line(&["# warm up", "x"]), "#\u{a0}warm up;x");
        assert_eq!(line(&["#"]), "#\u{a0}");
        assert_eq!(line(&[" #"]), "#\u{a0}");
        assert_eq!(line(&["\t# warm up"]), "#\u{a0}warm up");
        assert_eq!(line(&["step 7 "]), "step\u{a0}7");
        assert_eq!(line(&[]), "(no frames)");
        assert_eq!(line(&["iteration 7", "mm"]), "iteration 7;mm");
    }
}

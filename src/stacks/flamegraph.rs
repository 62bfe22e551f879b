//! Flame graphs as SVG.

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options, TextTruncateDirection};
use tracesql_udfs::pprof::Builder;
use tracesql_udfs::stacks::fold_frame;

use super::measured::{measure, stacks_of};
use crate::error::{Error, Result};

/// Longer names of frames are cut: a browser shows them as one tooltip.
const LONGEST_FRAME: usize = 500;
/// Stands for a stack without frames, which would not be drawn.
const NO_FRAMES: &str = "(no frames)";

/// A blank that looks like one and separates nothing.
const NO_BREAK: &str = "\u{a0}";

/// Which way stacks grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// Down, the root at the top.
    #[default]
    Icicle,
    /// Up, the root at the bottom.
    Flame,
}

/// A flame graph of a measure; with a base to compare with, colours show by how much a frame grew
/// or shrank.
pub fn flamegraph(
    profile: &Builder,
    measure_name: Option<&str>,
    title: &str,
    direction: Direction,
    compared: bool,
) -> Result<Vec<u8>> {
    let at = measure(profile, measure_name)?;
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
        return Err(Error::Query(format!(
            "the stacks have {total} {} in all, more than the 64 bits that a flame graph counts with",
            sample_type.name
        )));
    }
    if lines.iter().all(|line| line.ends_with(" 0")) {
        return Err(Error::Query(format!(
            "no stack has {}: there is nothing to draw",
            sample_type.name
        )));
    }
    let mut options = Options::default();
    options.title = title
        .chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { held(c) })
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
    // Times are shown as microseconds, as the profiler's own tools do; counts and bytes stay as
    // they are.
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
        .map_err(|e| Error::Query(format!("the flame graph: {e}")))?;
    Ok(svg)
}

/// A stack as a line that is drawn whole: `# ` at its beginning would make it a comment, a number
/// at its end a value.
fn one_line(frames: &[String]) -> String {
    if frames.is_empty() {
        return NO_FRAMES.to_owned();
    }
    // Blanks around go in any case; nothing must come to light behind them.
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

fn held(c: char) -> char {
    if matches!(c, '\u{fffe}' | '\u{ffff}') { char::REPLACEMENT_CHARACTER } else { c }
}

/// A frame without what SVG cannot hold.
fn svg_frame(frame: &str) -> String {
    let folded = match frame.trim() {
        "" => fold_frame(""),
        _ => fold_frame(frame),
    };
    if folded.chars().count() <= LONGEST_FRAME {
        return folded.chars().map(held).collect();
    }
    folded.chars().take(LONGEST_FRAME).map(held).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn no_stack_is_taken_for_a_comment_or_a_value() {
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

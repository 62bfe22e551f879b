//! Flame graphs as SVG. The drawing is complete without scripts; with them, a click zooms in, and
//! frames can be searched.

mod amounts;
mod colours;
mod labels;
mod svg;
mod tree;

use crate::error::{Error, Result};
use crate::measure::{position, stacks_of};
use crate::pprof::Builder;

use svg::Drawing;
use tree::Tree;

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
/// nanoseconds. Colours show what a frame is: Python code, an operator, a kernel of some class.
///
/// If the profile is `compared` with a base, colours show instead how much the value of each frame,
/// with all frames below it, grew or shrank. Frames that only the base has are not drawn.
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
    let measure = &profile.types()[at];
    let stacks = stacks_of(profile, at, compared, str::to_owned);
    let total: u128 = stacks.iter().map(|s| s.value.max(s.base).max(0) as u128).sum();
    if i64::try_from(total).is_err() {
        return Err(Error::Document(format!(
            "the stacks have {total} {} in all, more than the 64 bits that a flame graph counts \
             with",
            measure.name
        )));
    }
    if stacks.iter().all(|s| s.value <= 0) {
        return Err(Error::Document(format!(
            "no stack has {}: there is nothing to draw",
            measure.name
        )));
    }
    let tree = Tree::of(&stacks);
    let drawing =
        Drawing { tree: &tree, names: profile.frames(), measure, title, direction, compared };
    Ok(drawing.svg().into_bytes())
}

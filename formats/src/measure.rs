//! One measure of a profile by stack. All formats except pprof itself are written from this.

use crate::error::{Error, Result};
use crate::pprof::{Builder, FILE, Labels, is_base, without_address};

/// A stack and its value in one measure.
pub(crate) struct Stack {
    /// Frames, root first.
    pub(crate) frames: Vec<String>,
    /// Value in the base of the comparison.
    pub(crate) base: i64,
    /// Value.
    pub(crate) value: i64,
}

/// Finds the position of a measure among the sample types. Without a name, this is the first
/// measure in nanoseconds, or the first of all if none is in nanoseconds.
pub(crate) fn position(profile: &Builder, name: Option<&str>) -> Result<usize> {
    let types = profile.types();
    match name {
        Some(name) => types.iter().position(|t| t.name == name).ok_or_else(|| {
            let known = types.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
            Error::UnknownMeasure { name: name.to_owned(), known }
        }),
        None => Ok(types.iter().position(|t| t.unit == "nanoseconds").unwrap_or(0)),
    }
}

/// Returns all stacks with their value in one measure, in the order of their frames. Values of
/// different labels are added up. If runs are `compared`, the addresses of objects are removed from
/// frames, because they differ between runs.
pub(crate) fn stacks_of(
    profile: &Builder,
    at: usize,
    compared: bool,
    frame: impl Fn(&str) -> String,
) -> Vec<Stack> {
    let mut stacks: Vec<Stack> = Vec::new();
    let text = |f: &&str| {
        let name = f.split(FILE).next().unwrap_or(f);
        if compared { frame(&without_address(name)) } else { frame(name) }
    };
    let add = |frames: &[&str], labels: &Labels, values: &[i64]| {
        let (base, value) =
            if is_base(labels) { (values[at].saturating_neg(), 0) } else { (0, values[at]) };
        stacks.push(Stack { frames: frames.iter().map(text).collect(), base, value });
        Ok::<(), ()>(())
    };
    // The visitor never fails.
    let _ = profile.visit(add);
    // Different frames can have the same written form.
    stacks.sort_by(|a, b| a.frames.cmp(&b.frames));
    stacks.dedup_by(|again, first| {
        let same = again.frames == first.frames;
        if same {
            (first.base, first.value) =
                (first.base.saturating_add(again.base), first.value.saturating_add(again.value));
        }
        same
    });
    stacks
}

//! Stacks with one measure of a profile: what all formats but pprof's own are written from.

use tracesql_udfs::pprof::{Builder, FILE, Labels, is_base, without_address};

use crate::error::{Error, Result};

/// A stack and what one measure says of it.
pub(super) struct Stack {
    /// Frames, root first.
    pub(super) frames: Vec<String>,
    /// Value in the store that a difference is taken from.
    pub(super) base: i64,
    /// Value.
    pub(super) value: i64,
}

/// The position of a measure among the sample types; without a name that of the first in
/// nanoseconds, else the first.
pub(super) fn measure(profile: &Builder, name: Option<&str>) -> Result<usize> {
    let types = profile.types();
    match name {
        Some(name) => types.iter().position(|t| t.name == name).ok_or_else(|| {
            let known = types.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
            Error::Usage(format!(
                "there is no measure {name:?} with values in these samples; there is {known}"
            ))
        }),
        None => Ok(types.iter().position(|t| t.unit == "nanoseconds").unwrap_or(0)),
    }
}

/// Stacks with a measure, in the order of their frames; labels are added up. Where runs are
/// `compared`, frames leave out addresses of objects, which no two runs share.
pub(super) fn stacks_of(
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
    // Different frames can be written alike.
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

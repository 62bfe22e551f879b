//! Stacks for other tools: which samples a store gives, and the formats that profilers read.
//!
//! Samples come from SQL and nowhere else; what is written here can be queried too.

mod flamegraph;
mod folded;
mod inclusive;
mod pprof;
mod samples;
mod speedscope;

pub use flamegraph::{Direction, flamegraph};
pub use folded::folded;
pub use pprof::pprof;
pub use samples::{Request, Rule, Samples, collect};
pub use speedscope::speedscope;

use tracesql_udfs::pprof::{Builder, FILE, Labels, is_base, without_address};

use crate::error::{Error, Result};

/// A stack and what one measure says of it.
struct Stack {
    frames: Vec<String>,
    /// Value in the store that a difference is taken from.
    base: i64,
    value: i64,
}

/// The position of a measure among the sample types; without a name that of the first in nanoseconds, else the first.
fn measure(profile: &Builder, name: Option<&str>) -> Result<usize> {
    let types = profile.types();
    match name {
        Some(name) => types.iter().position(|t| t.name == name).ok_or_else(|| {
            let known = types.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
            Error::Usage(format!("there is no measure {name:?} with values in these samples; there is {known}"))
        }),
        None => Ok(types.iter().position(|t| t.unit == "nanoseconds").unwrap_or(0)),
    }
}

/// Stacks with a measure, in the order of their frames; labels are added up. Where runs are `compared`, frames leave out
/// addresses of objects, which no two runs share.
fn stacks_of(profile: &Builder, at: usize, compared: bool, frame: impl Fn(&str) -> String) -> Vec<Stack> {
    let mut stacks: Vec<Stack> = Vec::new();
    let text = |f: &&str| {
        let name = f.split(FILE).next().unwrap_or(f);
        if compared { frame(&without_address(name)) } else { frame(name) }
    };
    let add = |frames: &[&str], labels: &Labels, values: &[i64]| {
        let (base, value) = if is_base(labels) { (values[at].saturating_neg(), 0) } else { (0, values[at]) };
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
            (first.base, first.value) = (first.base.saturating_add(again.base), first.value.saturating_add(again.value));
        }
        same
    });
    stacks
}

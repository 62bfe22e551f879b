//! Folded stacks: a line for each stack, `root;…;leaf value`.

use std::fmt::Write;

use tracesql_udfs::pprof::Builder;
use tracesql_udfs::stacks::fold_frame;

use super::measured::{measure, stacks_of};
use crate::error::Result;

/// Stacks that have a value, sorted; with a base to compare with, its value stands before the
/// other.
pub fn folded(profile: &Builder, measure_name: Option<&str>, compared: bool) -> Result<String> {
    let mut lines = String::new();
    for stack in stacks_of(profile, measure(profile, measure_name)?, compared, |frame| {
        fold_frame(frame).into_owned()
    }) {
        let stack_text = stack.frames.join(";");
        // Writing to a text never fails.
        let _ = match (compared, stack.base, stack.value) {
            (true, 0, 0) | (false, _, 0) => Ok(()),
            (true, base, value) => writeln!(lines, "{stack_text} {base} {value}"),
            (false, _, value) => writeln!(lines, "{stack_text} {value}"),
        };
    }
    Ok(lines)
}

//! Checks of a user's name rules beyond their syntax. Rules that no view reads are rejected rather
//! than ignored.

use std::collections::BTreeSet;

use tracesql_udfs::names::{Rule, Rules};

/// Former rulesets and their replacements.
const RETIRED: [(&str, &str); 4] = [
    ("kernel_type", "kernel_class, whose values are classes of kernels"),
    ("comm_library", "kernel_library"),
    ("matrix_unit", "kernel_matrix_unit, whose patterns see the class, a blank and the plain name"),
    (
        "matrix_work",
        "kernel_class (gemm, conv, attention) and kernel_matrix_unit, whose patterns see the \
         class, a blank and the plain name",
    ),
];

/// Rulesets with a fixed set of values that views know, and the ruleset that contains all these
/// values.
const CLOSED: [(&str, &str); 3] = [
    ("kernel_class", "kernel_class"),
    ("operator_class", "kernel_class"),
    ("kernel_matrix_unit", "kernel_matrix_unit"),
];

/// The line and the problem of each rule that would have no effect, or that has a value unknown to
/// all views.
pub fn problems(rules: &Rules, built_in: &Rules) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    for (ruleset, replacement) in RETIRED {
        let lines = rules.rules(ruleset).iter().map(|r| r.line).min();
        problems.extend(lines.map(|line| {
            (line, format!("the ruleset {ruleset} is no longer asked; use {replacement} ({PAGE})"))
        }));
    }
    for (ruleset, like) in CLOSED {
        let known: BTreeSet<&str> =
            built_in.rules(like).iter().filter_map(|r| r.value.as_deref()).collect();
        let unknown = |rule: &&Rule| rule.value.as_deref().is_some_and(|v| !known.contains(v));
        for rule in rules.rules(ruleset).iter().filter(unknown) {
            let value = rule.value.as_deref().unwrap_or_default();
            let known: Vec<&str> = known.iter().copied().collect();
            problems.push((
                rule.line,
                format!(
                    "{ruleset}: {value:?} is no value of it; use one of {}, or nothing for unknown",
                    known.join(", ")
                ),
            ));
        }
    }
    problems.sort();
    problems
}

const PAGE: &str = "`tracesql docs kernel_classification` has more";

//! Checks the documentation of a view before the view is planned.

use super::{Body, File, Problem, View};

/// The units that columns may have.
pub const UNITS: &[&str] = &[
    "text", "id", "count", "ns", "us", "ms", "s", "bytes", "pct", "ratio", "GB/s", "flop",
    "TFLOP/s", "json", "flag", "list", "number",
];

/// Suffixes of column names and their units. A column has the suffix if and only if it has the
/// unit.
const SUFFIXES: &[(&str, &str)] = &[
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("bytes", "bytes"),
    ("pct", "pct"),
    ("gb_s", "GB/s"),
    ("tflop_s", "TFLOP/s"),
];

/// Returns the view, or the first problem in its comments.
pub fn check(file: &File, view: View) -> Result<View, Problem> {
    let at = |needle: &str| file.text.lines().position(|l| l.contains(needle)).map_or(1, |i| i + 1);
    if !is_name(&view.name) {
        return Err(file.problem(
            1,
            "the name of the file is that of the view: lower-case letters, digits and _",
        ));
    }
    if !view.summary.ends_with('.') {
        return Err(file.problem(1, "the summary must be a sentence that ends with a full stop"));
    }
    if view.columns.is_empty() && !(view.is_private() && matches!(view.body, Body::Query(_))) {
        return Err(file.problem(1, "each column needs a line `-- @column NAME TYPE UNIT TEXT`"));
    }
    for (i, column) in view.columns.iter().enumerate() {
        let problem =
            |message: String| Err(file.problem(at(&format!("@column {} ", column.name)), message));
        if !is_name(&column.name) {
            return problem(format!(
                "column {:?}: names are lower-case letters, digits and _",
                column.name
            ));
        }
        if view.columns[..i].iter().any(|c| c.name == column.name) {
            return problem(format!("column {} is there twice", column.name));
        }
        if !UNITS.contains(&column.unit.as_str()) {
            return problem(format!(
                "column {}: {:?} is not a unit; use one of {}",
                column.name,
                column.unit,
                UNITS.join(", ")
            ));
        }
        for (suffix, unit) in SUFFIXES {
            let before = column.name.strip_suffix(suffix);
            let named = before.is_some_and(|before| before.is_empty() || before.ends_with('_'));
            if named != (column.unit == *unit) {
                return problem(format!(
                    "column {}: names end in _{suffix} where the unit is {unit}, and only there",
                    column.name
                ));
            }
        }
        if !column.description.ends_with('.') {
            return problem(format!(
                "column {}: its text must be a sentence that ends with a full stop",
                column.name
            ));
        }
    }
    if let Some(key) = view.lookup.iter().find(|key| view.columns.iter().all(|c| c.name != **key))
        && !view.columns.is_empty()
    {
        return Err(file.problem(at("@scope"), format!("@scope store by {key}: no such column")));
    }
    if let Some(message) = view.truths.lint(&view.columns) {
        return Err(file.problem(at("Range:"), message));
    }
    Ok(view)
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

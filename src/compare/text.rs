//! Writes a comparison as text for a terminal.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use super::{Comparison, Row, Table, is_per_step, many, percent, tables};
use crate::environment;
use crate::output::{clip, figure, safe, width as columns, wrap};

/// Widths of the columns after the name: times, change, percent, verdict.
const TIME: usize = 9;
const PERCENT: usize = 9;
const VERDICT: usize = 10;
/// From this width on, there is room for the calls and the p-value.
const WIDE: usize = 110;
const CALLS: usize = 15;
const P_VALUE: usize = 6;

/// Tables sorted by the size of the difference, largest first.
pub fn report(comparison: &Comparison, width: usize, limit: usize) -> String {
    let mut out = String::new();
    for (word, side) in [("base", &comparison.base), ("candidate", &comparison.cand)] {
        let (traces, steps) = (many(side.traces.len() as i64, "trace"), many(side.steps, "step"));
        let _ = writeln!(
            out,
            "{}",
            wrap(&format!("{word:9}  {}: {traces}, {steps}", safe(&side.name)), 11, width)
        );
    }
    let per = if is_per_step(comparison) {
        "mean per step over ranks"
    } else {
        "per trace, because a side has no steps"
    };
    let _ = writeln!(out, "times are {per}");
    if !comparison.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &comparison.warnings {
        let _ = writeln!(out, "{}", wrap(&format!("warning: {}", safe(warning)), 9, width));
    }
    let differences = environment::text_table(&comparison.differences, width);
    if !differences.is_empty() {
        let _ = write!(out, "\n{differences}");
    }
    for table in tables(comparison) {
        section(&mut out, &table, width, limit);
    }
    if !comparison.notes.is_empty() || !comparison.failures.is_empty() {
        out.push('\n');
    }
    for note in &comparison.notes {
        let _ = writeln!(out, "{}", wrap(&format!("note: {}", safe(note)), 6, width));
    }
    for failure in &comparison.failures {
        let _ = writeln!(
            out,
            "{}",
            wrap(&format!("FAIL {}: {}", failure.condition, safe(&failure.message)), 5, width)
        );
    }
    out
}

fn section(out: &mut String, table: &Table<'_>, width: usize, limit: usize) {
    let is_wide = width >= WIDE;
    let fixed =
        2 + 3 * (TIME + 1) + PERCENT + 2 + VERDICT + if is_wide { CALLS + P_VALUE + 3 } else { 0 };
    let name = width.saturating_sub(fixed).max(16);
    let _ = writeln!(out, "\n{}", wrap(&format!("{}: {}", table.title, table.counts), 2, width));
    if let Some(reason) = table.reason {
        let _ = writeln!(out, "{}", wrap(&format!("  not judged: {reason}"), 4, width));
    }
    let mut header = format!(
        "  {:name$}{:>w$}{:>w$}{:>w$}{:>p$}  {:VERDICT$}",
        "",
        "base",
        "candidate",
        "change",
        "",
        "verdict",
        w = TIME + 1,
        p = PERCENT
    );
    if is_wide {
        let _ = write!(header, " {:>CALLS$}  {:>P_VALUE$}", "calls", "p");
    }
    let _ = writeln!(out, "{}", header.trim_end());
    let shown = if limit == 0 { table.rows.len() } else { limit.min(table.rows.len()) };
    for row in &table.rows[..shown] {
        line(out, row, name, is_wide);
    }
    if shown < table.rows.len() {
        let rest = &table.rows[shown..];
        let (base, cand) = rest.iter().fold((0.0, 0.0), |(b, c), r| (b + r.base_ns, c + r.cand_ns));
        let label = format!("({} more; see --limit)", rest.len());
        let _ = writeln!(out, "  {}{}", pad(&label, name), times(base, cand));
    }
}

fn times(base: f64, cand: f64) -> String {
    format!(
        "{:>w$}{:>w$}{:>w$}",
        figure(base, "ns"),
        figure(cand, "ns"),
        signed(cand - base),
        w = TIME + 1
    )
}

fn signed(ns: f64) -> String {
    if ns > 0.0 { format!("+{}", figure(ns, "ns")) } else { figure(ns, "ns") }
}

fn line(out: &mut String, row: &Row, name: usize, is_wide: bool) {
    let mut text = format!(
        "  {}{}{:>PERCENT$}  {:VERDICT$}",
        pad(&safe(row.title()), name),
        times(row.base_ns, row.cand_ns),
        percent(row),
        row.verdict
    );
    if is_wide {
        let calls = if row.calls.0 == row.calls.1 {
            row.calls.0.to_string()
        } else {
            format!("{} → {}", row.calls.0, row.calls.1)
        };
        let p = row.p_value.map_or(String::new(), |p| {
            if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
        });
        let _ = write!(text, " {calls:>CALLS$}  {p:>P_VALUE$}");
    }
    let _ = writeln!(out, "{}", text.trim_end());
}

/// A name padded or cut to the width of a column. Long names lose their middle, because many names
/// have the same beginning or the same end.
fn pad(text: &str, size: usize) -> String {
    let text = if columns(text) > size { shorten(text, size) } else { text.to_owned() };
    let missing = size.saturating_sub(columns(&text));
    text + &" ".repeat(missing)
}

fn shorten(text: &str, size: usize) -> String {
    let end = size / 3;
    let (mut left, mut tail) = (end, Vec::new());
    // There may be any number of zero-width characters.
    for c in text.chars().rev().take(4 * end) {
        let Some(room) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = room;
        tail.push(c);
    }
    clip(text, size - end) + &tail.into_iter().rev().collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::{columns, pad};

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(pad("a_long_name_of_a_kernel<float>", 15), "a_long_na…loat>");
        assert_eq!(pad("short", 8), "short   ");
        assert_eq!(columns(&pad("日本語日本語日本語", 9)), 9);
        // Zero-width characters do not make it slow.
        assert_eq!(columns(&pad(&("a".repeat(40) + &"\u{300}".repeat(500_000)), 15)), 15);
    }
}

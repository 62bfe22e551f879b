//! Writes the outcome as text for people.

use std::fmt::Write;

use super::Detail;
use super::groups::{Group, groups};
use crate::check::{Check, Counts, Item, Kind, Status, Verdict, checks, findings};
use crate::environment;
use crate::output::units::many;
use crate::output::{clip, safe, width as columns, wrap};

/// The number of checks that a brief summary lists.
const MAX_BRIEF: usize = 10;
/// The number of traces that are named for a result that several traces share.
const MAX_TRACES: usize = 3;

/// A summary for people. Passed checks are counted and not listed.
pub fn summary(verdict: &Verdict, width: usize, detail: Detail) -> String {
    let mut out = String::new();
    let traces = many(verdict.traces.len() as i64, "trace");
    let _ = writeln!(out, "{}: {traces}", safe(&verdict.source));
    if !verdict.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &verdict.warnings {
        let _ = writeln!(out, "{}", wrap(&format!("warning: {}", safe(warning)), 9, width));
    }
    let differences = environment::text_table(&verdict.differences, width);
    if !differences.is_empty() {
        let _ = write!(out, "\n{differences}");
    }
    for kind in Kind::ALL {
        let checks = checks(verdict, kind);
        if !checks.is_empty() {
            let _ = writeln!(out, "\n{}", title(verdict, kind, &checks));
            match detail {
                Detail::Brief => brief(&mut out, &checks, width),
                Detail::Normal | Detail::Full => {
                    for group in groups(verdict, kind, detail) {
                        entry(&mut out, verdict, &group, width);
                    }
                }
            }
        }
    }
    if detail != Detail::Brief {
        remarks(&mut out, verdict, width);
    }
    ending(&mut out, verdict);
    out
}

/// The settings that are not at their defaults, and notes.
fn remarks(out: &mut String, verdict: &Verdict, width: usize) {
    if !verdict.notes.is_empty() || !verdict.limits.settings.is_empty() {
        out.push('\n');
    }
    for (name, setting) in &verdict.limits.settings {
        let text = |value: &Option<String>| value.as_deref().map_or("NULL".to_owned(), safe);
        let line = format!(
            "setting: {name} = {} (default {})",
            text(&setting.value),
            text(&setting.default)
        );
        let _ = writeln!(out, "{}", wrap(&line, 6, width));
    }
    for note in &verdict.notes {
        let _ = writeln!(out, "{}", wrap(&format!("note: {}", safe(note)), 6, width));
    }
}

/// The verdict with the counts of checks.
fn ending(out: &mut String, verdict: &Verdict) {
    let counts = Counts::of_all(verdict);
    let parts: Vec<String> = [
        (counts.failed, "failed"),
        (counts.errors, "could not be checked"),
        (counts.not_measurable, "not measurable"),
        (counts.noted, "noted"),
        (counts.passed, "passed"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{} {word}", crate::output::units::count(count as i64)))
    .collect();
    let counts = if parts.is_empty() { "nothing was checked".to_owned() } else { parts.join(", ") };
    let why = if verdict.nothing_was_measured() {
        "; a check that measures nothing does not pass"
    } else {
        ""
    };
    let _ = writeln!(out, "\n{}: {counts}{why}", verdict.word().to_uppercase());
}

/// The heading of a kind, with the number of checks that passed.
fn title(verdict: &Verdict, kind: Kind, checks: &[Check<'_>]) -> String {
    let counts = Counts::of(checks);
    let number = |count: usize| crate::output::units::count(count as i64);
    let title = match kind {
        Kind::Rule => "Rules",
        Kind::Assertion => "Assertions",
        Kind::Metric => "Metrics",
    };
    let mut text =
        format!("{title}: {} of {} passed", number(counts.passed), number(counts.checks));
    if kind == Kind::Rule {
        if verdict.traces.len() > 1 {
            let mut names: Vec<&str> = checks.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let rules = many(names.len() as i64, "rule");
            let _ = write!(text, " ({rules}, each judged for each trace)");
        }
        let found = findings(verdict);
        if found > 0 {
            let _ = write!(text, "; {}", many(found as i64, "finding"));
        }
    }
    text
}

/// The names of the checks that failed, one line each.
fn brief(out: &mut String, checks: &[Check<'_>], width: usize) {
    let is_bad = |c: &&Check<'_>| matches!(c.status(), Status::Failed | Status::Error);
    let bad: Vec<&Check<'_>> = checks.iter().filter(is_bad).collect();
    for check in bad.iter().take(MAX_BRIEF) {
        let message = check
            .items
            .iter()
            .find(|i| i.status == check.status())
            .map_or(String::new(), |i| format!(": {}", safe(&i.message)));
        let trace = check.trace.map_or(String::new(), |t| format!(" · {}", safe(t)));
        let line = format!("  {:5} {}{trace}{message}", mark(check.status()), safe(&check.name));
        let _ = writeln!(out, "{}", clip(&line, width));
    }
    if bad.len() > MAX_BRIEF {
        let _ = writeln!(out, "        and {} more", bad.len() - MAX_BRIEF);
    }
}

fn mark(status: Status) -> &'static str {
    match status {
        Status::Failed => "FAIL",
        Status::Error => "ERROR",
        Status::NotMeasurable => "n/m",
        Status::Noted => "note",
        Status::Passed => "ok",
    }
}

fn entry(out: &mut String, verdict: &Verdict, group: &Group<'_>, width: usize) {
    let Some(item) = group.items.first() else { return };
    let mut write_lines = |text: &str, indent: usize| {
        let _ = writeln!(out, "{}", wrap(text, indent, width));
    };
    let traces = group.traces();
    let severity = item.severity.map(|s| format!(" ({})", s.name())).unwrap_or_default();
    let mut about = match (verdict.traces.len(), traces.as_slice()) {
        (0 | 1, _) | (_, []) => String::new(),
        (_, [trace]) => format!(" · {}", safe(trace)),
        (all, traces) => format!(" · {} of {all} traces", traces.len()),
    };
    if traces.len() > 1 && item.is_finding() && group.items.len() > traces.len() {
        let _ = write!(about, ", {}", many(group.items.len() as i64, "finding"));
    }
    let title = safe(&group.titles.join(", "));
    let title = if item.status == Status::NotMeasurable {
        title
    } else {
        clip(&title, width.saturating_sub(24).max(20))
    };
    write_lines(&format!("  {:5} {title}{severity}{about}", mark(item.status)), 8);
    if let Some(message) = &group.message {
        write_lines(&format!("        {}", safe(message)), 8);
        return;
    }
    let message = safe(&item.message);
    if let [first, others @ ..] = traces.as_slice()
        && !others.is_empty()
        && item.status != Status::NotMeasurable
    {
        write_lines(&format!("        {}: {message}", safe(first)), 8);
        let shown: Vec<String> = others.iter().take(MAX_TRACES).map(|t| safe(t)).collect();
        let more = others.len().saturating_sub(MAX_TRACES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        write_lines(&format!("        also in {}{more}", shown.join(", ")), 8);
    } else {
        write_lines(&format!("        {message}"), 8);
        let reasons = group.messages().len();
        if traces.len() > 1 && reasons > 1 {
            let reasons = many(reasons as i64 - 1, "other reason");
            write_lines(&format!("        and {reasons}; --verbose lists all"), 8);
        }
    }
    if let Some(advice) = item.advice.as_ref().filter(|_| item.status == Status::Failed) {
        write_lines(&format!("        advice: {}", safe(advice)), 10);
    }
    place_and_rows(out, item, width);
}

fn place_and_rows(out: &mut String, item: &Item, width: usize) {
    if let Some((file, line)) = &item.place {
        let _ = writeln!(out, "        {}:{line}", safe(file));
    }
    table(out, &item.rows, width);
}

/// Writes rows below their header, cut to the width of the terminal.
fn table(out: &mut String, rows: &[Vec<String>], width: usize) {
    let Some(header) = rows.first() else { return };
    let rows: Vec<Vec<String>> =
        rows.iter().map(|r| r.iter().map(|c| clip(&safe(c), 40)).collect()).collect();
    let wide =
        |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| columns(c)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(wide).collect();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(c, w)| format!("{c}{}", " ".repeat(w - columns(c))))
            .collect();
        let _ =
            writeln!(out, "{}", clip(format!("        | {}", cells.join(" | ")).trim_end(), width));
    }
}

//! Writes the outcome as text for people.

use std::fmt::Write;

use crate::check::{Item, Kind, Status, Verdict};
use crate::output::{clip, safe, width as columns, wrap};

/// A summary for people. Passed checks are counted and not listed.
pub fn summary(verdict: &Verdict, width: usize) -> String {
    let mut out = String::new();
    let traces = match verdict.traces.len() {
        1 => "1 trace".to_owned(),
        n => format!("{n} traces"),
    };
    let _ = writeln!(out, "{}: {traces}", safe(&verdict.source));
    for kind in [Kind::Rule, Kind::Assertion, Kind::Metric] {
        let items: Vec<&Item> = verdict.items.iter().filter(|i| i.kind == kind).collect();
        if !items.is_empty() {
            group(&mut out, kind, &items, verdict.traces.len() > 1, width);
        }
    }
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
    let parts: Vec<String> =
        [Status::Failed, Status::Error, Status::NotMeasurable, Status::Noted, Status::Passed]
            .into_iter()
            .filter(|s| verdict.count(*s) > 0)
            .map(|s| format!("{} {}", verdict.count(s), word(s)))
            .collect();
    let counts = if parts.is_empty() { "nothing was checked".to_owned() } else { parts.join(", ") };
    let why = if verdict.nothing_was_measured() {
        "; a check that measures nothing does not pass"
    } else {
        ""
    };
    let _ = writeln!(out, "\n{}: {counts}{why}", verdict.word().to_uppercase());
    out
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Noted => "noted",
        Status::NotMeasurable => "not measurable",
        Status::Failed => "failed",
        Status::Error => "could not be checked",
    }
}

fn group(out: &mut String, kind: Kind, items: &[&Item], with_trace: bool, width: usize) {
    let title = match kind {
        Kind::Rule => "Rules",
        Kind::Assertion => "Assertions",
        Kind::Metric => "Metrics",
    };
    let passed = items.iter().filter(|i| i.status == Status::Passed).count();
    let _ = writeln!(out, "\n{title}: {passed} of {} passed", items.len());
    let mut listed: Vec<&Item> =
        items.iter().copied().filter(|i| i.status != Status::Passed).collect();
    listed.sort_by_key(|i| (std::cmp::Reverse(i.status), i.severity));
    // Many rules need the same information, so a reason that several rules share is written once.
    let mut together: Vec<(Vec<String>, &Item)> = Vec::new();
    for item in listed {
        let alike = |first: &Item| {
            item.status == Status::NotMeasurable
                && first.message == item.message
                && first.trace == item.trace
        };
        match together.iter_mut().find(|(_, first)| alike(first)) {
            Some((titles, _)) => titles.push(item.title()),
            None => together.push((vec![item.title()], item)),
        }
    }
    for (titles, item) in together {
        entry(out, &titles.join(", "), item, with_trace, width);
    }
}

fn entry(out: &mut String, title: &str, item: &Item, with_trace: bool, width: usize) {
    let mark = match item.status {
        Status::Failed => "FAIL",
        Status::Error => "ERROR",
        Status::NotMeasurable => "n/m",
        Status::Noted => "note",
        Status::Passed => "ok",
    };
    let severity = item.severity.map(|s| format!(" ({})", s.name())).unwrap_or_default();
    let trace = item
        .trace
        .as_ref()
        .filter(|_| with_trace)
        .map(|t| format!(" · {}", safe(t)))
        .unwrap_or_default();
    let title = if item.status == Status::NotMeasurable {
        safe(title)
    } else {
        clip(&safe(title), width.saturating_sub(24).max(20))
    };
    let _ = writeln!(out, "{}", wrap(&format!("  {mark:5} {title}{severity}{trace}"), 8, width));
    let _ = writeln!(out, "{}", wrap(&format!("        {}", safe(&item.message)), 8, width));
    if let Some(advice) = item.advice.as_ref().filter(|_| item.status == Status::Failed) {
        let _ = writeln!(out, "{}", wrap(&format!("        advice: {}", safe(advice)), 10, width));
    }
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

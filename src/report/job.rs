//! Writes what the ranks of a job wait for: the list of ranks and links with the causes, and the
//! time lost by rank and step as a map of characters.

use std::fmt::Write;

use super::Report;
use super::answer::{Answer, Row};
use super::table::{Table, wrapped};
use crate::output::escape::plain;
use crate::output::units as human;

/// The maximum number of rows of the list.
const MAX_ROWS: usize = 8;
/// The maximum number of lines and columns of the map.
const MAX_LINES: usize = 32;
const MAX_COLUMNS: usize = 64;
/// Cells by the share of the largest one: none, and up to a quarter, half, three quarters and all.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// A cell whose waits could not be measured, or that no rank has.
const UNKNOWN: char = '?';
/// The columns of the list. The share is of the time of all ranks.
const COLUMNS: [&str; 6] = ["rank or link", "cause", "steps", "worst step", "lost", "share"];

/// The text for a terminal; empty for a single trace, or if nothing is known.
pub fn text(report: &Report, width: usize) -> String {
    let Some(blame) = report.answer("blame").filter(|a| !a.rows.is_empty()) else {
        return String::new();
    };
    let mut out = String::new();
    let (rows, weak) = rows(report, blame);
    if rows.is_empty() {
        out.push_str(&wrapped("What the job waits for: ", NOTHING, width));
    } else {
        let mut table = Table::new(&COLUMNS);
        rows.iter().take(MAX_ROWS).for_each(|row| table.row(row.clone()));
        let _ = write!(out, "What the job waits for\n{}", table.write("  ", width));
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    if more > 0 || weak > 0 {
        let rest = format!("{more} more, and {weak} that are no more than scatter");
        out.push_str(&wrapped("  ", &format!("{rest}; the view straggler_ranks has all"), width));
    }
    for line in map(report) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    out
}

/// The Markdown; empty for a single trace, or if nothing is known.
pub fn markdown(report: &Report) -> String {
    let Some(blame) = report.answer("blame").filter(|a| !a.rows.is_empty()) else {
        return String::new();
    };
    let mut out = String::from("### What the job waits for\n\n");
    let (rows, weak) = rows(report, blame);
    if rows.is_empty() {
        let _ = writeln!(out, "{NOTHING}.");
    } else {
        let _ = writeln!(out, "| {} |", COLUMNS.join(" | "));
        out.push_str("| --- | --- | ---: | ---: | ---: | ---: |\n");
    }
    for row in rows.iter().take(MAX_ROWS) {
        let cells: Vec<String> = row.iter().map(|cell| plain(cell, 80)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    if more > 0 || weak > 0 {
        let _ = writeln!(out, "\n_{more} more, and {weak} that are no more than scatter._");
    }
    let lines = map(report);
    if !lines.is_empty() {
        let _ = writeln!(out, "\n```text\n{}\n```", lines.join("\n"));
    }
    out.push('\n');
    out
}

const NOTHING: &str = "no rank or link takes clearly longer than the others while they wait";

/// The rows of the list, and how many are weak.
fn rows(report: &Report, blame: &Answer) -> (Vec<Vec<String>>, usize) {
    let all: Vec<Row> = of_all(report, blame);
    let is_weak = |row: &&Row| row.text("verdict") == Some("weak");
    let cells = |row: &Row| {
        let who = match (row.int("rank"), row.text("group_name")) {
            (Some(rank), _) => format!("rank {rank}"),
            (None, Some(group)) => format!("link of group {group}"),
            (None, None) => "link".to_owned(),
        };
        let who = match row.text("host") {
            Some(host) => format!("{who} on {host}"),
            None => who,
        };
        let cause = row.text("cause").unwrap_or_default().replace('_', " ");
        let verdict = row.text("verdict").unwrap_or_default();
        vec![
            who,
            format!("{cause}, {verdict}"),
            human::value(row.get("steps"), "count"),
            human::value(row.get("worst_step"), "id"),
            human::value(row.get("lost_ns"), "ns"),
            human::value(row.get("lost_pct"), "pct"),
        ]
    };
    let weak = all.iter().filter(is_weak).count();
    (all.iter().filter(|row| !is_weak(row)).map(cells).collect(), weak)
}

fn of_all<'a>(report: &'a Report, answer: &'a Answer) -> Vec<Row<'a>> {
    report.traces.iter().flat_map(|trace| answer.of(&trace.trace_id)).collect()
}

/// The map of lost time: a line for each rank or several, a column for each step or several. It is
/// empty if no time is lost.
fn map(report: &Report) -> Vec<String> {
    let Some(answer) = report.answer("rank_lost_time") else { return Vec::new() };
    let rows = of_all(report, answer);
    let places = |name: &str| -> Vec<i64> {
        let mut found: Vec<i64> = rows.iter().filter_map(|row| row.int(name)).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let (ranks, steps) = (places("first_rank"), places("first_step"));
    let (down, across) = (ranks.len().div_ceil(MAX_LINES), steps.len().div_ceil(MAX_COLUMNS));
    let most = rows.iter().filter_map(|row| row.int("lost_ns")).max().unwrap_or(0);
    if most <= 0 || down == 0 || across == 0 {
        return Vec::new();
    }
    let mut cells = vec![vec![None; steps.len().div_ceil(across)]; ranks.len().div_ceil(down)];
    for row in &rows {
        let (Some(rank), Some(step)) = (row.int("first_rank"), row.int("first_step")) else {
            continue;
        };
        let (Ok(line), Ok(column)) = (ranks.binary_search(&rank), steps.binary_search(&step))
        else {
            continue;
        };
        let cell = &mut cells[line / down][column / across];
        *cell = row.int("lost_ns").max(*cell);
    }
    let names: Vec<String> = ranks.chunks(down).map(|chunk| name(&rows, chunk)).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    let shade = |ns: i64| {
        let quarter = (i128::from(ns) * 4).div_euclid(i128::from(most)).clamp(0, 3) as usize + 1;
        if ns == 0 { SHADES[0] } else { SHADES[quarter] }
    };
    let is_known = cells.iter().flatten().all(Option::is_some);
    let (from, to) = (steps.first().copied().unwrap_or(0), last(&rows, "last_step"));
    let unit = human::value(&most.into(), "ns");
    let mut lines =
        vec![format!("Lost time by rank and step ({from} to {to}); {} is {unit}", SHADES[4])];
    if !is_known {
        lines[0].push_str(&format!(", {UNKNOWN} is not known"));
    }
    for (name, line) in names.iter().zip(cells) {
        let picture: String = line.into_iter().map(|ns| ns.map_or(UNKNOWN, shade)).collect();
        lines.push(format!("  {name:<widest$}  {picture}"));
    }
    lines
}

/// The name of a line: its ranks.
fn name(rows: &[Row], ranks: &[i64]) -> String {
    let (Some(first), Some(end)) = (ranks.first(), ranks.last()) else { return String::new() };
    let of_end = rows.iter().filter(|row| row.int("first_rank") == Some(*end));
    let last = of_end.filter_map(|row| row.int("last_rank")).max().unwrap_or(*end);
    if *first == last { format!("rank {first}") } else { format!("ranks {first} to {last}") }
}

fn last(rows: &[Row], column: &str) -> i64 {
    rows.iter().filter_map(|row| row.int(column)).max().unwrap_or(0)
}

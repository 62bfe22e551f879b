//! Writes device time by class as text: a sentence with the main shares, and a bar for each class.

use std::fmt::Write;

use super::answer::{Answer, Row};
use super::table::Table;
use super::{Report, Trace};
use crate::output::escape::code;
use crate::output::units as human;

/// The number of devices that get a table. Each of the others gets a sentence.
const MAX_TABLES: usize = 4;
/// The maximum number of rows of a table.
const MAX_ROWS: usize = 8;
/// The length of the longest bar, in characters.
const MAX_BAR: usize = 12;
/// Classes whose share is always shown, and their names in the sentence. Communication counts only
/// while no computation runs.
const NAMED: [(&str, &str); 4] = [
    ("gemm", "gemm"),
    ("attention", "attention"),
    ("communication", "exposed communication"),
    ("unclassified", "unclassified"),
];

/// The classes of work on a device.
struct Device<'a> {
    id: Option<i64>,
    busy_ns: i64,
    rows: Vec<Row<'a>>,
}

fn devices<'a>(answer: &'a Answer, trace: &'a Trace) -> Vec<Device<'a>> {
    let mut devices: Vec<Device> = Vec::new();
    for row in answer.of(&trace.trace_id) {
        let id = row.int("device");
        match devices.iter_mut().find(|d| d.id == id) {
            Some(device) => device.rows.push(row),
            None => devices.push(Device {
                id,
                busy_ns: row.int("busy_ns").unwrap_or(0),
                rows: vec![row],
            }),
        }
    }
    devices
}

impl Device<'_> {
    fn name(&self) -> String {
        self.id.map_or_else(|| "without number".to_owned(), |id| id.to_string())
    }

    fn sum(&self, column: &str, of: impl Fn(&str) -> bool) -> i128 {
        self.rows
            .iter()
            .filter(|r| of(r.text("class").unwrap_or_default()))
            .filter_map(|r| r.int(column))
            .map(i128::from)
            .sum()
    }

    fn summary(&self) -> String {
        let of = |class: &str| share(self.sum("time_ns", |c| c == class), i128::from(self.busy_ns));
        let named: Vec<String> =
            NAMED.iter().map(|(class, name)| format!("{name} {}", of(class))).collect();
        let mut text = format!("{} of {} busy", named.join(", "), human::ns(self.busy_ns as f64));
        let kernels = self.sum("total_ns", |c| !matches!(c, "memcpy" | "memset"));
        if kernels > 0 {
            let (yes, unclear) = (
                self.sum("matrix_unit_ns", |_| true),
                self.sum("matrix_unit_unclear_ns", |_| true),
            );
            let _ = write!(
                text,
                "; on tensor or matrix cores {}, unclear {}, of {} of kernels",
                share(yes, kernels),
                share(unclear, kernels),
                human::ns(kernels as f64)
            );
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["Class", "activities", "names", "time", "share", "total", ""]);
        for row in self.rows.iter().take(MAX_ROWS) {
            let cell = |name, unit| human::value(row.get(name), unit);
            table.row(vec![
                row.text("class").unwrap_or_default().to_owned(),
                cell("activities", "count"),
                cell("names", "count"),
                cell("time_ns", "ns"),
                cell("time_pct", "pct"),
                cell("total_ns", "ns"),
                format!("{:<MAX_BAR$}", bar(row.number("time_pct").unwrap_or(0.0))),
            ]);
        }
        table
    }
}

/// A part as a percentage of a whole.
fn share(part: i128, whole: i128) -> String {
    if whole > 0 { human::pct(100.0 * part as f64 / whole as f64) } else { human::NONE.to_owned() }
}

/// A share as a bar of block characters, the last of which shows eighths.
fn bar(pct: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (pct.clamp(0.0, 100.0) / 100.0 * (8 * MAX_BAR) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), PARTS.get(eighths % 8).unwrap_or(&""))
}

/// A sentence about each device.
pub fn facts(report: &Report, trace: &Trace) -> Vec<String> {
    let Some(answer) = report.answer("device_classes") else { return Vec::new() };
    devices(answer, trace).iter().map(|d| format!("{}: {}", d.name(), d.summary())).collect()
}

/// Bars for a terminal.
pub fn text(report: &Report, trace: &Trace, width: usize) -> String {
    let Some(answer) = report.answer("device_classes") else { return String::new() };
    let (mut out, all) = (String::new(), devices(answer, trace));
    for device in all.iter().take(MAX_TABLES) {
        let busy = human::ns(device.busy_ns as f64);
        let _ = write!(
            out,
            "\nDevice {} by class, shares of {busy} busy\n{}",
            device.name(),
            device.table().write("  ", width)
        );
        if device.rows.len() > MAX_ROWS {
            let _ = writeln!(out, "  … {} more", device.rows.len() - MAX_ROWS);
        }
    }
    if all.len() > MAX_TABLES {
        let _ =
            writeln!(out, "  … {}", human::many((all.len() - MAX_TABLES) as i64, "more device"));
    }
    out
}

/// Bars for Markdown comments.
pub fn markdown(report: &Report, trace: &Trace) -> String {
    let Some(answer) = report.answer("device_classes") else { return String::new() };
    let all = devices(answer, trace);
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("<details><summary>{}</summary>\n\n", answer.section.title);
    for device in all.iter().take(MAX_TABLES) {
        let _ = writeln!(
            out,
            "Device {}, shares of {} busy:\n",
            device.name(),
            human::ns(device.busy_ns as f64)
        );
        out.push_str("| class | activities | names | time | share | total | |\n");
        out.push_str("| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
        for row in &device.rows {
            let cell = |name, unit| human::value(row.get(name), unit);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} |",
                code(row.text("class").unwrap_or_default(), 80),
                cell("activities", "count"),
                cell("names", "count"),
                cell("time_ns", "ns"),
                cell("time_pct", "pct"),
                cell("total_ns", "ns"),
                bar(row.number("time_pct").unwrap_or(0.0)),
            );
        }
        out.push('\n');
    }
    if all.len() > MAX_TABLES {
        let (more, are) =
            (all.len() - MAX_TABLES, if all.len() == MAX_TABLES + 1 { "is" } else { "are" });
        let _ = writeln!(
            out,
            "_{} {are} in the full report._\n",
            human::many(more as i64, "more device")
        );
    }
    out.push_str("</details>\n\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{bar, share};

    #[test]
    fn bars_are_as_long_as_shares() {
        assert_eq!(bar(100.0), "████████████");
        assert_eq!(bar(50.0), "██████");
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(2.0), "▎");
        assert_eq!(bar(130.0), bar(100.0), "what is no share stays within the bar");
        assert_eq!(bar(f64::NAN), "");
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        assert_eq!(share(1, 4), "25.0 %");
        assert_eq!(share(0, 0), "–");
    }
}

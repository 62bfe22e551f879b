//! Writes the report for a comment on a pull request: tables and folded details, within the size
//! limit of a comment.

use std::fmt::Write;

use serde_json::Value;

use super::answer::{Answer, Row};
use super::text::{facts, tally, title};
use super::{Report, Trace, classes};
use crate::output::escape::{code, plain};
use crate::output::units as human;

/// The maximum length of a comment in characters, minus some room for text that people add.
const MAX_CHARS: usize = 60_000;
/// The maximum number of rows of a table.
const MAX_ROWS: usize = 10;
/// The maximum number of rows of the table of ranks.
const MAX_RANKS: usize = 64;

pub fn write(report: &Report) -> String {
    let mut out = String::from("## tracesql report\n\n");
    let mut left_out = 0;
    out.push_str(&super::job::markdown(report));
    let job = ranks(report);
    for trace in &report.traces {
        let part = one(report, trace);
        if out.len() + part.len() + job.len() > MAX_CHARS {
            left_out += 1;
        } else {
            out.push_str(&part);
        }
    }
    if report.traces.is_empty() {
        out.push_str("The store holds no trace.\n\n");
    }
    out.push_str(&job);
    let all = report.left_out.len() + left_out;
    if all > 0 {
        let (more, are) =
            (human::many(all as i64, "more trace"), if all == 1 { "is" } else { "are" });
        let _ = writeln!(
            out,
            "_{more} of the store {are} not shown; \
             `tracesql report STORE --trace NAME` shows one._\n"
        );
    }
    for (name, why) in report.failures() {
        let _ = writeln!(out, "- section {} failed: {}", code(name, 80), code(why, 500));
    }
    for setting in &report.settings {
        let value = setting.value.as_deref().unwrap_or("NULL");
        let _ = writeln!(
            out,
            "- setting {} is {}, by default {}",
            code(&setting.name, 80),
            code(value, 80),
            code(setting.default.as_deref().unwrap_or("NULL"), 80)
        );
    }
    let _ = writeln!(out, "<sub>tracesql {}</sub>", env!("CARGO_PKG_VERSION"));
    out
}

fn one(report: &Report, trace: &Trace) -> String {
    let mut out = format!("### {}\n\n| | |\n| --- | --- |\n", code(&title(trace), 120));
    for (name, fact) in facts(report, trace) {
        let _ = writeln!(out, "| **{name}** | {} |", plain(&fact, 400));
    }
    out.push('\n');
    if let Some(answer) = report.answer("findings").filter(|a| a.error.is_none()) {
        out.push_str(&findings(answer, trace));
    }
    out.push_str(&classes::markdown(report, trace));
    out.push_str(&table(
        report,
        trace,
        "steps",
        &[
            ("first_step", "step"),
            ("total_ns", "total"),
            ("kernel_ns", "kernels"),
            ("communication_ns", "communication"),
            ("runtime_ns", "runtime calls"),
            ("dataloader_ns", "data loading"),
            ("cpu_exec_ns", "operators on the host"),
            ("other_ns", "other"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "operators",
        &[
            ("name", "operator"),
            ("calls", "calls"),
            ("host_self_ns", "host self"),
            ("host_self_pct", "share"),
            ("device_self_ns", "device self"),
            ("device_self_pct", "share"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "kernels",
        &[
            ("name", "kernel"),
            ("class", "class"),
            ("matrix_unit", "tensor or matrix cores"),
            ("calls", "calls"),
            ("total_ns", "time"),
            ("total_pct", "share"),
            ("mean_ns", "mean"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "mfu",
        &[
            ("step", "step"),
            ("device", "device"),
            ("step_ns", "time"),
            ("tflop_s", "TFLOP/s"),
            ("mfu_pct", "MFU"),
            ("hfu_pct", "HFU"),
            ("peak_dtype", "peak of"),
            ("modelled_pct", "known share"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "roofline",
        &[
            ("name", "operator"),
            ("input_shapes", "shapes"),
            ("calls", "calls"),
            ("device_ns", "device time"),
            ("lost_ns", "lost"),
            ("roofline_pct", "of the roofline"),
            ("cause", "likely cause"),
            ("figure", "figure"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "memory_at_peak",
        &[
            ("op_name", "operator"),
            ("device_type", "device"),
            ("allocations", "allocations"),
            ("bytes", "size"),
            ("share_pct", "share of the peak"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "mllm_operation_totals",
        &[
            ("name", "operation"),
            ("device_name", "device"),
            ("calls", "calls"),
            ("total_ns", "time"),
            ("total_pct", "share"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "snapshot_at_peak",
        &[
            ("site", "live at the peak"),
            ("category", "category"),
            ("device", "device"),
            ("allocations", "allocations"),
            ("bytes", "size"),
            ("share_pct", "share of the peak"),
        ],
    ));
    out.push_str(&table(
        report,
        trace,
        "snapshot_pools",
        &[
            ("pool", "pool"),
            ("kind", "segments for"),
            ("reserved_bytes", "reserved"),
            ("inactive_bytes", "free"),
            ("largest_inactive_bytes", "largest free block"),
            ("external_pct", "free share"),
        ],
    ));
    out.push_str(&provenance(report, trace));
    out
}

fn findings(answer: &Answer, trace: &Trace) -> String {
    let mut out = format!("**Findings:** {}\n\n", tally(answer, trace));
    let all: Vec<Row> =
        answer.of(&trace.trace_id).filter(|r| r.text("status") == Some("finding")).collect();
    if !all.is_empty() {
        out.push_str("| severity | finding | what to do |\n| --- | --- | --- |\n");
        for row in all.iter().take(MAX_ROWS) {
            let text = |name| plain(row.text(name).unwrap_or(""), 600);
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                text("severity"),
                text("message"),
                text("advice")
            );
        }
        out.push('\n');
        if all.len() > MAX_ROWS {
            let more = all.len() - MAX_ROWS;
            let _ = writeln!(
                out,
                "_{} {} in the full report._\n",
                human::many(more as i64, "more finding"),
                if more == 1 { "is" } else { "are" }
            );
        }
    }
    let silent: Vec<Row> =
        answer.of(&trace.trace_id).filter(|r| r.text("status") == Some("not_measurable")).collect();
    if !silent.is_empty() {
        out.push_str("<details><summary>Not measurable</summary>\n\n");
        for row in silent.iter().take(MAX_ROWS) {
            let _ = writeln!(
                out,
                "- {}: {}",
                code(row.text("rule").unwrap_or(""), 80),
                plain(row.text("reason").unwrap_or(""), 300)
            );
        }
        out.push_str("\n</details>\n\n");
    }
    out
}

fn table(report: &Report, trace: &Trace, key: &str, columns: &[(&str, &str)]) -> String {
    let Some(answer) = report.answer(key) else { return String::new() };
    let count = answer.of(&trace.trace_id).count() as u64
        + answer.rest(&trace.trace_id).map_or(0, |r| r.rows);
    let mut out = format!("<details><summary>{}", answer.section.title);
    if count == 0 {
        return match answer.missing(&trace.trace_id) {
            Some(m) if m.status == "not_recorded" => {
                format!(
                    "<details><summary>{}: not recorded</summary>\n\n{}\n\n</details>\n\n",
                    answer.section.title,
                    plain(&m.reason, 400)
                )
            }
            _ => String::new(),
        };
    }
    let _ = write!(
        out,
        "{}</summary>\n\n|",
        if count > MAX_ROWS as u64 {
            format!(" ({MAX_ROWS} of {})", human::count(count as i64))
        } else {
            String::new()
        }
    );
    for (_, title) in columns {
        let _ = write!(out, " {title} |");
    }
    out.push_str("\n|");
    columns
        .iter()
        .enumerate()
        .for_each(|(at, _)| out.push_str(if at == 0 { " --- |" } else { " ---: |" }));
    out.push('\n');
    for row in answer.of(&trace.trace_id).take(MAX_ROWS) {
        out.push('|');
        for (name, _) in columns {
            let unit = answer
                .column(name)
                .and_then(|at| answer.columns.get(at))
                .map_or("text", |c| c.unit);
            let cell = match row.get(name) {
                Value::String(text) => code(text, 160),
                value => human::value(value, unit),
            };
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    }
    out.push_str("\n</details>\n\n");
    out
}

fn ranks(report: &Report) -> String {
    let Some(answer) = report.answer("ranks").filter(|a| !a.rows.is_empty()) else {
        return String::new();
    };
    let mut out = String::from(
        "### Ranks\n\n| rank | computation | communication | hidden | exposed | waiting |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let rows: Vec<Row> =
        report.traces.iter().flat_map(|trace| answer.of(&trace.trace_id)).collect();
    for row in rows.iter().take(MAX_RANKS) {
        let time = |name| human::value(row.get(name), "ns");
        let (rank, hidden) =
            (human::value(row.get("rank"), "id"), human::value(row.get("overlap_pct"), "pct"));
        let _ = writeln!(
            out,
            "| {rank} | {} | {} | {hidden} | {} | {} |",
            time("computation_ns"),
            time("communication_ns"),
            time("exposed_communication_ns"),
            time("wait_ns")
        );
    }
    if rows.len() > MAX_RANKS {
        let more = rows.len() - MAX_RANKS;
        let (more, are) =
            (human::many(more as i64, "more rank"), if more == 1 { "is" } else { "are" });
        let _ = writeln!(out, "\n_{more} {are} not shown; the view rank_communication has all._");
    }
    out.push('\n');
    out
}

fn provenance(report: &Report, trace: &Trace) -> String {
    let Some(row) = report.answer("traces").and_then(|a| a.of(&trace.trace_id).next()) else {
        return String::new();
    };
    let mut out = String::from("<details><summary>Input</summary>\n\n");
    let _ = writeln!(
        out,
        "- {} ({}), BLAKE3 {}",
        code(&trace.path, 300),
        human::value(row.get("input_bytes"), "bytes"),
        code(row.text("content_hash").unwrap_or(""), 64)
    );
    for issue in
        report.answer("issues").into_iter().flat_map(|a| a.of(&trace.trace_id)).take(MAX_ROWS)
    {
        let text = |name| plain(issue.text(name).unwrap_or(""), 300);
        let _ = writeln!(
            out,
            "- {} {} × {}: {}",
            text("severity"),
            code(issue.text("code").unwrap_or(""), 80),
            human::value(issue.get("count"), "count"),
            text("detail")
        );
    }
    out.push_str("\n</details>\n\n");
    out
}

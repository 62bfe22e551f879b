//! Writes the report for a terminal. It is short, about one screen for each trace.

use super::answer::{Answer, Row};
use super::table::{Table, wrapped};
use super::{Report, Trace, classes};
use crate::output::safe;
use crate::output::units as human;

/// The maximum number of rows of a table.
const MAX_ROWS: usize = 8;

pub fn write(report: &Report, width: usize) -> String {
    let mut out = super::job::text(report, width);
    for (at, trace) in report.traces.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&one(report, trace, width));
    }
    if report.traces.is_empty() {
        out.push_str("The store holds no trace.\n");
    }
    if report.traces.len() > 1 {
        out.push_str(&ranks(report, width));
    }
    out.push('\n');
    for (name, why) in report.failures() {
        out.push_str(&wrapped("failed: ", &format!("section {name}: {why}"), width));
    }
    if !report.left_out.is_empty() {
        let names = format!(
            "{}, for example {}; --trace NAME chooses, --max-traces N takes more",
            human::many(report.left_out.len() as i64, "more trace"),
            report.left_out[0]
        );
        out.push_str(&wrapped("left out: ", &names, width));
    }
    for setting in &report.settings {
        let value = |v: &Option<String>| v.clone().unwrap_or_else(|| "NULL".to_owned());
        out.push_str(&wrapped(
            "setting: ",
            &format!(
                "{} = {} (default {})",
                setting.name,
                value(&setting.value),
                value(&setting.default)
            ),
            width,
        ));
    }
    out.push_str("More: tracesql report … -o report.html, or --format markdown or json.\n");
    out
}

fn one(report: &Report, trace: &Trace, width: usize) -> String {
    let title = title(trace);
    let mut out = format!(
        "{}\n{}\n",
        safe(&title),
        "─".repeat(crate::output::width(&safe(&title)).min(width))
    );
    for (name, fact) in facts(report, trace) {
        out.push_str(&wrapped(&format!("{name:<13}"), &fact, width));
    }
    out.push_str(&findings(report, trace, width));
    out.push_str(&classes::text(report, trace, width));
    for (key, columns) in [
        ("operators", OPERATORS),
        ("kernels", KERNELS),
        ("roofline", LOST_TIME),
        ("mllm_operation_totals", OPERATIONS),
        ("snapshot_at_peak", LIVE_STACKS),
    ] {
        if let Some(answer) = report.answer(key) {
            out.push_str(&top(answer, trace, columns, width));
        }
    }
    if operators_missing(report, trace)
        && let Some(answer) = report.answer("categories")
    {
        out.push_str(&top(answer, trace, CATEGORIES, width));
    }
    let missing: Vec<&str> = ["steps", "memory", "modules", "stacks", "shapes"]
        .into_iter()
        .filter(|kind| is_missing(report, trace, kind))
        .collect();
    if !missing.is_empty() && trace.format == "kineto" {
        out.push('\n');
        let all = missing.join(", ");
        out.push_str(&wrapped(
            "Not recorded: ",
            &format!("{all}; the view coverage says how to record it"),
            width,
        ));
    }
    out
}

/// The displayed name of a trace.
pub fn title(trace: &Trace) -> String {
    let name = trace.path.rsplit('/').next().unwrap_or(&trace.path);
    match trace.rank {
        Some(rank) => format!("{name} · rank {rank} · {}", trace.format),
        None => format!("{name} · {}", trace.format),
    }
}

fn is_missing(report: &Report, trace: &Trace, kind: &str) -> bool {
    let coverage = report.answer("coverage");
    coverage.is_some_and(|a| {
        a.of(&trace.trace_id)
            .any(|r| r.text("information") == Some(kind) && r.text("status") == Some("missing"))
    })
}

fn operators_missing(report: &Report, trace: &Trace) -> bool {
    let none =
        |key| report.answer(key).is_none_or(|a: &Answer| a.of(&trace.trace_id).next().is_none());
    let has_none_by_nature = matches!(
        &trace.format[..],
        "torch_memory" | "flight_recorder" | "execution_trace" | "memory_timeline" | "stacks"
    );
    none("operators") && none("mllm_operation_totals") && !has_none_by_nature
}

/// Facts about a trace, one line each.
pub fn facts(report: &Report, trace: &Trace) -> Vec<(&'static str, String)> {
    let first = |key: &'static str| report.answer(key).and_then(|a| a.of(&trace.trace_id).next());
    let mut facts = Vec::new();
    if let Some(row) = first("overview") {
        facts.push(("Duration", duration(report, trace, row)));
    }
    for row in report.answer("device_time").into_iter().flat_map(|a| a.of(&trace.trace_id)) {
        facts.push(("Device", device(report, trace, row)));
    }
    facts.extend(classes::facts(report, trace).into_iter().map(|fact| ("By class", fact)));
    for row in report.answer("memory_peaks").into_iter().flat_map(|a| a.of(&trace.trace_id)).take(3)
    {
        facts.push(("Memory peak", peak(row)));
    }
    if let Some(row) = first("mllm_summary") {
        let show = |name| {
            human::value(row.get(name), if name.ends_with("bytes") { "bytes" } else { "count" })
        };
        let fact = format!(
            "{} in {} {}; {} alive at the end ({})",
            show("peak_bytes"),
            show("blobs"),
            human::plural(row.int("blobs").unwrap_or(0), "blob"),
            show("alive_blobs"),
            show("alive_bytes")
        );
        facts.push(("Memory peak", fact));
    }
    facts.extend(super::snapshot_facts::facts(report, trace));
    facts.extend(super::flight_facts::facts(report, trace));
    if let Some(row) = first("traces") {
        let many = |name, word| {
            row.int(name)
                .map_or_else(|| format!("{} {word}s", human::NONE), |n| human::many(n, word))
        };
        facts.push((
            "Events",
            format!("{}, {} skipped", many("event_count", "row"), many("skipped_count", "element")),
        ));
    }
    facts
}

fn duration(report: &Report, trace: &Trace, row: Row) -> String {
    let mut text = human::value(row.get("duration_ns"), "ns");
    let bars = || {
        report
            .answer("steps")
            .into_iter()
            .flat_map(|a| a.of(&trace.trace_id))
            .filter(|r| r.int("first_step").is_some())
    };
    let steps = bars().filter_map(|r| r.int("steps")).fold(0, i64::saturating_add);
    if steps > 0 {
        let total: i128 = bars().filter_map(|r| r.int("total_ns")).map(i128::from).sum();
        let length = human::ns(total as f64 / steps as f64);
        text += &if steps == 1 {
            format!(", 1 step of {length}")
        } else {
            format!(", {} steps of {length} on average", human::count(steps))
        };
    }
    text
}

fn device(report: &Report, trace: &Trace, row: Row) -> String {
    let id = row.int("device").map_or_else(|| "without number".to_owned(), |d| d.to_string());
    let named = report
        .answer("devices")
        .and_then(|a| a.of(&trace.trace_id).find(|d| d.int("device") == row.int("device")));
    let name = named
        .and_then(|d| d.text("name"))
        .filter(|n| !n.trim().is_empty())
        .map(|n| format!(" ({n})"))
        .unwrap_or_default();
    let time = |name| human::value(row.get(name), "ns");
    let pct = |name| human::value(row.get(name), "pct");
    let mut text = format!(
        "{id}{name}: busy {} ({} of {}): computation {}, exposed communication {}, \
         exposed copies {}; idle {}",
        pct("busy_pct"),
        time("busy_time_ns"),
        time("total_time_ns"),
        pct("computation_pct"),
        pct("exposed_comm_pct"),
        pct("exposed_memcpy_pct"),
        pct("idle_pct")
    );
    if row.int("unclassified_time_ns").is_some_and(|ns| ns > 0) {
        text += &format!(
            "; computation holds {} of kernels of no known class, so exposed communication is \
             {} to {}",
            time("unclassified_time_ns"),
            time("exposed_comm_time_ns"),
            time("exposed_comm_max_ns")
        );
    }
    text += &peak_share(report, trace, row.int("device")).unwrap_or_default();
    text
}

/// The share of the peak that products reach on a device, over all steps that have one.
fn peak_share(report: &Report, trace: &Trace, device: Option<i64>) -> Option<String> {
    let answer = report.answer("mfu")?;
    let mut dtype = None;
    let (mut reached, mut whole) = (0.0, 0.0);
    for step in answer.of(&trace.trace_id).filter(|r| r.int("device") == device) {
        if let (Some(pct), Some(ns)) = (step.number("hfu_pct"), step.int("step_ns")) {
            reached += pct * ns as f64;
            whole += ns as f64;
            dtype = step.text("peak_dtype").or(dtype);
        }
    }
    let dtype = dtype.filter(|_| whole > 0.0)?;
    Some(format!("; products reach {:.1} % of its {dtype} peak over the steps", reached / whole))
}

fn peak(row: Row) -> String {
    let device = match (row.text("device_type").unwrap_or("?"), row.int("device")) {
        (kind, Some(device)) if device >= 0 => format!("{kind}:{device}"),
        (kind, _) => kind.to_owned(),
    };
    let mut text =
        format!("{device}: {} allocated", human::value(row.get("peak_allocated_bytes"), "bytes"));
    if row.int("peak_reserved_bytes").is_some() {
        text += &format!(", {} reserved", human::value(row.get("peak_reserved_bytes"), "bytes"));
    }
    if let Some(pct) = row.number("peak_pct") {
        text += &format!(
            " ({} of {})",
            human::pct(pct),
            human::value(row.get("total_memory_bytes"), "bytes")
        );
    }
    text
}

/// The number of rows of findings for each status.
pub fn tally(answer: &Answer, trace: &Trace) -> String {
    let count = |status: &str, severity: Option<&str>| {
        answer
            .of(&trace.trace_id)
            .filter(|r| {
                r.text("status") == Some(status)
                    && (severity.is_none() || r.text("severity") == severity)
            })
            .count()
    };
    let mut parts: Vec<String> = Vec::new();
    for severity in ["high", "medium", "low", "info"] {
        let n = count("finding", Some(severity));
        if n > 0 {
            parts.push(format!("{n} {severity}"));
        }
    }
    if parts.is_empty() {
        parts.push("none".to_owned());
    }
    parts.push(format!("{} ok", count("ok", None)));
    parts.push(format!("{} not measurable", count("not_measurable", None)));
    parts.join(", ")
}

fn findings(report: &Report, trace: &Trace, width: usize) -> String {
    let Some(answer) = report.answer("findings").filter(|a| a.error.is_none()) else {
        return String::new();
    };
    let mut out = format!("\nFindings: {}\n", tally(answer, trace));
    let all: Vec<Row> =
        answer.of(&trace.trace_id).filter(|r| r.text("status") == Some("finding")).collect();
    let mut advised: Vec<&str> = Vec::new();
    for row in all.iter().take(MAX_ROWS) {
        let severity = row.text("severity").unwrap_or("info");
        out.push_str(&wrapped(
            &format!("  {severity:<7} "),
            row.text("message").unwrap_or_default(),
            width,
        ));
        // The advice of a rule is shown below the first finding of the rule.
        if let Some(advice) = row.text("advice").filter(|advice| !advised.contains(advice)) {
            advised.push(advice);
            out.push_str(&wrapped("          → ", advice, width));
        }
    }
    if all.len() > MAX_ROWS {
        out.push_str(&format!("  … {} more\n", all.len() - MAX_ROWS));
    }
    out
}

type Columns = &'static [(&'static str, &'static str)];
const OPERATORS: Columns = &[
    ("name", "Operator"),
    ("calls", "calls"),
    ("host_self_ns", "host self"),
    ("host_self_pct", "share"),
    ("device_self_ns", "device self"),
    ("device_self_pct", "share"),
];
const KERNELS: Columns = &[
    ("name", "Kernel"),
    ("class", "class"),
    ("calls", "calls"),
    ("total_ns", "time"),
    ("total_pct", "share"),
    ("mean_ns", "mean"),
];
const LOST_TIME: Columns = &[
    ("name", "Above the roofline"),
    ("calls", "calls"),
    ("device_ns", "device time"),
    ("lost_ns", "lost"),
    ("roofline_pct", "of the roofline"),
    ("cause", "likely cause"),
];
const OPERATIONS: Columns = &[
    ("name", "Operation"),
    ("device_name", "device"),
    ("calls", "calls"),
    ("total_ns", "time"),
    ("total_pct", "share"),
];
const LIVE_STACKS: Columns = &[
    ("site", "Live at the peak"),
    ("category", "category"),
    ("allocations", "allocations"),
    ("bytes", "size"),
    ("share_pct", "share"),
];
const CATEGORIES: Columns =
    &[("name", "Category"), ("events", "events"), ("self_ns", "self"), ("self_pct", "share")];

fn top(answer: &Answer, trace: &Trace, columns: Columns, width: usize) -> String {
    let titles: Vec<&str> = columns.iter().map(|c| c.1).collect();
    let mut table = Table::new(&titles);
    let unit = |name: &str| {
        answer.column(name).and_then(|at| answer.columns.get(at)).map_or("text", |c| c.unit)
    };
    for row in answer.of(&trace.trace_id).take(MAX_ROWS) {
        table
            .row(columns.iter().map(|(name, _)| human::value(row.get(name), unit(name))).collect());
    }
    if table.is_empty() {
        return String::new();
    }
    let rest = answer.rest(&trace.trace_id).map_or(0, |r| r.rows);
    let more = answer.of(&trace.trace_id).count() as u64 + rest;
    let mut out = format!("\n{}", table.write("  ", width));
    if more > MAX_ROWS as u64 {
        out.push_str(&format!("  … {} more\n", more - MAX_ROWS as u64));
    }
    out
}

fn ranks(report: &Report, width: usize) -> String {
    let Some(answer) = report.answer("ranks") else { return String::new() };
    let mut table =
        Table::new(&["Rank", "computation", "communication", "hidden", "exposed", "waiting"]);
    for trace in &report.traces {
        for row in answer.of(&trace.trace_id) {
            let time = |name| human::value(row.get(name), "ns");
            let rank = row.int("rank").map_or_else(|| title(trace), |r| r.to_string());
            let hidden = human::value(row.get("overlap_pct"), "pct");
            table.row(vec![
                rank,
                time("computation_ns"),
                time("communication_ns"),
                hidden,
                time("exposed_communication_ns"),
                time("wait_ns"),
            ]);
        }
    }
    if table.is_empty() { String::new() } else { format!("\nRanks\n{}", table.write("  ", width)) }
}

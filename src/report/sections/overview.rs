//! Sections about the traces as a whole: inputs, counts, findings, categories, coverage, issues.

use super::{Scope, Section, rows};

pub const TRACES: Section = Section {
    key: "traces",
    title: "Inputs",
    about: "What was read: files, their content, and how much of it is in the tables.",
    scope: Scope::Any,
    needs: &[],
    if_empty: "",
    is_detail: false,
    shape: rows(2000, &[]),
    sql:
        "SELECT trace_id, path, format, framework, rank, world_size, backend, host, content_hash, \
               input_bytes, text_bytes, base_time_ns,
       start_ns, duration_ns, element_count, event_count, skipped_count
FROM traces ORDER BY trace_id",
};

pub const OVERVIEW: Section = Section {
    key: "overview",
    title: "Overview",
    about: "What was recorded, where, for how long.",
    scope: Scope::Any,
    needs: &[],
    if_empty: "",
    is_detail: false,
    shape: rows(2000, &[]),
    sql: "SELECT trace_id, device_type, device_names, devices_used, streams_used, duration_ns, \
               profiled_ns, events, steps, host_threads, operators,
       runtime_calls, kernels, kernel_names, copies, fills, collectives, memory_events
FROM overview ORDER BY trace_id",
};

pub const FINDINGS: Section = Section {
    key: "findings",
    title: "Findings",
    about: "What each rule found, with the figures behind it, what to do, and a query that shows \
        the evidence. Rules that could not be measured say why.",
    scope: Scope::Any,
    needs: &[],
    if_empty: "no rule gave a row for this trace",
    is_detail: false,
    shape: rows(2000, &[]),
    sql: "SELECT trace_id, rule, status, severity, rank, device, step, subject, value, unit, \
               threshold, numerator, denominator, numerator_name,
       denominator_name, message, advice, evidence, reason
FROM findings
ORDER BY trace_id, CASE status WHEN 'finding' THEN 0 WHEN 'not_measurable' THEN 1 ELSE 2 END,
         CASE severity WHEN 'high' THEN 0 WHEN 'medium' THEN 1 WHEN 'low' THEN 2 ELSE 3 END, rule, \
               value DESC NULLS LAST, subject, device, step, message",
};

pub const CATEGORIES: Section = Section {
    key: "categories",
    title: "Categories",
    about: "Events by category. Self time is without the events inside, and shares are of the self \
        time of all events of the trace.",
    scope: Scope::Any,
    needs: &[],
    if_empty: "no event",
    is_detail: false,
    shape: rows(1000, &["events", "total_ns", "self_ns", "self_pct"]),
    sql: "SELECT trace_id, coalesce(cat, '(none)') AS name, events, total_ns, self_ns, self_pct, \
               min_ns, mean_ns, max_ns
FROM category_totals ORDER BY trace_id, self_ns DESC NULLS LAST, name",
};

pub const COVERAGE: Section = Section {
    key: "coverage",
    title: "Coverage",
    about: "What the trace tells and what it does not, and how to record what is missing.",
    scope: Scope::Torch,
    needs: &[],
    if_empty: "",
    is_detail: false,
    shape: rows(4000, &[]),
    sql: "SELECT trace_id, information, status, events, candidates, views, how_to_record
FROM coverage
ORDER BY trace_id, CASE status WHEN 'missing' THEN 0 WHEN 'partial' THEN 1 WHEN 'present' THEN 2 \
               ELSE 3 END, information",
};

pub const ISSUES: Section = Section {
    key: "issues",
    title: "Ingest issues",
    about: "What was odd about the input. Skipped elements have no row in the tables; all others \
        were kept.",
    scope: Scope::Any,
    needs: &[],
    if_empty: "nothing was odd about the input",
    is_detail: false,
    shape: rows(2000, &["count", "skipped_count"]),
    sql: "SELECT trace_id, severity, code, count, skipped_count, first_event_id, \
               first_byte_offset, example, detail
FROM ingest_issues
ORDER BY trace_id, CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, count DESC, \
               code",
};

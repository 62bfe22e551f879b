//! The tools `overview` and `findings`.

use serde_json::{Value, json};

use super::{Context, LIST_BYTES, fitting, rows, trace_id};
use crate::error::{Error, Result};
use crate::mcp::arguments::Arguments;
use crate::requests::{Answer, Query, Shape};

/// Traces that an overview lists.
const MAX_TRACES: usize = 16;
/// Findings that an overview lists.
const WORST: usize = 5;
/// Findings that a list of them has.
const MAX_FINDINGS: usize = 100;
/// Characters of a text of a finding. Its evidence is a query that must stay whole.
const MAX_TEXT: usize = 4_000;
const SEVERITIES: [&str; 4] = ["high", "medium", "low", "info"];

const TRACES: &str = "
    SELECT o.trace_id, o.path, s.format, o.rank, o.world_size, o.device_type, o.device_names,
           o.duration_ns, o.steps, o.events, o.skipped_events, o.operators, o.kernels, o.copies,
           o.collectives, o.memory_events, s.linked_pct
    FROM overview o JOIN trace_summary s ON s.trace_id = o.trace_id
    WHERE o.trace_id = coalesce($trace, o.trace_id)
    ORDER BY o.rank NULLS LAST, o.path, o.trace_id";

const NOT_RECORDED: &str = "
    SELECT information, status, count(*) AS traces, min(how_to_record) AS how_to_record
    FROM coverage
    WHERE status IN ('partial', 'missing') AND trace_id = coalesce($trace, trace_id)
    GROUP BY information, status ORDER BY information, status";

const FINDINGS: &str = "
    SELECT rule, severity, trace_id, rank, device, step, subject, value, unit, threshold, numerator,
           numerator_name, denominator, denominator_name, message, advice, evidence
    FROM findings
    WHERE status = 'finding' AND trace_id = coalesce($trace, trace_id)
      AND severity = coalesce($severity, severity) AND rule = coalesce($rule, rule)
    ORDER BY CASE severity WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END,
             value DESC NULLS LAST, rule, rank NULLS LAST, trace_id, subject, step";

const NOT_MEASURABLE: &str = "
    SELECT rule, reason, count(*) AS traces FROM findings
    WHERE status = 'not_measurable' AND trace_id = coalesce($trace, trace_id)
      AND rule = coalesce($rule, rule)
    GROUP BY rule, reason ORDER BY rule, reason";

const OK: &str = "
    SELECT count(DISTINCT rule) AS ok FROM findings
    WHERE status = 'ok' AND trace_id = coalesce($trace, trace_id) AND rule = coalesce($rule, rule)";

/// Views that suit a trace that has something, by the figure that says so.
const VIEWS: [(&str, &[&str]); 5] = [
    ("steps", &["step_time", "slow_steps"]),
    ("operators", &["operators", "category_totals"]),
    (
        "kernels",
        &[
            "gpu_timeline",
            "gpu_idle_causes",
            "gpu_time_by_class",
            "kernels_by_name",
            "cpu_gpu_sync",
        ],
    ),
    ("memory_events", &["memory_peak", "memory_by_operator", "memory_leak"]),
    ("collectives", &["collectives", "communication_wait"]),
];
/// Views that suit several ranks.
const VIEWS_OF_RANKS: [&str; 3] = ["stragglers", "collective_waits", "rank_communication"];
/// Views that suit traces of MLLM.
const VIEWS_OF_MLLM: [&str; 3] = ["mllm_summary", "mllm_operation_totals", "mllm_peak_blobs"];

pub async fn overview(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let open = context.open().await?;
    let trace = trace_id(&open, arguments)?;
    let nothing = None::<String>;
    let findings = Query::new(FINDINGS)
        .with("trace", trace.clone())
        .with("severity", nothing.clone())
        .with("rule", nothing);
    let queries = vec![
        Query::new(TRACES).with("trace", trace.clone()).within(rows(MAX_TRACES)),
        Query::new(NOT_RECORDED).with("trace", trace.clone()),
        findings.within(whole_texts(WORST)),
    ];
    let answers = context.ask(&open, queries).await?;
    let [traces, not_recorded, findings] = &answers[..] else {
        return Err(Error::Query("the overview is not complete".to_owned()));
    };
    let count = if trace.is_some() { 1 } else { open.engine.traces().len() };
    let views = suitable(traces, count);
    let (not_recorded, is_cut) = fitting(not_recorded.objects(), LIST_BYTES / 4);
    Ok(json!({
        "trace_count": count,
        "traces": traces.objects(),
        "not_recorded": not_recorded,
        "findings": brief(findings),
        "views": views,
        "truncated": is_cut || traces.cut.is_some(),
    }))
}

/// Bounds of a list of findings.
fn whole_texts(max_rows: usize) -> Shape {
    Shape { max_text: MAX_TEXT, ..rows(max_rows) }
}

/// The findings without the figures that their sentence has.
fn brief(findings: &Answer) -> Vec<Value> {
    const KEPT: [&str; 7] =
        ["rule", "severity", "trace_id", "subject", "message", "advice", "evidence"];
    let mut all = findings.objects();
    for finding in all.iter_mut().filter_map(Value::as_object_mut) {
        finding.retain(|name, _| KEPT.contains(&name.as_str()));
    }
    all
}

fn suitable(traces: &Answer, count: usize) -> Vec<&'static str> {
    let traces = traces.objects();
    let has = |figure: &str| {
        traces.iter().any(|trace| trace.get(figure).and_then(Value::as_i64).unwrap_or(0) > 0)
    };
    let mut views = vec!["trace_summary", "coverage"];
    views.extend(VIEWS.iter().filter(|(figure, _)| has(figure)).flat_map(|(_, views)| *views));
    if count > 1 && has("collectives") {
        views.extend(VIEWS_OF_RANKS);
    }
    if traces.iter().any(|trace| trace["format"] == "mllm_perf") {
        views.extend(VIEWS_OF_MLLM);
    }
    views
}

pub async fn findings(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let severity = arguments.text("severity")?.map(str::to_owned);
    if let Some(severity) = severity.as_deref().filter(|s| !SEVERITIES.contains(s)) {
        let known = SEVERITIES.join(", ");
        return Err(Error::Usage(format!("there is no severity {severity:?}; there are {known}")));
    }
    let open = context.open().await?;
    let rule = match arguments.text("rule")? {
        Some(name) => Some(known_rule(name, open.engine.library())?),
        None => None,
    };
    let trace = trace_id(&open, arguments)?;
    let of = |sql: &str| Query::new(sql).with("trace", trace.clone()).with("rule", rule.clone());
    let queries = vec![
        of(FINDINGS).with("severity", severity).within(whole_texts(MAX_FINDINGS)),
        of(NOT_MEASURABLE).within(rows(MAX_FINDINGS)),
        of(OK),
    ];
    let answers = context.ask(&open, queries).await?;
    let [findings, not_measurable, ok] = &answers[..] else {
        return Err(Error::Query("the findings are not complete".to_owned()));
    };
    let (listed, is_cut) = fitting(findings.objects(), LIST_BYTES);
    let (not_measurable, others_are_cut) = fitting(not_measurable.objects(), LIST_BYTES / 2);
    let ok = ok.rows.first().and_then(|row| row.get(0)).and_then(Value::as_i64).unwrap_or(0);
    Ok(json!({
        "findings": listed,
        "not_measurable": not_measurable,
        "ok": ok,
        "truncated": is_cut || others_are_cut || findings.cut.is_some(),
    }))
}

/// The name of a rule as the view `findings` has it. `rule_` before it may be there or not.
fn known_rule(name: &str, library: &crate::library::Library) -> Result<String> {
    let short = name.strip_prefix("rule_").unwrap_or(name);
    let rules: Vec<&str> = library.public_views().filter_map(|view| view.rule_name()).collect();
    if rules.contains(&short) {
        return Ok(short.to_owned());
    }
    let near = crate::suggest::nearest(short, rules.iter().copied());
    let hint = crate::suggest::hint(near.first().copied());
    Err(Error::Usage(format!(
        "there is no rule {name:?}{hint}; list_views with area rules has all"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;

    #[test]
    fn the_views_that_suit_exist() {
        let library = Library::load(&[]).expect("the library");
        let of_figures = VIEWS.iter().flat_map(|(_, views)| *views);
        let all = of_figures.chain(&VIEWS_OF_RANKS).chain(&VIEWS_OF_MLLM);
        let missing: Vec<_> = all.filter(|name| library.view(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

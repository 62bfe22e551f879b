//! Writes the outcome as JSON for programs.

use serde_json::{Value, json};

use crate::check::{Counts, Item, Kind, Verdict, checks, findings};
use crate::environment;

/// The outcome as one object. docs/ci.md describes its keys.
pub fn object(verdict: &Verdict) -> String {
    let counts = Counts::of_all(verdict);
    let checks_of = |kind| checks(verdict, kind).len();
    let object = json!({
        "format": "tracesql-check",
        "format_version": 1,
        "tracesql_version": tracesql_ingest::VERSION,
        "result": verdict.word(),
        "exit_code": verdict.exit_code(),
        "source": verdict.source,
        "traces": verdict.traces.iter().map(|t| json!({
            "trace": t.label, "trace_id": t.trace_id, "path": t.path,
            "content_hash": t.content_hash,
        })).collect::<Vec<_>>(),
        "summary": {
            "checks": counts.checks,
            "passed": counts.passed,
            "noted": counts.noted,
            "not_measurable": counts.not_measurable,
            "failed": counts.failed,
            "errors": counts.errors,
            "rules": checks_of(Kind::Rule),
            "assertions": checks_of(Kind::Assertion),
            "metrics": checks_of(Kind::Metric),
            "results": verdict.items.len(),
            "findings": findings(verdict),
        },
        "environment": environment::json(&verdict.differences),
        "warnings": verdict.warnings,
        "severity": verdict.limits.severity.name(),
        "thresholds": verdict.limits.thresholds,
        "settings_changed": verdict.limits.settings.iter().map(|(name, s)| json!({
            "name": name, "value": s.value, "default": s.default, "unit": s.unit,
        })).collect::<Vec<_>>(),
        "notes": verdict.notes,
        "checks": verdict.items.iter().map(check).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn check(item: &Item) -> Value {
    let (columns, rows) = item
        .rows
        .split_first()
        .map_or((Value::Null, Value::Null), |(header, rows)| (json!(header), json!(rows)));
    json!({
        "kind": item.kind.name(),
        "name": item.name,
        "subject": item.subject,
        "trace": item.trace,
        "status": item.status.name(),
        "severity": item.severity.map(|s| s.name()),
        "message": item.message,
        "advice": item.advice,
        "evidence": item.evidence,
        "file": item.place.as_ref().map(|p| &p.0),
        "line": item.place.as_ref().map(|p| p.1),
        "columns": columns,
        "rows": rows,
        "figures": item.figures,
    })
}

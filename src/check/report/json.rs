//! Writes the outcome as JSON for programs.

use serde_json::{Value, json};

use crate::check::{Item, Status, Verdict};

/// The outcome as one object. docs/ci.md describes its keys.
pub fn object(verdict: &Verdict) -> String {
    let count = |status| verdict.count(status);
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
            "checks": verdict.items.len(),
            "passed": count(Status::Passed),
            "noted": count(Status::Noted),
            "not_measurable": count(Status::NotMeasurable),
            "failed": count(Status::Failed),
            "errors": count(Status::Error),
        },
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

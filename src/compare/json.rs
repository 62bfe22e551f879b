//! Writes a comparison as JSON for programs.

use serde_json::{Value, json};

use super::{Comparison, Side};
use crate::environment;

/// The comparison as one object. Its rows have the columns of the view `comparison`.
pub fn value(comparison: &Comparison) -> Value {
    let side = |side: &Side| json!({"name": side.name, "traces": side.traces, "steps": side.steps});
    let failures = comparison
        .failures
        .iter()
        .map(|f| json!({"condition": f.condition, "message": f.message}))
        .collect::<Vec<_>>();
    let rows = comparison
        .rows
        .iter()
        .filter(|r| comparison.by.contains(&r.by))
        .map(|r| Value::Object(r.columns.clone()))
        .collect::<Vec<_>>();
    json!({
        "format": "tracesql-comparison",
        "format_version": 1,
        "tracesql_version": tracesql_ingest::VERSION,
        "base": side(&comparison.base),
        "candidate": side(&comparison.cand),
        "by": comparison.by.iter().map(|b| b.name()).collect::<Vec<_>>(),
        "result": if comparison.failures.is_empty() { "passed" } else { "failed" },
        "environment": environment::json(&comparison.differences),
        "warnings": comparison.warnings,
        "failures": failures,
        "notes": comparison.notes,
        "rows": rows,
    })
}

/// The object as text.
pub fn object(comparison: &Comparison) -> String {
    format!("{:#}\n", value(comparison))
}

//! Writes the reference as one JSON object for programs.

use serde_json::{Value, json};

use super::Reference;
use crate::library::{Range, Scope, View};

/// `{"tables": […], "views": […], "functions": […], "rules": […], "settings": […],
/// "topics": […]}`.
pub fn object(reference: &Reference) -> String {
    let (rules, views): (Vec<&View>, Vec<&View>) =
        reference.views.iter().partition(|v| v.rule_name().is_some());
    let object = json!({
        "tables": reference.tables.iter().map(relation).collect::<Vec<_>>(),
        "views": views.into_iter().map(relation).collect::<Vec<_>>(),
        "functions": reference.functions.iter().map(|f| json!({
            "name": f.doc.name,
            "area": f.doc.area,
            "kind": f.call.kind(),
            "signature": f.doc.signature,
            "summary": f.doc.summary,
            "detail": f.doc.detail,
            "nulls": f.doc.nulls,
            "errors": f.doc.errors,
            "examples": f.doc.examples.iter()
                .map(|e| json!({"sql": e.sql, "answer": e.answer}))
                .collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "rules": rules.into_iter().map(relation).collect::<Vec<_>>(),
        "settings": reference.settings.iter().map(|(name, s)| json!({
            "name": name,
            "value": s.value,
            "default": s.default,
            "unit": s.unit,
            "description": s.description,
        })).collect::<Vec<_>>(),
        "topics": reference.topics.iter().map(|t| json!({
            "name": t.name, "summary": t.summary, "file": t.file, "text": t.text,
        })).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn relation(view: &View) -> Value {
    json!({
        "name": view.name,
        "area": view.area,
        "summary": view.summary,
        "detail": view.detail,
        "scope": view.scope.map(Scope::word),
        "source": view.source,
        "example": view.example,
        "columns": view.columns.iter().map(|c| json!({
            "name": c.name,
            "type": c.data_type,
            "unit": c.unit,
            "description": c.description,
            "range": view.range(c).map(Range::word),
        })).collect::<Vec<_>>(),
        "holds": view.truths.holds,
        "parts": view.truths.parts.iter().map(|p| json!({
            "column": p.column, "by": p.keys, "of": [p.whole, p.of],
        })).collect::<Vec<_>>(),
    })
}

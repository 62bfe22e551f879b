//! The reference of tables, views, functions and settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use serde_json::{Value, json};
use tracesql::docs::Reference;
use tracesql::library::{Body, View};
use tracesql::sql_text::lex;

use crate::failure::{Answer, Failure};
use crate::open::State;

/// GET `/api/docs`.
pub async fn all(Shared(state): Shared<Arc<State>>) -> Answer {
    let reference = state.reference();
    let relations = |views: &[View]| -> Vec<Value> {
        let one = |view: &View| {
            json!({
                "name": view.name,
                "area": view.area,
                "summary": view.summary,
                "is_rule": view.rule_name().is_some(),
            })
        };
        views.iter().map(one).collect()
    };
    let functions = reference.functions.iter().map(|f| {
        json!({
            "name": f.doc.name,
            "kind": f.call.kind(),
            "signature": f.doc.signature,
            "summary": f.doc.summary,
        })
    });
    let settings = reference.settings.iter().map(|(name, s)| {
        json!({
            "name": name,
            "unit": s.unit,
            "default": s.default,
            "value": s.value,
            "summary": s.description,
        })
    });
    Ok(Json(json!({
        "tables": relations(&reference.tables),
        "views": relations(&reference.views),
        "functions": functions.collect::<Vec<_>>(),
        "settings": settings.collect::<Vec<_>>(),
    })))
}

/// GET `/api/docs/NAME`.
pub async fn one(Shared(state): Shared<Arc<State>>, Path(name): Path<String>) -> Answer {
    let reference = state.reference();
    let kind = |view: &View| match view.rule_name() {
        Some(_) => "rule",
        None => "view",
    };
    let found = (reference.tables.iter().map(|t| ("table", t)))
        .chain(reference.views.iter().map(|v| (kind(v), v)))
        .find(|(_, view)| view.name == name);
    let Some((kind, view)) = found else {
        return Err(Failure::new(
            StatusCode::NOT_FOUND,
            format!("there is no table or view {name}"),
        ));
    };
    let sql = match &view.body {
        Body::Query(sql) => Some(sql.clone()),
        _ => None,
    };
    let columns = view.columns.iter().map(
        |c| json!({"name": c.name, "type": c.data_type, "unit": c.unit, "text": c.description}),
    );
    Ok(Json(json!({
        "name": view.name,
        "kind": kind,
        "area": view.area,
        "summary": view.summary,
        "text": view.detail,
        "source": view.source,
        "example": view.example,
        "file": view.file,
        "uses": sql.as_deref().map(|sql| uses(sql, &view.name, &reference)),
        "sql": sql,
        "columns": columns.collect::<Vec<_>>(),
    })))
}

/// The public tables and views that a statement names.
fn uses(sql: &str, own: &str, reference: &Reference) -> Vec<String> {
    let tokens = lex::tokens(sql);
    let named: BTreeSet<String> = tokens.iter().filter_map(lex::Token::name).collect();
    let relations = reference.tables.iter().chain(&reference.views);
    relations.map(|r| r.name.clone()).filter(|name| name != own && named.contains(name)).collect()
}

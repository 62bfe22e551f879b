//! The tools about names: `list_views`, `describe_view` and `functions`. They need no trace.

use serde_json::{Value, json};

use super::{Context, LIST_BYTES, fitting};
use crate::docs::Reference;
use crate::error::{Error, Result};
use crate::library::{Body, Scope, View};
use crate::mcp::arguments::Arguments;
use crate::requests::text_of;
use crate::suggest;

/// The bytes of the longest list of views. All of them together have less.
const MAX_VIEWS_BYTES: usize = 38_000;
/// The characters of the SQL of a view.
const MAX_SQL: usize = 16_000;

pub fn list_views(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let reference = context.server.reference();
    let all: Vec<&View> = reference.tables.iter().chain(&reference.views).collect();
    let mut areas: Vec<&str> = all.iter().map(|view| view.area.as_str()).collect();
    areas.sort_unstable();
    areas.dedup();
    let area = arguments.text("area")?;
    if let Some(area) = area.filter(|area| !areas.contains(area)) {
        let known = areas.join(", ");
        return Err(Error::Usage(format!("there is no area {area:?}; there are {known}")));
    }
    let found: Vec<&View> = match arguments.text("text")? {
        Some(words) => {
            let hits = reference.search(words);
            let view = |name: &str| all.iter().copied().find(|view| view.name == name);
            hits.iter().filter_map(|hit| view(&hit.name)).collect()
        }
        None => all.clone(),
    };
    let listed = found
        .into_iter()
        .filter(|view| area.is_none_or(|area| view.area == area))
        .map(|view| json!({"name": view.name, "summary": view.summary}))
        .collect();
    let (views, truncated) = fitting(listed, MAX_VIEWS_BYTES);
    Ok(json!({"views": views, "areas": areas, "truncated": truncated}))
}

pub fn describe_view(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let name = arguments.needed("name")?;
    let with_sql = arguments.flag("sql")?;
    let reference = context.server.reference();
    let view = find(&reference, name)?;
    let columns: Vec<Value> = view
        .columns
        .iter()
        .map(|c| {
            json!({"name": c.name, "type": c.data_type, "unit": c.unit, "about": c.description})
        })
        .collect();
    let mut value = json!({
        "name": view.name,
        "area": view.area,
        "summary": view.summary,
        "detail": view.detail,
        "columns": columns,
        "example": view.example,
        "source": view.source,
        "scope": view.scope.map(Scope::word),
    });
    if with_sql {
        value["sql"] = match &view.body {
            Body::Query(sql) => text_of(sql.clone(), MAX_SQL).into(),
            Body::Data(_) => "a table of values".into(),
        };
    }
    Ok(value)
}

/// A table or view by name. The error suggests similar names.
pub fn find<'a>(reference: &'a Reference, name: &str) -> Result<&'a View> {
    let all = || reference.tables.iter().chain(&reference.views);
    if let Some(view) = all().find(|view| view.name.eq_ignore_ascii_case(name)) {
        return Ok(view);
    }
    let names = || all().map(|view| view.name.as_str());
    let near = suggest::nearest(name, names()).first().copied();
    let hint = suggest::hint(near.or_else(|| suggest::most_similar(name, names())));
    Err(Error::Usage(format!(
        "there is no table or view {name:?}{hint}; list_views finds them by words"
    )))
}

pub fn functions(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let words: Vec<String> = arguments
        .text("text")?
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let reference = context.server.reference();
    let listed = reference
        .functions
        .iter()
        .filter(|f| {
            let text = format!("{} {} {}", f.doc.name, f.doc.area, f.doc.summary).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
        .map(|f| {
            let example = f.doc.examples.first();
            json!({
                "name": f.doc.name,
                "signature": f.doc.signature,
                "summary": f.doc.summary,
                "example": example.map(|e| e.sql),
                "answer": example.map(|e| e.answer),
            })
        })
        .collect();
    let (functions, truncated) = fitting(listed, LIST_BYTES);
    Ok(json!({"functions": functions, "truncated": truncated}))
}

//! Tables about tracesql itself: its relations, columns, functions and settings. They are made from
//! the comments that document them.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::error::Result;

use super::settings::Settings;
use crate::library::{Column, Library, Scope, View};

/// The table of settings.
pub const SETTINGS: &str = "tracesql_settings";

/// All system tables.
pub const NAMES: &[&str] = &["tracesql_views", "tracesql_columns", "tracesql_functions", SETTINGS];

/// The table with one of the names in [`NAMES`], except [`SETTINGS`].
pub fn table(name: &str, library: &Library) -> Result<Arc<dyn TableProvider>> {
    match name {
        "tracesql_views" => relations(library),
        "tracesql_columns" => columns(library),
        _ => functions(),
    }
}

/// All documented relations: first tables of the store, then system tables, then views.
pub fn documented(library: &Library) -> Vec<(&'static str, View)> {
    let tables = Library::tables().chain(own()).map(|v| ("table", v));
    tables.chain(library.public_views().map(|v| ("view", v.clone()))).collect()
}

fn relations(library: &Library) -> Result<Arc<dyn TableProvider>> {
    let all = documented(library);
    let text = |of: for<'a> fn(&'a (&'static str, View)) -> &'a str| -> ArrayRef {
        Arc::new(all.iter().map(|r| Some(of(r))).collect::<StringArray>())
    };
    rows(vec![
        ("name", text(|r| &r.1.name)),
        ("area", text(|r| &r.1.area)),
        ("kind", text(|r| r.0)),
        ("summary", text(|r| &r.1.summary)),
        ("detail", text(|r| &r.1.detail)),
        ("source", text(|r| &r.1.source)),
        ("example", text(|r| &r.1.example)),
        ("file", text(|r| &r.1.file)),
        (
            "scope",
            Arc::new(all.iter().map(|r| r.1.scope.map(Scope::word)).collect::<StringArray>()),
        ),
    ])
}

fn columns(library: &Library) -> Result<Arc<dyn TableProvider>> {
    let relations = documented(library);
    let all: Vec<(&str, usize, &Column)> = relations
        .iter()
        .flat_map(|(_, v)| v.columns.iter().enumerate().map(|(i, c)| (v.name.as_str(), i + 1, c)))
        .collect();
    let text = |of: fn(&Column) -> &str| -> ArrayRef {
        Arc::new(all.iter().map(|(_, _, c)| Some(of(c))).collect::<StringArray>())
    };
    rows(vec![
        ("relation", Arc::new(all.iter().map(|r| Some(r.0)).collect::<StringArray>())),
        ("position", Arc::new(all.iter().map(|r| r.1 as i64).collect::<Int64Array>())),
        ("name", text(|c| &c.name)),
        ("data_type", text(|c| &c.data_type)),
        ("unit", text(|c| &c.unit)),
        ("description", text(|c| &c.description)),
    ])
}

fn functions() -> Result<Arc<dyn TableProvider>> {
    let mut all = super::functions();
    all.sort_by_key(|f| f.doc.name);
    let text = |of: &dyn Fn(&tracesql_udfs::Function) -> String| -> ArrayRef {
        Arc::new(all.iter().map(|f| Some(of(f))).collect::<StringArray>())
    };
    let example = |of: fn(&tracesql_udfs::Example) -> &str| {
        move |f: &tracesql_udfs::Function| {
            f.doc.examples.iter().map(of).collect::<Vec<_>>().join("\n")
        }
    };
    rows(vec![
        ("name", text(&|f| f.doc.name.to_owned())),
        ("area", text(&|f| f.doc.area.to_owned())),
        ("kind", text(&|f| f.call.kind().to_owned())),
        ("signature", text(&|f| f.doc.signature.to_owned())),
        ("summary", text(&|f| f.doc.summary.to_owned())),
        ("detail", text(&|f| f.doc.detail.to_owned())),
        ("nulls", text(&|f| f.doc.nulls.to_owned())),
        ("errors", text(&|f| f.doc.errors.to_owned())),
        ("example", text(&example(|e| e.sql))),
        ("answer", text(&example(|e| e.answer))),
    ])
}

/// The table of the settings with their current values.
pub fn settings(settings: &Settings) -> Result<Arc<dyn TableProvider>> {
    let all = settings.all();
    rows(vec![
        ("name", Arc::new(all.keys().map(Some).collect::<StringArray>())),
        ("value", Arc::new(all.values().map(|s| s.value.as_deref()).collect::<StringArray>())),
        (
            "default_value",
            Arc::new(all.values().map(|s| s.default.as_deref()).collect::<StringArray>()),
        ),
        ("unit", Arc::new(all.values().map(|s| Some(s.unit.as_str())).collect::<StringArray>())),
        (
            "description",
            Arc::new(all.values().map(|s| Some(s.description.as_str())).collect::<StringArray>()),
        ),
    ])
}

fn rows(columns: Vec<(&str, ArrayRef)>) -> Result<Arc<dyn TableProvider>> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}

/// The system tables, documented in the same way as views.
fn own() -> impl Iterator<Item = View> {
    let of = |name: &str, summary: &str, columns: &[(&str, &str)]| View {
        name: name.to_owned(),
        area: "system".to_owned(),
        summary: summary.to_owned(),
        detail: String::new(),
        source: String::new(),
        example: String::new(),
        columns: columns.iter().map(|(name, description)| column(name, description)).collect(),
        truths: crate::library::Truths::default(),
        scope: None,
        lookup: Vec::new(),
        is_of_several: false,
        file: String::new(),
        body: crate::library::Body::Data(Vec::new()),
    };
    [
        of(
            "tracesql_views",
            "One row per table and view.",
            &[
                ("name", "Name."),
                (
                    "area",
                    "Area: the folder under sql, tables for those of a store, system for these.",
                ),
                ("kind", "table or view."),
                ("summary", "What a row is, or what it answers, in a sentence."),
                ("detail", "The rules in full."),
                ("source", "Where the formula comes from."),
                ("example", "A query that shows the use."),
                ("file", "The file of the view; empty for tables."),
                (
                    "scope",
                    "What a row depends on: trace, job (a trace and its row of job_ranks) or store \
                     (several traces); NULL for tables that belong to no trace.",
                ),
            ],
        ),
        of(
            "tracesql_columns",
            "One row per column of a table or view.",
            &[
                ("relation", "Name of the table or view."),
                ("position", "Position of the column, from 1."),
                ("name", "Name of the column."),
                ("data_type", "SQL type."),
                ("unit", "Unit of the values."),
                ("description", "Meaning, and when it is NULL."),
            ],
        ),
        of(
            "tracesql_functions",
            "One row per function that tracesql adds to SQL.",
            &[
                ("name", "Name."),
                ("area", "What it belongs to."),
                ("kind", "scalar, aggregate, window, relation or operator."),
                ("signature", "How it is called and what it returns."),
                ("summary", "What it gives, in a sentence."),
                ("detail", "Units and rules in full."),
                ("nulls", "What NULL gives."),
                ("errors", "What is refused."),
                ("example", "Statements that show the use, one a line."),
                ("answer", "Their answers."),
            ],
        ),
        of(
            SETTINGS,
            "One row per setting, with the value that it has in this session.",
            &[
                ("name", "Name, as setting(…) and --set take it."),
                ("value", "Value now."),
                ("default_value", "Value unless it is changed."),
                ("unit", "Unit of the value."),
                ("description", "What it decides."),
            ],
        ),
    ]
    .into_iter()
}

fn column(name: &str, description: &str) -> Column {
    let (data_type, unit) =
        if name == "position" { ("BIGINT", "count") } else { ("VARCHAR", "text") };
    Column {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        unit: unit.to_owned(),
        description: description.to_owned(),
    }
}

//! Writes the reference for a terminal: an overview of all names, or the full text of some entries.

use std::fmt::Write;

use super::{Reference, by_area};
use crate::library::{Body, View};

/// All names with their summaries.
pub fn overview(reference: &Reference) -> String {
    let mut out = String::new();
    let relations = reference
        .tables
        .iter()
        .map(|v| v.name.len())
        .chain(reference.views.iter().map(|v| v.name.len()));
    let names = relations
        .chain(reference.functions.iter().map(|f| f.doc.name.len()))
        .chain(reference.settings.keys().map(String::len));
    let names = names.chain(reference.topics.iter().map(|t| t.name.len()));
    let width = names.max().unwrap_or(0);
    let mut group = |title: &str, lines: Vec<(&str, &str)>| {
        let _ = writeln!(out, "{title}");
        for (name, summary) in lines {
            let _ = writeln!(out, "  {name:width$}  {summary}");
        }
        out.push('\n');
    };
    for (area, tables) in by_area(&reference.tables, |v| &v.area) {
        let title = if area == "tables" {
            "Tables of a store".to_owned()
        } else {
            format!("Tables: {area}")
        };
        group(&title, tables.iter().map(|v| (v.name.as_str(), v.summary.as_str())).collect());
    }
    for (area, views) in by_area(&reference.views, |v| &v.area) {
        group(
            &format!("Views: {area}"),
            views.iter().map(|v| (v.name.as_str(), v.summary.as_str())).collect(),
        );
    }
    for (area, functions) in by_area(&reference.functions, |f| f.doc.area) {
        group(
            &format!("Functions: {area}"),
            functions.iter().map(|f| (f.doc.name, f.doc.summary)).collect(),
        );
    }
    group(
        "Settings",
        reference.settings.iter().map(|(n, s)| (n.as_str(), s.description.as_str())).collect(),
    );
    group("Topics", reference.topics.iter().map(|t| (t.name, t.summary)).collect());
    out.push_str("`tracesql docs NAME` tells more; \\d NAME does in the shell.\n");
    out
}

/// The full text of each entry.
pub fn details(reference: &Reference) -> String {
    let mut out = String::new();
    for view in reference.tables.iter().chain(&reference.views) {
        relation(&mut out, view);
    }
    for function in &reference.functions {
        let doc = &function.doc;
        let _ = writeln!(out, "{}\n\n{}\n{}", doc.signature, doc.summary, doc.detail);
        let _ = writeln!(out, "NULL: {}\nErrors: {}", doc.nulls, doc.errors);
        for example in doc.examples {
            let _ = writeln!(
                out,
                "\n  {}\n  → {}",
                example.sql.replace('\n', "\n  "),
                example.answer.replace('\n', "\n    ")
            );
        }
        out.push('\n');
    }
    for (name, setting) in &reference.settings {
        let value = |v: &Option<String>| v.clone().unwrap_or_else(|| "NULL".to_owned());
        let _ = writeln!(out, "setting {name} = {} {}", value(&setting.value), setting.unit);
        let _ = writeln!(out, "{} Default: {}.\n", setting.description, value(&setting.default));
    }
    reference.topics.iter().for_each(|t| out.push_str(t.text));
    out
}

fn relation(out: &mut String, view: &View) {
    let _ = writeln!(out, "{} ({})\n\n{}", view.name, view.area, view.summary);
    if !view.detail.is_empty() {
        let _ = writeln!(out, "\n{}", view.detail);
    }
    out.push('\n');
    let width =
        |of: fn(&crate::library::Column) -> usize| view.columns.iter().map(of).max().unwrap_or(0);
    let (names, types, units) =
        (width(|c| c.name.len()), width(|c| c.data_type.len()), width(|c| c.unit.len()));
    for column in &view.columns {
        let _ = writeln!(
            out,
            "  {:names$}  {:types$}  {:units$}  {}",
            column.name, column.data_type, column.unit, column.description
        );
    }
    if let (Body::Query(_), Some(scope)) = (&view.body, view.scope) {
        let _ = writeln!(out, "\nScope: {}", scope.word());
    }
    if !view.source.is_empty() {
        let _ = writeln!(out, "\nSource: {}", view.source);
    }
    if !view.example.is_empty() {
        let _ = writeln!(out, "\nExample:\n  {}", view.example.replace('\n', "\n  "));
    }
    let truths = view.truths.lines();
    if !truths.is_empty() {
        let _ = writeln!(out, "\nHolds:\n  {}", truths.join("\n  "));
    }
    if !view.file.is_empty() {
        let _ = writeln!(out, "\nFile: {}", view.file);
    }
    out.push('\n');
}

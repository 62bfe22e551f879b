//! The reference as one Markdown page.

use std::fmt::Write;

use super::{Reference, by_area};
use crate::library::View;

/// The whole page.
pub fn page(reference: &Reference) -> String {
    let mut out = String::from(
        "# Reference: tables, views, functions, settings\n\n\
         This page is written by `tracesql docs --format markdown`; do not edit it by hand. Views are files in `sql/`,\n\
         functions are in `udfs/`. The tables of a store are described in [tables.md](tables.md) as well.\n\n",
    );
    if !reference.topics.is_empty() {
        out.push_str(
            "Pages on what no single view can tell; `tracesql docs NAME` prints them:\n\n",
        );
        for topic in &reference.topics {
            let _ = writeln!(out, "- [{}]({}): {}", topic.name, topic.file, topic.summary);
        }
        out.push('\n');
    }
    for (area, tables) in by_area(&reference.tables, |v| &v.area) {
        let title = if area == "tables" {
            "Tables of a store".to_owned()
        } else {
            format!("Tables: {area}")
        };
        let _ = writeln!(out, "## {title}\n");
        tables.iter().for_each(|v| relation(&mut out, v));
    }
    for (area, views) in by_area(&reference.views, |v| &v.area) {
        let _ = writeln!(out, "## Views: {area}\n");
        views.iter().for_each(|v| relation(&mut out, v));
    }
    for (area, functions) in by_area(&reference.functions, |f| f.doc.area) {
        let _ = writeln!(out, "## Functions: {area}\n");
        for function in functions {
            let doc = &function.doc;
            let _ = writeln!(
                out,
                "### {}\n\n`{}` ({})\n\n{} {}\n",
                doc.name,
                doc.signature,
                function.call.kind(),
                doc.summary,
                doc.detail
            );
            let _ = writeln!(out, "NULL: {} Errors: {}\n", doc.nulls, doc.errors);
            for example in doc.examples {
                let _ = writeln!(
                    out,
                    "```sql\n{};\n-- {}\n```\n",
                    example.sql,
                    example.answer.replace('\n', "\n-- ")
                );
            }
        }
    }
    if !reference.settings.is_empty() {
        out.push_str(
            "## Settings\n\n| setting | default | unit | meaning |\n| --- | --- | --- | --- |\n",
        );
        for (name, s) in &reference.settings {
            let _ = writeln!(
                out,
                "| `{name}` | {} | {} | {} |",
                s.default.as_deref().unwrap_or("NULL"),
                s.unit,
                cell(&s.description)
            );
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// What has one name: a topic is its page, all else a page of the reference.
pub fn part(reference: &Reference) -> String {
    match reference.topics.as_slice() {
        [] => page(reference),
        topics => topics.iter().map(|t| t.text).collect(),
    }
}

fn relation(out: &mut String, view: &View) {
    let _ = writeln!(out, "### {}\n\n{}\n", view.name, view.summary);
    if !view.detail.is_empty() {
        let _ = writeln!(out, "{}\n", view.detail);
    }
    out.push_str("| column | type | unit | meaning |\n| --- | --- | --- | --- |\n");
    for c in &view.columns {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            c.name,
            c.data_type,
            c.unit,
            cell(&c.description)
        );
    }
    out.push('\n');
    let truths = view.truths.lines();
    if !truths.is_empty() {
        let _ = writeln!(out, "Holds:\n\n- {}\n", truths.join("\n- ").replace('*', "\\*"));
    }
    if !view.source.is_empty() {
        let _ = writeln!(out, "Source: {}\n", view.source);
    }
    if !view.example.is_empty() {
        let _ = writeln!(out, "```sql\n{}\n```\n", view.example);
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

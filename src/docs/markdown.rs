//! Writes the reference as one Markdown page. Its lines are short enough to read and compare as
//! text.

use std::fmt::Write;

use super::{Reference, by_area};
use crate::library::{Body, Column, View};

/// The maximum length of a line. A longer word is not broken.
const WIDTH: usize = 100;

const INTRODUCTION: &str = "\
# Reference: tables, views, functions, settings

This page is written by `tracesql docs --format markdown`; do not edit it by hand. Views are files
in `sql/`, functions are in `udfs/`. [tables.md](tables.md) describes the tables of a store, and
[questions.md](questions.md) which views answer which question. Columns and settings are listed as
`name` TYPE (unit): meaning.

The scope of a view says which traces a row depends on. `trace` is one trace, so the rows over a
store are the rows over each trace, put together. `job` is one trace and its row of `job_ranks`.
`store` is several traces of the store.

";

/// The area of the tables of a store. Another page describes them.
const STORE_TABLES: &str = "tables";

/// The whole page.
pub fn page(reference: &Reference) -> String {
    let mut out = String::from(INTRODUCTION);
    contents(&mut out, reference);
    if !reference.topics.is_empty() {
        out.push_str("## Topics\n\nPages on several views; `tracesql docs NAME` prints them:\n\n");
        for topic in &reference.topics {
            item(&mut out, &format!("[{}]({}): {}", topic.name, topic.file, topic.summary));
        }
        out.push('\n');
    }
    for (area, tables) in by_area(&reference.tables, |v| &v.area) {
        if area == STORE_TABLES {
            out.push_str("## Tables of a store\n\n");
            for table in tables {
                item(&mut out, &format!("[`{0}`](tables.md#{0}): {1}", table.name, table.summary));
            }
            out.push('\n');
        } else {
            let _ = writeln!(out, "## Tables: {area}\n");
            tables.iter().for_each(|v| relation(&mut out, v));
        }
    }
    views_functions_and_settings(&mut out, reference);
    finish(out)
}

/// The page for the entries with one name: the text of a topic, else the entries in full.
pub fn part(reference: &Reference) -> String {
    if !reference.topics.is_empty() {
        return reference.topics.iter().map(|t| t.text).collect();
    }
    let mut out = String::new();
    reference.tables.iter().for_each(|v| relation(&mut out, v));
    views_functions_and_settings(&mut out, reference);
    finish(out)
}

/// Writes a list of all headings, by area, with links.
fn contents(out: &mut String, reference: &Reference) {
    out.push_str("## Contents\n\n");
    for (area, tables) in by_area(&reference.tables, |v| &v.area) {
        if area == STORE_TABLES {
            let names = tables.iter().map(|t| format!("[{0}](tables.md#{0})", t.name));
            contents_of(out, "Tables of a store", names);
        } else {
            contents_of(out, &format!("Tables: {area}"), tables.iter().map(|t| link(&t.name)));
        }
    }
    for (area, views) in by_area(&reference.views, |v| &v.area) {
        contents_of(out, &format!("Views: {area}"), views.iter().map(|v| link(&v.name)));
    }
    for (area, functions) in by_area(&reference.functions, |f| f.doc.area) {
        let names = functions.iter().map(|f| link(f.doc.name));
        contents_of(out, &format!("Functions: {area}"), names);
    }
    if !reference.settings.is_empty() {
        out.push_str("- [All settings](#all-settings)\n");
    }
    out.push('\n');
}

fn contents_of(out: &mut String, title: &str, names: impl Iterator<Item = String>) {
    // A name can belong to two kinds of functions.
    let mut names: Vec<String> = names.collect();
    names.dedup();
    item(out, &format!("[{title}](#{}): {}", anchor(title), names.join(", ")));
}

/// A link to an entry. Operators such as `->` have no anchor that differs from those of others.
fn link(name: &str) -> String {
    if name.contains(char::is_alphanumeric) {
        format!("[{name}](#{})", anchor(name))
    } else {
        format!("`{name}`")
    }
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    title.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn views_functions_and_settings(out: &mut String, reference: &Reference) {
    for (area, views) in by_area(&reference.views, |v| &v.area) {
        let _ = writeln!(out, "## Views: {area}\n");
        views.iter().for_each(|v| relation(out, v));
    }
    for (area, functions) in by_area(&reference.functions, |f| f.doc.area) {
        let _ = writeln!(out, "## Functions: {area}\n");
        for function in functions {
            let doc = &function.doc;
            let _ = writeln!(out, "### {}\n", doc.name);
            paragraph(out, &format!("`{}` ({})", doc.signature, function.call.kind()));
            paragraph(out, &format!("{} {}", doc.summary, doc.detail));
            paragraph(out, &format!("NULL: {} Errors: {}", doc.nulls, doc.errors));
            for example in doc.examples {
                out.push_str("```sql\n");
                sql(out, &format!("{};", example.sql));
                let _ = writeln!(out, "-- {}\n```\n", example.answer.replace('\n', "\n-- "));
            }
        }
    }
    if !reference.settings.is_empty() {
        out.push_str("## All settings\n\nEach with its unit and, after `=`, its default.\n\n");
        for (name, s) in &reference.settings {
            let default = s.default.as_deref().unwrap_or("NULL");
            item(out, &format!("`{name}` = {default} ({}): {}", s.unit, s.description));
        }
    }
}

/// The page with one line end at its end.
fn finish(mut out: String) -> String {
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn relation(out: &mut String, view: &View) {
    let _ = writeln!(out, "### {}\n", view.name);
    paragraph(out, &view.summary);
    if !view.detail.is_empty() {
        paragraph(out, &view.detail);
    }
    for Column { name, data_type, unit, description } in &view.columns {
        item(out, &format!("`{name}` {data_type} ({unit}): {description}"));
    }
    out.push('\n');
    let truths = view.truths.lines();
    if !truths.is_empty() {
        out.push_str("Holds:\n\n");
        truths.iter().for_each(|t| item(out, &t.replace('*', "\\*")));
        out.push('\n');
    }
    if let (Body::Query(_), Some(scope)) = (&view.body, view.scope) {
        paragraph(out, &format!("Scope: {}.", scope.word()));
    }
    if !view.source.is_empty() {
        paragraph(out, &format!("Source: {}", view.source));
    }
    if !view.example.is_empty() {
        let _ = writeln!(out, "```sql\n{}\n```\n", view.example);
    }
}

/// Writes an item of a list.
fn item(out: &mut String, text: &str) {
    fill(out, "- ", "  ", &words(text, false));
}

/// Writes a paragraph and an empty line after it. Line ends in the text are kept.
fn paragraph(out: &mut String, text: &str) {
    text.lines().for_each(|line| fill(out, "", "", &words(line, false)));
    out.push('\n');
}

/// Writes a query. A long query gets a line for each clause, and its lines are broken between words
/// outside of quotes.
fn sql(out: &mut String, text: &str) {
    for line in text.lines() {
        let is_long = line.chars().count() > WIDTH;
        let clauses = if is_long { clauses(line) } else { vec![line] };
        clauses.iter().for_each(|clause| fill(out, "", "    ", &words(clause, true)));
    }
}

/// The clauses of a query. Clauses of subqueries in brackets are not separated.
fn clauses(query: &str) -> Vec<&str> {
    const STARTS: &[&str] = &["FROM ", "WHERE ", "GROUP BY ", "ORDER BY "];
    let (mut clauses, mut start) = (Vec::new(), 0);
    let (mut depth, mut is_quoted) = (0, false);
    for (at, c) in query.char_indices() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '(' | '[' if !is_quoted => depth += 1,
            ')' | ']' if !is_quoted => depth -= 1,
            ' ' if !is_quoted && depth == 0 => {
                let rest = &query[at + 1..];
                if STARTS.iter().any(|s| rest.starts_with(s)) {
                    clauses.push(&query[start..at]);
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    clauses.push(&query[start..]);
    clauses
}

/// Writes words in lines of at most [`WIDTH`] characters; `first` and `rest` begin the lines.
fn fill(out: &mut String, first: &str, rest: &str, words: &[String]) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words {
        let needed = line.chars().count() + usize::from(!is_empty) + word.chars().count();
        if !is_empty && needed > WIDTH {
            let _ = writeln!(out, "{line}");
            rest.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}

/// The words of a line. With `keeps_quotes`, text in single quotes counts as a single word. A sign
/// that would start a list at the beginning of a line stays attached to the word before it.
fn words(line: &str, keeps_quotes: bool) -> Vec<String> {
    let mut is_quoted = false;
    let mut words: Vec<String> = Vec::new();
    let parts = line.split(|c: char| {
        is_quoted ^= keeps_quotes && c == '\'';
        c == ' ' && !is_quoted
    });
    for part in parts.filter(|part| !part.is_empty()) {
        let begins_list = matches!(part, "-" | "+" | "*" | "#" | ">")
            || part.strip_suffix('.').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        match words.last_mut() {
            Some(last) if begins_list => {
                last.push(' ');
                last.push_str(part);
            }
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let mut out = String::new();
        item(&mut out, &"word ".repeat(30));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("- word") && lines[1].starts_with("  word"));
        assert!(lines.iter().all(|l| l.len() <= WIDTH && l.len() > 10));
    }

    #[test]
    fn links_lead_to_the_headings_of_github() {
        assert_eq!(link("tb_operators"), "[tb_operators](#tb_operators)");
        assert_eq!(link("->>"), "`->>`");
        assert_eq!(anchor("Views: compat/tensorboard"), "views-compattensorboard");
    }

    #[test]
    fn long_queries_have_a_line_for_each_clause() {
        assert_eq!(
            clauses("SELECT ' FROM ' FROM (SELECT 1 FROM t) AS a ORDER BY 1"),
            ["SELECT ' FROM '", "FROM (SELECT 1 FROM t) AS a", "ORDER BY 1"]
        );
    }

    #[test]
    fn queries_are_not_broken_in_quotes() {
        assert_eq!(words("SELECT 'a b' AS c", true), ["SELECT", "'a b'", "AS", "c"]);
        assert_eq!(words("the trace's own  time", false), ["the", "trace's", "own", "time"]);
        assert_eq!(words("a_ns + b_ns", false), ["a_ns +", "b_ns"]);
    }
}

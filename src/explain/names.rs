//! Explains names of tables and functions that do not exist.

use super::foreign_functions::{advice, call_of_json};
use super::{Failed, Report, between, meant};
use crate::sql_text::lex::{Kind, Token};
use crate::suggest::nearest;

/// Explains an unknown table, view or function.
pub fn unknown(failed: &Failed) -> Option<Report> {
    let text = failed.text.as_str();
    if let Some(name) = between(text, "table '", "' not found") {
        return Some(table(failed, name));
    }
    if let Some(name) = between(text, "table function '", "' not found") {
        return Some(table_function(failed, name));
    }
    between(text, "Invalid function '", "'").map(|name| function(failed, name))
}

fn table(failed: &Failed, name: &str) -> Report {
    let name = name.rsplit('.').next().unwrap_or(name);
    if let Some(file) = file_in_from(&failed.tokens, name) {
        return Report {
            message: format!("FROM does not read files: {}", file.text),
            place: Some(file.start..file.end()),
            help: Some(on_files(file.text.trim_matches('\''))),
        };
    }
    let near = nearest(name, failed.catalog.relations.iter().map(|r| r.name.as_str()));
    Report {
        message: format!("there is no table or view {name}"),
        place: failed.placed(name),
        help: meant(&near).or_else(|| Some(failed.audience.on_relations().to_owned())),
    }
}

/// The text in single quotes after FROM or JOIN that the engine read as this name.
fn file_in_from<'t>(tokens: &'t [Token<'t>], name: &str) -> Option<&'t Token<'t>> {
    let is_it = |t: &Token| {
        t.kind == Kind::Text
            && t.text.trim_matches('\'').to_lowercase().ends_with(&name.to_lowercase())
    };
    let starts = |t: &Token| t.is_word("FROM") || t.is_word("JOIN") || t.text == ",";
    tokens.windows(2).find(|pair| starts(&pair[0]) && is_it(&pair[1])).map(|pair| &pair[1])
}

/// How a file is read, by its name.
fn on_files(path: &str) -> String {
    let lower = path.to_lowercase();
    let kinds = [
        (".csv", "CSV"),
        (".tsv", "CSV"),
        (".parquet", "PARQUET"),
        (".ndjson", "JSON"),
        (".jsonl", "JSON"),
        (".arrow", "ARROW"),
    ];
    match kinds.iter().find(|(end, _)| lower.ends_with(end)) {
        Some((_, kind)) => format!(
            "CREATE EXTERNAL TABLE t STORED AS {kind} LOCATION '{path}' reads it, with the option \
             --allow-files"
        ),
        None => "name traces on the command line, or open them in the shell with \\open".to_owned(),
    }
}

fn table_function(failed: &Failed, name: &str) -> Report {
    let at = failed.tokens.iter().position(|t| t.name().as_deref() == Some(name));
    let place = at.map(|at| failed.tokens[at].start..failed.tokens[at].end());
    if name.starts_with("read_") || name.ends_with("_scan") {
        let file = at.and_then(|at| failed.tokens.get(at + 2)).filter(|t| t.kind == Kind::Text);
        return Report {
            message: format!("there is no function {name}"),
            place,
            help: Some(on_files(file.map_or("x.csv", |t| t.text.trim_matches('\'')))),
        };
    }
    let tables = failed.catalog.functions.iter().filter(|f| matches!(f.kind, "relation" | "table"));
    let near = nearest(name, tables.map(|f| f.name.as_str()));
    Report {
        message: format!("there is no function {name} for FROM"),
        place,
        help: meant(&near).or_else(|| Some(failed.audience.on_functions().to_owned())),
    }
}

fn function(failed: &Failed, name: &str) -> Report {
    let near = nearest(name, failed.catalog.functions.iter().map(|f| f.name.as_str()));
    let help = call_of_json(&failed.tokens, name)
        .or_else(|| advice(name).map(str::to_owned))
        .or_else(|| meant(&near))
        .or_else(|| Some(failed.audience.on_functions().to_owned()));
    Report { message: format!("there is no function {name}"), place: failed.placed(name), help }
}

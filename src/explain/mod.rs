//! Explains errors of the query engine: what is wrong with a statement, where, and what the user
//! probably meant.
//!
//! The engine gives some of this information only in the text of its messages, so [`explain`]
//! depends on their wording. The tests of the shell and of the command line check the wording.

mod caret;

use std::ops::Range;

use datafusion::common::{SchemaError, Span};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;

pub use caret::render;

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::error::Error;
use crate::runtime;
use crate::sql_text::KEYWORDS;
use crate::sql_text::lex::{self, Kind, Token};
use crate::suggest::{edits, nearest};

/// An explained error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The error.
    pub message: String,
    /// The place in the statement, as a range of bytes.
    pub place: Option<Range<usize>>,
    /// The name that the user probably meant, or advice.
    pub help: Option<String>,
}

/// Where an error is shown. The advice depends on what the user can do there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// In the shell or on the command line.
    Shell,
    /// In a Python program.
    Python,
}

impl Audience {
    fn on_relations(self) -> &'static str {
        match self {
            Self::Shell => "\\d lists tables and views",
            Self::Python => "session.views() lists tables and views",
        }
    }

    fn on_functions(self) -> &'static str {
        match self {
            Self::Shell => "\\df lists functions",
            Self::Python => "session.docs() lists functions",
        }
    }

    fn on_parameter(self, name: &str) -> String {
        match self {
            Self::Shell => format!("give it one with -p {name}=VALUE or \\set {name} VALUE"),
            Self::Python => format!("give it one as sql(…, {name}=VALUE)"),
        }
    }
}

/// Explains an error in a text of statements, with its place and what the user probably meant.
/// Errors of other kinds are returned unchanged.
///
/// It waits for the names that it looks up, so a thread that runs queries must not call it.
pub fn explained(error: Error, text: &str, engine: &Engine, audience: Audience) -> Error {
    let Error::Sql(e) = error else { return error };
    match runtime::with_threads(1) {
        Ok(runtime) => {
            let catalog = Catalog::of(engine, &runtime);
            Error::Query(render(&explain(&e, text, &catalog, audience), text, 0, None))
        }
        Err(_) => Error::Sql(e),
    }
}

/// Explains an engine error about a statement.
pub fn explain(
    error: &DataFusionError,
    statement: &str,
    catalog: &Catalog,
    audience: Audience,
) -> Report {
    let tokens = lex::words(&lex::tokens(statement));
    if let Some((place, inner)) = in_view(error) {
        // The places and names are those of the view, which the user did not write.
        let named = between(place, "in view ", " (")
            .and_then(|name| tokens.iter().find(|t| t.name().as_deref() == Some(name)));
        return Report {
            message: format!("{place}: {}", message(root(inner))),
            place: named.map(|t| t.start..t.end()),
            help: None,
        };
    }
    let root = root(error);
    let text = message(root);
    let report = |message: String, place, help| Report { message, place, help };
    match root {
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let of =
                    field.relation.as_ref().map_or(String::new(), |r| format!(" in {}", r.table()));
                let place = placed(error, statement, &field.name, &tokens);
                let help =
                    column_help(&field.name, valid_fields.iter().map(|f| f.name.as_str()), catalog);
                report(format!("there is no column {}{of}", field.name), place, help)
            }
            SchemaError::AmbiguousReference { field } => {
                let place = placed(error, statement, &field.name, &tokens);
                let help = format!("write whose it is, as in t.{}", field.name);
                report(format!("several tables have a column {}", field.name), place, Some(help))
            }
            _ => generic(error, text, statement),
        },
        DataFusionError::SQL(parser, _) => {
            syntax(&parser_message(parser), statement, &tokens, catalog)
        }
        _ if text.contains("Placeholder '$") => {
            let name = between(&text, "Placeholder '$", "'").unwrap_or_default();
            let place = tokens
                .iter()
                .find(|t| t.kind == Kind::Parameter && t.text[1..] == *name)
                .map(|t| t.start..t.end());
            report(format!("${name} has no value"), place, Some(audience.on_parameter(name)))
        }
        DataFusionError::Plan(_) => {
            if let Some(name) = between(&text, "table '", "' not found") {
                let name = name.rsplit('.').next().unwrap_or(name);
                let near = nearest(name, catalog.relations.iter().map(|r| r.name.as_str()));
                let help = meant(&near).or_else(|| Some(audience.on_relations().to_owned()));
                report(
                    format!("there is no table or view {name}"),
                    placed(error, statement, name, &tokens),
                    help,
                )
            } else if let Some(name) = between(&text, "Invalid function '", "'") {
                let near = nearest(name, catalog.functions.iter().map(|f| f.name.as_str()));
                let help = meant(&near).or_else(|| Some(audience.on_functions().to_owned()));
                report(
                    format!("there is no function {name}"),
                    placed(error, statement, name, &tokens),
                    help,
                )
            } else {
                let mut report = generic(error, text, statement);
                if report.place.is_none() {
                    // The message names a function whose arguments are wrong.
                    let named = tokens.iter().zip(tokens.iter().skip(1)).find(|(f, open)| {
                        f.kind == Kind::Word
                            && open.text == "("
                            && report.message.contains(&format!("'{}", f.text.to_lowercase()))
                    });
                    report.place = named.map(|(f, _)| f.start..f.end());
                }
                report
            }
        }
        _ => generic(error, text, statement),
    }
}

/// The library view whose text contains the error, and the error.
fn in_view(error: &DataFusionError) -> Option<(&str, &DataFusionError)> {
    match error {
        DataFusionError::Context(text, inner) if text.starts_with("in view ") => {
            in_view(inner).or(Some((text.as_str(), inner.as_ref())))
        }
        DataFusionError::Diagnostic(_, inner) | DataFusionError::Context(_, inner) => {
            in_view(inner)
        }
        DataFusionError::Collection(all) => all.first().and_then(in_view),
        DataFusionError::Shared(inner) => in_view(inner),
        _ => None,
    }
}

/// The innermost error, without diagnostics and context.
fn root(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Diagnostic(_, inner) | DataFusionError::Context(_, inner) => root(inner),
        DataFusionError::Collection(all) => all.first().map_or(error, root),
        DataFusionError::Shared(inner) => root(inner),
        _ => error,
    }
}

/// The message of an error, without the words that only name a layer of the engine.
fn message(root: &DataFusionError) -> String {
    let text = match root {
        DataFusionError::Plan(_)
        | DataFusionError::SQL(..)
        | DataFusionError::SchemaError(..)
        | DataFusionError::ArrowError(..) => root.message().into_owned(),
        _ => root.strip_backtrace(),
    };
    let text = text.split("\n\nbacktrace: ").next().unwrap_or_default().trim();
    text.strip_prefix("Execution error: ").unwrap_or(text).replace('\t', "  ")
}

/// The message of a parser error, without the name of the parser layer.
fn parser_message(error: &ParserError) -> String {
    match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.clone(),
        ParserError::RecursionLimitExceeded => "the statement is nested too deeply".to_owned(),
    }
}

fn generic(error: &DataFusionError, message: String, statement: &str) -> Report {
    let Some(diagnostic) = error.diagnostic() else {
        return Report { message, place: None, help: None };
    };
    let notes: Vec<&str> = diagnostic
        .helps
        .iter()
        .map(|h| h.message.as_str())
        .chain(diagnostic.notes.iter().map(|n| n.message.as_str()))
        .collect();
    let place =
        diagnostic.span.map(|span| bytes(statement, &span)).filter(|place| place.start < place.end);
    Report { message, place, help: (!notes.is_empty()).then(|| notes.join("; ")) }
}

fn bytes(statement: &str, span: &Span) -> Range<usize> {
    lex::byte_at(statement, span.start.line, span.start.column)
        ..lex::byte_at(statement, span.end.line, span.end.column)
}

/// The place of a name: the engine's place if the name is there, else the first occurrence.
///
/// The engine's place may lie in the text of a view, which the user did not write.
fn placed(
    error: &DataFusionError,
    statement: &str,
    name: &str,
    tokens: &[Token],
) -> Option<Range<usize>> {
    let is_it = |token: &&Token| token.name().is_some_and(|n| n.eq_ignore_ascii_case(name));
    let given = error.diagnostic().and_then(|d| d.span).map(|span| bytes(statement, &span));
    let given = given.and_then(|place| {
        tokens.iter().filter(is_it).find(|t| t.start >= place.start && t.end() <= place.end)
    });
    given.or_else(|| tokens.iter().find(is_it)).map(|t| t.start..t.end())
}

/// Explains a syntax error, whose place is part of the parser's message.
fn syntax(text: &str, statement: &str, tokens: &[Token], catalog: &Catalog) -> Report {
    let (message, at) = match text.rsplit_once(" at Line: ") {
        Some((message, at)) => (
            message,
            at.split_once(", Column: ")
                .and_then(|(l, c)| Some((l.trim().parse().ok()?, c.trim().parse().ok()?))),
        ),
        None => (text, None),
    };
    let end = statement.trim_end_matches(|c: char| c.is_whitespace() || c == ';').len();
    let start = match at {
        Some((line, column)) => lex::byte_at(statement, line, column),
        None => end,
    };
    let place = match tokens.iter().find(|t| t.start <= start && start < t.end()) {
        Some(token) if token.kind == Kind::Open => token.start..token.start + 1,
        Some(token) => token.start..token.end(),
        None => end..end,
    };
    let help = tokens
        .iter()
        .filter(|t| t.start <= place.start)
        .rev()
        .take(2)
        .find_map(|token| misspelt_keyword(token, catalog));
    Report { message: format!("syntax: {message}"), place: Some(place), help }
}

/// Words that begin the parts of a query.
const CLAUSES: &[&str] =
    &["FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "SELECT", "JOIN", "UNION"];

fn misspelt_keyword(token: &Token, catalog: &Catalog) -> Option<String> {
    let word = token.text.to_uppercase();
    if token.kind != Kind::Word
        || word.len() < 3
        || KEYWORDS.contains(&word.as_str())
        || catalog.relation(token.text).is_some()
    {
        return None;
    }
    let near = KEYWORDS.iter().find(|k| edits(&word, k) == 1)?;
    // A view has a column `form`, but FORM in the place of a clause is a misspelt FROM.
    let is_column = || {
        catalog
            .relations
            .iter()
            .any(|r| r.columns.iter().any(|c| c.name.eq_ignore_ascii_case(token.text)))
    };
    if !CLAUSES.contains(near) && is_column() {
        return None;
    }
    Some(format!("did you mean {near} instead of {}?", token.text))
}

fn column_help<'a>(
    name: &str,
    valid: impl Iterator<Item = &'a str>,
    catalog: &Catalog,
) -> Option<String> {
    let valid: Vec<&str> = valid.collect();
    if let Some(help) = meant(&nearest(name, valid.iter().copied())) {
        return Some(help);
    }
    let owners: Vec<&str> = catalog
        .relations
        .iter()
        .filter(|r| r.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name)))
        .map(|r| r.name.as_str())
        .take(4)
        .collect();
    if !owners.is_empty() {
        return Some(format!("a column of {}", owners.join(", ")));
    }
    let mut shown: Vec<&str> = valid.clone();
    shown.dedup();
    match shown.len() {
        0 => None,
        1..=12 => Some(format!("there are {}", shown.join(", "))),
        n => Some(format!("there are {} and {} more", shown[..10].join(", "), n - 10)),
    }
}

fn meant(near: &[&str]) -> Option<String> {
    match near {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        [some @ .., last] => Some(format!("did you mean {} or {last}?", some.join(", "))),
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let start = text.find(before)? + before.len();
    let len = text[start..].find(after)?;
    Some(&text[start..start + len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_errors_name_the_token_and_the_keyword() {
        let statement = "SELECT name FORM events";
        let tokens = lex::words(&lex::tokens(statement));
        let report = syntax(
            "Expected: end of statement, found: events at Line: 1, Column: 18",
            statement,
            &tokens,
            &Catalog::default(),
        );
        assert_eq!(report.place, Some(17..23));
        assert_eq!(report.help.as_deref(), Some("did you mean FROM instead of FORM?"));
        assert_eq!(report.message, "syntax: Expected: end of statement, found: events");
    }

    #[test]
    fn an_open_string_is_marked_where_it_begins() {
        let statement = "SELECT 'abc";
        let tokens = lex::words(&lex::tokens(statement));
        let report = syntax(
            "Unterminated string literal at Line: 1, Column: 8",
            statement,
            &tokens,
            &Catalog::default(),
        );
        assert_eq!(report.place, Some(7..8));
    }
}

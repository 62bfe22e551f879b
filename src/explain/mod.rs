//! Explains errors of the query engine: what is wrong with a statement, where, and what the user
//! probably meant.
//!
//! The engine gives some of this information only in the text of its messages, so [`explain`]
//! depends on their wording. The tests of the shell and of the command line check the wording.

mod caret;
mod columns;
mod foreign_functions;
mod names;
mod planning;
mod syntax;
mod values;

use std::ops::Range;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;

pub use caret::render;

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::error::Error;
use crate::runtime;
use crate::sql_text::lex::{self, Kind, Token};

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
    /// In a program that calls tools, such as a coding assistant.
    Tools,
    /// In a page of the browser.
    Page,
}

impl Audience {
    fn on_relations(self) -> &'static str {
        match self {
            Self::Shell => "\\d lists tables and views",
            Self::Python => "session.views() lists tables and views",
            Self::Tools => "list_views lists tables and views",
            Self::Page => "the page Views lists tables and views",
        }
    }

    fn on_functions(self) -> &'static str {
        match self {
            Self::Shell => "\\df lists functions",
            Self::Python => "session.docs() lists functions",
            Self::Tools => "functions lists functions",
            Self::Page => "the page Views lists functions",
        }
    }

    fn on_parameter(self, name: &str) -> String {
        match self {
            Self::Shell => format!("give it one with -p {name}=VALUE or \\set {name} VALUE"),
            Self::Python => format!("give it one as sql(…, {name}=VALUE)"),
            Self::Tools => format!("give it one in parameters: {{\"{name}\": VALUE}}"),
            Self::Page => "give it one in the form below the statement".to_owned(),
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

/// Explains an error in a statement of which the user wrote only a part, such as a condition. A
/// place outside of this part is not shown.
pub fn explained_within(
    error: Error,
    statement: &str,
    part: Range<usize>,
    engine: &Engine,
    audience: Audience,
) -> Error {
    let Error::Sql(e) = error else { return error };
    let Ok(runtime) = runtime::with_threads(1) else { return Error::Sql(e) };
    let catalog = Catalog::of(engine, &runtime);
    let mut report = explain(&e, statement, &catalog, audience);
    report.place = report
        .place
        .filter(|place| place.start >= part.start && place.end <= part.end)
        .map(|place| place.start - part.start..place.end - part.start);
    Error::Query(render(&report, statement.get(part).unwrap_or_default(), 0, None))
}

/// A failed statement, with what is needed to explain it.
struct Failed<'a> {
    error: &'a DataFusionError,
    /// The innermost error.
    root: &'a DataFusionError,
    /// The message of the innermost error.
    text: String,
    statement: &'a str,
    /// The tokens of the statement without blanks and comments.
    tokens: Vec<Token<'a>>,
    catalog: &'a Catalog,
    audience: Audience,
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
    let failed = Failed { error, root, text: message(root), statement, tokens, catalog, audience };
    match root {
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => {
                columns::unknown(&failed, field, valid_fields)
            }
            SchemaError::AmbiguousReference { field } => columns::ambiguous(&failed, field),
            _ => failed.generic(),
        },
        DataFusionError::SQL(parser, _) => {
            syntax::explain(&parser_message(parser), statement, &failed.tokens, catalog)
        }
        _ => None
            .or_else(|| failed.parameter())
            .or_else(|| names::unknown(&failed))
            .or_else(|| planning::explain(&failed))
            .or_else(|| values::explain(&failed))
            .unwrap_or_else(|| failed.generic()),
    }
}

impl Failed<'_> {
    /// A parameter without a value.
    fn parameter(&self) -> Option<Report> {
        // The second message is the one of a statement whose other parameters have values.
        let other = || Some(self.text.split_once("placeholder with name $")?.1.trim());
        let name = between(&self.text, "Placeholder '$", "'").or_else(other)?;
        let place = self
            .tokens
            .iter()
            .find(|t| t.kind == Kind::Parameter && t.text[1..] == *name)
            .map(|t| t.start..t.end());
        let help = Some(self.audience.on_parameter(name));
        Some(Report { message: format!("${name} has no value"), place, help })
    }

    /// The message of the engine, with its place and notes if it has any.
    fn generic(&self) -> Report {
        let message = self.text.clone();
        let Some(diagnostic) = self.error.diagnostic() else {
            return Report { message, place: self.called(), help: None };
        };
        let notes: Vec<&str> = diagnostic
            .helps
            .iter()
            .map(|h| h.message.as_str())
            .chain(diagnostic.notes.iter().map(|n| n.message.as_str()))
            .collect();
        let place = self.given_place().or_else(|| self.called());
        Report { message, place, help: (!notes.is_empty()).then(|| notes.join("; ")) }
    }

    /// The place that the engine gives.
    fn given_place(&self) -> Option<Range<usize>> {
        let span = self.error.diagnostic()?.span?;
        let place = lex::byte_at(self.statement, span.start.line, span.start.column)
            ..lex::byte_at(self.statement, span.end.line, span.end.column);
        (place.start < place.end).then_some(place)
    }

    /// The place of the function that the message names because its arguments are wrong.
    fn called(&self) -> Option<Range<usize>> {
        if !matches!(self.root, DataFusionError::Plan(_) | DataFusionError::Internal(_)) {
            return None;
        }
        let named = self.tokens.iter().zip(self.tokens.iter().skip(1)).find(|(f, open)| {
            f.kind == Kind::Word
                && open.text == "("
                && self.text.contains(&format!("'{}", f.text.to_lowercase()))
        });
        named.map(|(f, _)| f.start..f.end())
    }

    /// The place of a name: the engine's place if the name is there, else the first occurrence.
    ///
    /// The engine's place may lie in the text of a view, which the user did not write.
    fn placed(&self, name: &str) -> Option<Range<usize>> {
        let is_it = |token: &&Token| token.name().is_some_and(|n| n.eq_ignore_ascii_case(name));
        let mut named = self.tokens.iter().filter(is_it);
        let given = self.given_place().and_then(|place| {
            named.clone().find(|t| t.start >= place.start && t.end() <= place.end)
        });
        given.or_else(|| named.next()).map(|t| t.start..t.end())
    }

    /// Whether the statement contains a word.
    fn has_word(&self, word: &str) -> bool {
        self.tokens.iter().any(|t| t.is_word(word))
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

//! Completion: suggests what can come next while the user types a statement or command.

#[cfg(test)]
mod tests;

use tracesql::catalog::Catalog;
use tracesql::complete::{self, in_statement};
pub use tracesql::complete::{Values, WantedValues, signature};
use tracesql::sql_text::{Piece, split};

use super::commands::{self, Argument};

/// The possible replacements of the text from some position to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Completion {
    /// These words. They replace the text from this byte on.
    Words(usize, Vec<String>),
    /// Values of a column, as strings. They replace the text from this byte on.
    Values(usize, WantedValues),
    /// File names, by the rules of the line editor.
    Files,
}

impl From<complete::Completion> for Completion {
    fn from(found: complete::Completion) -> Self {
        match found {
            complete::Completion::Words(start, words) => Self::Words(start, words),
            complete::Completion::Values(start, wanted) => Self::Values(start, wanted),
        }
    }
}

/// The completion at a position in a text.
pub fn complete(text: &str, at: usize, catalog: &Catalog, values: &Values) -> Completion {
    let parts = split(text);
    let part = parts.iter().find(|p| {
        let end = p.start + p.text.len();
        p.start < at
            && (at < end || (at == end && matches!(p.piece, Piece::Unfinished | Piece::Command)))
    });
    match part {
        Some(part) if part.piece == Piece::Command => {
            in_command(&part.text[..at - part.start], part.start, catalog, values)
        }
        Some(part) => Completion::from(in_statement(part.text, at - part.start, catalog, values))
            .shifted(part.start),
        None => Completion::from(in_statement("", 0, catalog, values)).shifted(at),
    }
}

impl Completion {
    fn shifted(self, by: usize) -> Self {
        match self {
            Self::Words(start, words) => Self::Words(start + by, words),
            Self::Values(start, wanted) => Self::Values(start + by, wanted),
            Self::Files => Self::Files,
        }
    }
}

fn in_command(text: &str, start: usize, catalog: &Catalog, values: &Values) -> Completion {
    let Some(blank) = text.find(char::is_whitespace) else {
        let all =
            commands::COMMANDS.iter().flat_map(|c| c.names).map(|n| format!("{}{n}", &text[..1]));
        return Completion::Words(start, all.filter(|n| n.starts_with(text)).collect());
    };
    let Some(command) = commands::find(&text[1..blank]) else {
        return Completion::Words(start, Vec::new());
    };
    let word = text.rfind(char::is_whitespace).map_or(0, |i| i + 1);
    let prefix = &text[word..];
    let matching = |names: Vec<String>| {
        Completion::Words(
            start + word,
            names.into_iter().filter(|n| n.starts_with(prefix)).collect(),
        )
    };
    let relations = |kind: &str| {
        catalog
            .relations
            .iter()
            .filter(|r| kind.is_empty() || r.kind.ends_with(kind))
            .map(|r| r.name.clone())
            .collect::<Vec<_>>()
    };
    let functions = || catalog.functions.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    match command.argument {
        Argument::None => matching(Vec::new()),
        Argument::Name => matching([relations(""), functions()].concat()),
        Argument::Table => matching(relations("table")),
        Argument::View => matching(relations("view")),
        Argument::Function => matching(functions()),
        Argument::Words(words) => matching(words.iter().map(|w| w.to_string()).collect()),
        Argument::Value if text[blank..].trim_start().contains(char::is_whitespace) => {
            matching(Vec::new())
        }
        Argument::Value => matching([values.parameters.clone(), values.settings.clone()].concat()),
        Argument::Files => Completion::Files,
        Argument::Sql => {
            Completion::from(in_statement(&text[blank..], text.len() - blank, catalog, values))
                .shifted(start + blank)
        }
    }
}

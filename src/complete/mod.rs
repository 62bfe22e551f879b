//! Completion: suggests what can come next while the user types a statement.

mod candidates;
mod scope;
mod signature;
mod values;

use crate::catalog::Catalog;
use crate::sql_text::lex::{self, Kind, Token};
use candidates::Finder;
use scope::Scope;
pub use signature::signature;
pub use values::WantedValues;

/// The possible replacements of the text from some position to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Completion {
    /// These words. They replace the text from this byte on.
    Words(usize, Vec<String>),
    /// Values of a column, as strings. They replace the text from this byte on.
    Values(usize, WantedValues),
}

/// Names that are not in the catalog.
#[derive(Debug, Default, Clone)]
pub struct Values {
    /// Parameters, which statements write as `$name`.
    pub parameters: Vec<String>,
    /// Settings, which statements read with `setting('name')`.
    pub settings: Vec<String>,
}

/// The completion at a position in one statement.
pub fn in_statement(text: &str, at: usize, catalog: &Catalog, values: &Values) -> Completion {
    let all = lex::tokens(text);
    let under = all.iter().find(|t| t.start < at && at <= t.end());
    let (start, prefix, quote) = match under {
        Some(t) if t.kind == Kind::Open && t.text.starts_with('"') => {
            (t.start, &text[t.start + 1..at], true)
        }
        Some(t) if t.kind == Kind::Open && t.text.starts_with('\'') => {
            return in_string(&all, t, &text[t.start + 1..at], catalog, values);
        }
        Some(t) if t.kind == Kind::Open => return Completion::Words(at, Vec::new()),
        Some(t) if matches!(t.kind, Kind::Text | Kind::QuotedName) && at < t.end() => {
            return Completion::Words(at, Vec::new());
        }
        Some(t) if t.kind == Kind::Comment && (at < t.end() || !t.text.ends_with(['\n', '/'])) => {
            return Completion::Words(at, Vec::new());
        }
        Some(t) if matches!(t.kind, Kind::Word | Kind::Number) => {
            (t.start, &text[t.start..at], false)
        }
        Some(t) if t.kind == Kind::Parameter || t.text == "$" => {
            let names = values
                .parameters
                .iter()
                .map(|n| format!("${n}"))
                .filter(|n| n.starts_with(&text[t.start..at]));
            return Completion::Words(t.start, names.collect());
        }
        _ => (at, "", false),
    };
    if prefix.starts_with(|c: char| c.is_ascii_digit()) {
        return Completion::Words(at, Vec::new());
    }
    // The word that the user is typing is not a name yet.
    let mut tokens = lex::words(&all);
    tokens.retain(|t| t.end() <= start || t.start >= at);
    let before: Vec<Token> = tokens.iter().copied().filter(|t| t.end() <= start).collect();
    let scope = Scope::of(&tokens);
    let found = Finder { scope: &scope, query: scope.query_at(start), catalog, prefix, quote }
        .candidates(&before);
    Completion::Words(start, found)
}

/// The completion in an open string: values of the column that it is compared with, or names of
/// settings if it is an argument of `setting(`.
fn in_string(
    tokens: &[Token],
    string: &Token,
    prefix: &str,
    catalog: &Catalog,
    values: &Values,
) -> Completion {
    let words = lex::words(tokens);
    let before: Vec<&Token> = words.iter().take_while(|t| t.start < string.start).collect();
    let others: Vec<Token> = words.iter().copied().filter(|t| t.start != string.start).collect();
    let scope = Scope::of(&others);
    if let Some(wanted) = values::wanted(&before, string.start, prefix, &scope, catalog) {
        return Completion::Values(string.start, wanted);
    }
    let is_setting = match before.as_slice() {
        [.., function, open] => {
            function.text.to_lowercase().starts_with("setting") && open.text == "("
        }
        _ => false,
    };
    let names = values
        .settings
        .iter()
        .filter(|n| is_setting && n.starts_with(prefix))
        .map(|n| format!("'{n}'"));
    Completion::Words(string.start, names.collect())
}

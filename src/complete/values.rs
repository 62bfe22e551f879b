//! Finds the column whose values can complete a string, as in `kind = '`.

use crate::catalog::Catalog;
use crate::sql_text::lex::Token;

use super::scope::{Scope, Source};

/// Values that can complete a string: those of a column that begin with a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WantedValues {
    /// The table or view.
    pub relation: String,
    /// The column, which holds texts.
    pub column: String,
    /// The beginning of the values.
    pub prefix: String,
}

/// The values that fit a string which begins at a position. `before` has the tokens before it.
pub fn wanted(
    before: &[&Token],
    at: usize,
    prefix: &str,
    scope: &Scope,
    catalog: &Catalog,
) -> Option<WantedValues> {
    let (column, rest) = compared(before)?.split_last()?;
    let column = column.name()?;
    let has_column = |relation: &str| {
        let columns = &catalog.relation(relation)?.columns;
        columns.iter().find(|c| c.name == column && c.data_type == "VARCHAR")
    };
    let query = scope.query_at(at);
    let sources: Vec<&Source> = match rest {
        [.., alias, dot] if dot.text == "." => {
            vec![&scope.find(&alias.name()?, query)?.source]
        }
        _ => scope.named(query).into_iter().map(|named| &named.source).collect(),
    };
    let relation = sources.into_iter().find_map(|source| match source {
        // A query of WITH may hide a table with the same name.
        Source::Relation(name) if scope.cte(name).is_none() => has_column(name).map(|_| name),
        _ => None,
    })?;
    Some(WantedValues { relation: relation.clone(), column, prefix: prefix.replace("''", "'") })
}

/// The tokens up to the column that is compared with the string: `column =`, `column LIKE`,
/// `column IN ('a',`.
fn compared<'t, 'a>(before: &'t [&'t Token<'a>]) -> Option<&'t [&'t Token<'a>]> {
    let (last, rest) = before.split_last()?;
    let rest = match last.text {
        "=" | "==" | "<>" | "!=" => return Some(rest),
        _ if last.is_word("LIKE") || last.is_word("ILIKE") => rest,
        "(" | "," => {
            let bracket = before.iter().rposition(|t| t.text == "(")?;
            let (before_bracket, list) = before.split_at(bracket);
            let is_list = list[1..].iter().all(|t| t.text == "," || t.text.starts_with('\''));
            let (word, rest) = before_bracket.split_last()?;
            if !is_list || !word.is_word("IN") {
                return None;
            }
            rest
        }
        _ => return None,
    };
    Some(rest.split_last().filter(|(not, _)| not.is_word("NOT")).map_or(rest, |(_, rest)| rest))
}

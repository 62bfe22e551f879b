//! Explains syntax errors, whose place is part of the parser's message.

use super::Report;
use super::values::unit_function;
use crate::catalog::Catalog;
use crate::sql_text::KEYWORDS;
use crate::sql_text::lex::{self, Kind, Token};
use crate::suggest::edits;

/// Explains a syntax error.
pub fn explain(text: &str, statement: &str, tokens: &[Token], catalog: &Catalog) -> Report {
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
    if let Some(report) = number_with_unit(tokens, place.start) {
        return report;
    }
    let help = tokens
        .iter()
        .filter(|t| t.start <= place.start)
        .rev()
        .take(2)
        .find_map(|token| misspelt_keyword(token, catalog));
    Report { message: format!("syntax: {message}"), place: Some(place), help }
}

/// The report for a number with a unit, such as `5ms`, that ends at a token.
fn number_with_unit(tokens: &[Token], at: usize) -> Option<Report> {
    let unit = tokens.iter().position(|t| t.start == at && t.kind == Kind::Word)?;
    let number = tokens.get(unit.checked_sub(1)?).filter(|t| t.kind == Kind::Number)?;
    let unit = &tokens[unit];
    let text = format!("{} {}", number.text, unit.text);
    let function = unit_function(&text)?;
    Some(Report {
        message: format!("syntax: SQL has no numbers with units, such as {text}"),
        place: Some(number.start..unit.end()),
        help: Some(format!("write {function}('{text}')")),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_errors_name_the_token_and_the_keyword() {
        let statement = "SELECT name FORM events";
        let tokens = lex::words(&lex::tokens(statement));
        let report = explain(
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
        let report = explain(
            "Unterminated string literal at Line: 1, Column: 8",
            statement,
            &tokens,
            &Catalog::default(),
        );
        assert_eq!(report.place, Some(7..8));
    }

    #[test]
    fn numbers_with_units_become_calls() {
        let statement = "SELECT 1 FROM t WHERE a > 5ms";
        let tokens = lex::words(&lex::tokens(statement));
        let message = "Expected: end of statement, found: ms at Line: 1, Column: 28";
        let report = explain(message, statement, &tokens, &Catalog::default());
        assert_eq!(report.place, Some(26..29));
        assert_eq!(report.help.as_deref(), Some("write ns('5 ms')"));
    }
}

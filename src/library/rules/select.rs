//! Finds the outermost SELECT of a composed rule, and its columns.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Word};

/// A rule's query, split at the start of the outermost SELECT.
#[derive(Debug, PartialEq, Eq)]
pub struct Select<'a> {
    /// The text before the SELECT: comments, and the queries of a WITH.
    pub before: &'a str,
    /// Whether the queries of a WITH come before the SELECT.
    pub has_with: bool,
    /// The SELECT, without a semicolon at its end.
    pub text: &'a str,
    /// The line of the file where the SELECT begins.
    pub line: usize,
    /// The columns of the SELECT, with the lines that name them.
    pub columns: Vec<(String, usize)>,
}

impl<'a> Select<'a> {
    /// Finds the outermost SELECT of a text. The error is a line number and a message.
    pub fn parse(text: &'a str) -> Result<Self, (usize, String)> {
        let tokens = Tokenizer::new(&GenericDialect, text)
            .tokenize_with_location()
            .map_err(|e| (line(e.location), e.message.clone()))?;
        let tokens: Vec<TokenWithSpan> =
            tokens.into_iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).collect();
        let outer = outermost(&tokens);
        let first = outer
            .iter()
            .position(|&i| keyword(&tokens[i]) == Some(Keyword::SELECT))
            .ok_or((1, "there is no SELECT in the file of the rule".to_owned()))?;
        let semicolon = outer.iter().copied().find(|&i| tokens[i].token == Token::SemiColon);
        if let Some(after) = semicolon.and_then(|i| tokens.get(i + 1)) {
            return Err((line(after.span.start), "a rule's file holds one query".to_owned()));
        }
        let select = outer[first];
        let start = offset(text, tokens[select].span.start);
        let end = semicolon.map_or(text.len(), |i| offset(text, tokens[i].span.start));
        Ok(Self {
            before: &text[..start],
            has_with: select > 0,
            text: &text[start..end],
            line: line(tokens[select].span.start),
            columns: columns(&tokens, &outer[first + 1..])?,
        })
    }

    /// Whether the SELECT has a column with this name.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(n, _)| n == name)
    }
}

/// The positions of tokens that are not inside brackets. A closing bracket of an outermost pair is
/// included.
fn outermost(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut outer = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            outer.push(i);
        }
    }
    outer
}

/// The names of the columns of a SELECT. Its tokens outside of brackets follow the word SELECT.
fn columns(
    tokens: &[TokenWithSpan],
    outer: &[usize],
) -> Result<Vec<(String, usize)>, (usize, String)> {
    let mut columns = Vec::new();
    let mut item: Vec<&TokenWithSpan> = Vec::new();
    for token in outer.iter().map(|&i| &tokens[i]) {
        let before = item.last().and_then(|t| keyword(t));
        let is_comparison = before == Some(Keyword::DISTINCT) && item.len() > 1;
        match keyword(token) {
            Some(Keyword::FROM) if !is_comparison => break,
            Some(Keyword::DISTINCT | Keyword::ALL) if columns.is_empty() && item.is_empty() => {}
            _ if token.token == Token::SemiColon => break,
            _ if token.token == Token::Comma => columns.push(column(&std::mem::take(&mut item))?),
            _ => item.push(token),
        }
    }
    columns.push(column(&item)?);
    Ok(columns)
}

/// Whether the tokens of a column end with its name.
fn is_named(item: &[&TokenWithSpan]) -> bool {
    matches!(item, [.., before, name] if keyword(before) == Some(Keyword::AS)
        && word(name).is_some())
}

/// The name of a column: the name after AS, or the name of the column if the expression is only a
/// column.
fn column(item: &[&TokenWithSpan]) -> Result<(String, usize), (usize, String)> {
    let at = item.first().map_or(1, |t| line(t.span.start));
    if item.last().is_some_and(|t| t.token == Token::Mul) {
        let message = "name the columns of a rule one by one; * does not say which there are";
        return Err((at, message.to_owned()));
    }
    let is_plain = item.iter().enumerate().all(|(i, t)| match i % 2 {
        0 => word(t).is_some_and(|w| w.keyword != Keyword::NULL),
        _ => t.token == Token::Period,
    });
    match item.last().and_then(|t| Some((word(t)?, line(t.span.start)))) {
        Some((name, at)) if (is_plain && item.len() % 2 == 1) || is_named(item) => {
            let is_quoted = name.quote_style.is_some();
            let name = if is_quoted { name.value.clone() } else { name.value.to_lowercase() };
            Ok((name, at))
        }
        _ => Err((at, "name this column of the rule with AS".to_owned())),
    }
}

fn word(token: &TokenWithSpan) -> Option<&Word> {
    match &token.token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    word(token).filter(|w| w.quote_style.is_none()).map(|w| w.keyword)
}

fn line(location: Location) -> usize {
    usize::try_from(location.line).unwrap_or(1).max(1)
}

/// The byte offset of a place that the tokenizer gives as line and character.
fn offset(text: &str, place: Location) -> usize {
    let start: usize = text.split_inclusive('\n').take(line(place) - 1).map(str::len).sum();
    let before = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
    start + text[start..].chars().take(before).map(char::len_utf8).sum::<usize>()
}

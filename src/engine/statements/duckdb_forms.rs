//! Parses SQL, including forms that DuckDB added: `FROM t` without SELECT, and `SUMMARIZE t`.
//!
//! The parser reads `FROM t` as a query without columns, and does not read `FROM t WHERE …` and
//! `SUMMARIZE t`. For such texts the missing tokens are inserted, and the tokens are parsed again.
//! Inserted tokens have the place of the token before which they stand, so the places in errors
//! remain those of the user's text.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::error::DataFusionError;
use datafusion::sql::parser::{DFParser, DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{Select, SelectFlavor, Visit, Visitor};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer};

/// Words after which a query can begin.
const BEFORE_QUERIES: &[&str] = &[
    "ALL", "ANALYZE", "AS", "DESCRIBE", "EXCEPT", "EXPLAIN", "INTERSECT", "SUMMARIZE", "UNION",
    "VERBOSE",
];

/// The statements of a text, in order.
pub fn parse(sql: &str) -> Result<VecDeque<Statement>, DataFusionError> {
    let parsed = DFParser::parse_sql(sql);
    if parsed.as_ref().is_ok_and(|all| !all.iter().any(has_query_without_columns)) {
        return parsed;
    }
    match standard_form(sql) {
        Some(tokens) => DFParserBuilder::new(tokens).build()?.parse_statements(),
        None => parsed,
    }
}

/// Whether a statement contains `FROM t` without SELECT.
fn has_query_without_columns(statement: &Statement) -> bool {
    struct Finder;
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
            match select.flavor {
                SelectFlavor::FromFirstNoSelect => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    match statement {
        Statement::Statement(statement) => statement.visit(&mut Finder).is_break(),
        Statement::Explain(explain) => has_query_without_columns(&explain.statement),
        _ => false,
    }
}

/// The tokens of a text with the tokens that DuckDB's forms leave out; `None` if nothing is
/// missing.
fn standard_form(sql: &str) -> Option<Vec<TokenWithSpan>> {
    let mut tokens = Tokenizer::new(&GenericDialect, sql).tokenize_with_location().ok()?;
    tokens.retain(|t| !matches!(t.token, Token::Whitespace(_)));
    let before = tokens.len();
    let tokens = with_select(with_summarize_call(tokens));
    (tokens.len() > before).then_some(tokens)
}

/// Replaces `SUMMARIZE t` by `SELECT * FROM summarize((SELECT * FROM t))`, and `SUMMARIZE` before a
/// query likewise.
fn with_summarize_call(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut open_call = None;
    let mut begins_statement = true;
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        if token.token == Token::SemiColon {
            close(&mut out, open_call.take());
            begins_statement = true;
            out.push(token);
            continue;
        }
        let next = rest.peek().map(|t| &t.token);
        let is_call = begins_statement
            && is_word(&token.token, "SUMMARIZE")
            && matches!(next, Some(Token::Word(_) | Token::LParen | Token::SingleQuotedString(_)));
        begins_statement = false;
        if !is_call {
            out.push(token);
            continue;
        }
        let is_query = next.is_some_and(|t| {
            *t == Token::LParen
                || ["SELECT", "WITH", "FROM", "VALUES"].iter().any(|word| is_word(t, word))
        });
        let mut text = "SELECT * FROM summarize ( (".to_owned();
        if !is_query {
            text.push_str(" SELECT * FROM");
        }
        insert(&mut out, &text, token.span);
        open_call = Some(token.span);
    }
    close(&mut out, open_call);
    out
}

fn close(out: &mut Vec<TokenWithSpan>, open_call: Option<Span>) {
    if let Some(span) = open_call {
        insert(out, ") )", span);
    }
}

/// Adds `SELECT *` before each FROM that begins a query without SELECT.
fn with_select(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len());
    // For each open bracket, whether its current query begins with WITH.
    let mut is_after_with = vec![false];
    for at in 0..tokens.len() {
        let token = &tokens[at];
        let previous = at.checked_sub(1).map(|at| &tokens[at].token);
        match &token.token {
            Token::LParen => is_after_with.push(false),
            Token::RParen if is_after_with.len() > 1 => _ = is_after_with.pop(),
            _ => {}
        }
        let can_begin = match previous {
            None | Some(Token::SemiColon | Token::LParen) => true,
            Some(Token::RParen) => is_after_with.last() == Some(&true),
            Some(word) => BEFORE_QUERIES.iter().any(|w| is_word(word, w)),
        };
        if let (true, Some(with)) = (can_begin, is_after_with.last_mut()) {
            *with = is_word(&token.token, "WITH") || (*with && previous == Some(&Token::RParen));
        }
        if can_begin && is_word(&token.token, "FROM") && !has_select(&tokens[at..]) {
            insert(&mut out, "SELECT *", token.span);
        }
        out.push(token.clone());
    }
    out
}

/// Whether the query that begins with these tokens has a SELECT.
fn has_select(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            Token::SemiColon => return false,
            word if depth == 0 && is_word(word, "SELECT") => return true,
            word if depth == 0
                && ["UNION", "EXCEPT", "INTERSECT"].iter().any(|w| is_word(word, w)) =>
            {
                return false;
            }
            _ => {}
        }
    }
    false
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

/// Adds the tokens of a text whose words are separated by blanks.
fn insert(out: &mut Vec<TokenWithSpan>, text: &str, span: Span) {
    out.extend(text.split(' ').map(|word| {
        let token = match word {
            "*" => Token::Mul,
            "(" => Token::LParen,
            ")" => Token::RParen,
            "summarize" => Token::make_word(word, None),
            word => Token::make_keyword(word),
        };
        TokenWithSpan { token, span }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(sql: &str) -> String {
        let all = parse(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn from_without_select_selects_all_columns() {
        for (sql, standard) in [
            ("FROM t", "SELECT * FROM t"),
            (
                "from t where a > 1 order by b limit 2",
                "SELECT * FROM t WHERE a > 1 ORDER BY b LIMIT 2",
            ),
            ("SELECT 1; FROM t, u", "SELECT 1; SELECT * FROM t, u"),
            ("SELECT a FROM (FROM t WHERE b)", "SELECT a FROM (SELECT * FROM t WHERE b)"),
            (
                "WITH x AS (FROM t) FROM x WHERE a",
                "WITH x AS (SELECT * FROM t) SELECT * FROM x WHERE a",
            ),
            ("FROM t UNION ALL FROM u", "SELECT * FROM t UNION ALL SELECT * FROM u"),
            ("FROM t UNION ALL SELECT 1", "SELECT * FROM t UNION ALL SELECT 1"),
            ("CREATE VIEW v AS FROM t", "CREATE VIEW v AS SELECT * FROM t"),
            ("EXPLAIN FROM t", "EXPLAIN SELECT * FROM t"),
            ("FROM t JOIN u ON t.a = u.a", "SELECT * FROM t JOIN u ON t.a = u.a"),
        ] {
            assert_eq!(parsed(sql), parsed(standard), "{sql}");
        }
    }

    #[test]
    fn other_uses_of_from_stay_as_they_are() {
        for sql in [
            "SELECT (a) FROM t",
            "SELECT EXTRACT(YEAR FROM a) FROM t",
            "SELECT (a IS DISTINCT FROM b) FROM t",
            "SELECT count(*) FROM t",
        ] {
            assert!(standard_form(sql).is_none(), "{sql}");
        }
        assert_eq!(parsed("FROM t SELECT a WHERE b"), "FROM t SELECT a WHERE b");
    }

    #[test]
    fn summarize_becomes_a_call() {
        let call = "SELECT * FROM summarize((SELECT * FROM t))";
        for sql in ["SUMMARIZE t", "summarize FROM t", "SUMMARIZE SELECT * FROM t;"] {
            assert_eq!(parsed(sql), parsed(call), "{sql}");
        }
        assert_eq!(parsed("SUMMARIZE t; SELECT 1"), format!("{}; SELECT 1", parsed(call)));
        assert!(parse("SUMMARIZE").is_err());
    }
}

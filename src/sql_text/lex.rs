//! Tokens of SQL with their positions. The SQL may be unfinished or wrong.
//!
//! The tokens come from the parser's own tokenizer, so strings, comments and statements end where
//! they end for the parser. There are no gaps between tokens: joined together, they are the
//! original text.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token as SqlToken, Tokenizer, Whitespace};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Blanks and line ends.
    Space,
    /// A comment. It ends at its closing mark or at the end of its line.
    Comment,
    /// A name or keyword without quotes.
    Word,
    /// A name in quotes.
    QuotedName,
    /// A string of any kind.
    Text,
    /// A number.
    Number,
    /// `$name`.
    Parameter,
    /// `;`
    Semicolon,
    /// Operators, brackets, commas, and characters that begin no token.
    Other,
    /// A string, quoted name or comment without its end. It is always the last token.
    Open,
}

/// A token and the byte where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind.
    pub kind: Kind,
    /// The text.
    pub text: &'a str,
    /// The byte where the token begins in the original text.
    pub start: usize,
}

impl Token<'_> {
    /// The byte where the token ends.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether the token is this keyword, regardless of case.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// The name that SQL reads from the token: without quotes, and in lower case if it was not
    /// quoted.
    pub fn name(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_lowercase()),
            Kind::QuotedName => {
                let quote = self.text.chars().next()?;
                let inner = self.text.get(1..self.text.len() - 1)?;
                Some(inner.replace(&format!("{quote}{quote}"), &quote.to_string()))
            }
            _ => None,
        }
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let Some(found) = stretch(text, at, &mut all) else { break };
        at = found;
    }
    all
}

/// The tokens without blanks and comments.
pub fn words<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    tokens.iter().copied().filter(|t| !matches!(t.kind, Kind::Space | Kind::Comment)).collect()
}

/// Reads tokens from a position to the end, or to a character that begins no token. Returns the
/// position to continue at, if there is one.
fn stretch<'a>(text: &'a str, from: usize, all: &mut Vec<Token<'a>>) -> Option<usize> {
    let rest = &text[from..];
    let mut found = Vec::new();
    let failure =
        Tokenizer::new(&GenericDialect, rest).tokenize_with_location_into_buf(&mut found).err();
    let mut places = Places::new(rest);
    let mut start = 0;
    for token in &found {
        let end = places.byte(token.span.end);
        if end > start {
            all.push(Token {
                kind: kind(&token.token),
                text: &rest[start..end],
                start: from + start,
            });
            start = end;
        }
    }
    if start >= rest.len() {
        return None;
    }
    let is_open =
        failure.is_none_or(|e| e.message.contains("Unterminated") || e.message.contains("EOF"));
    if is_open {
        all.push(Token { kind: Kind::Open, text: &rest[start..], start: from + start });
        return None;
    }
    let len = rest[start..].chars().next().map_or(1, char::len_utf8);
    all.push(Token { kind: Kind::Other, text: &rest[start..start + len], start: from + start });
    Some(from + start + len)
}

fn kind(token: &SqlToken) -> Kind {
    match token {
        SqlToken::Whitespace(
            Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_),
        ) => Kind::Comment,
        SqlToken::Whitespace(_) => Kind::Space,
        SqlToken::Word(word) if word.quote_style.is_some() => Kind::QuotedName,
        SqlToken::Word(_) => Kind::Word,
        SqlToken::Number(..) => Kind::Number,
        SqlToken::Placeholder(_) => Kind::Parameter,
        SqlToken::SemiColon => Kind::Semicolon,
        SqlToken::SingleQuotedString(_)
        | SqlToken::DoubleQuotedString(_)
        | SqlToken::TripleSingleQuotedString(_)
        | SqlToken::TripleDoubleQuotedString(_)
        | SqlToken::DollarQuotedString(_)
        | SqlToken::SingleQuotedByteStringLiteral(_)
        | SqlToken::DoubleQuotedByteStringLiteral(_)
        | SqlToken::SingleQuotedRawStringLiteral(_)
        | SqlToken::DoubleQuotedRawStringLiteral(_)
        | SqlToken::TripleSingleQuotedRawStringLiteral(_)
        | SqlToken::TripleDoubleQuotedRawStringLiteral(_)
        | SqlToken::NationalStringLiteral(_)
        | SqlToken::QuoteDelimitedStringLiteral(_)
        | SqlToken::NationalQuoteDelimitedStringLiteral(_)
        | SqlToken::EscapedStringLiteral(_)
        | SqlToken::UnicodeStringLiteral(_)
        | SqlToken::HexStringLiteral(_) => Kind::Text,
        _ => Kind::Other,
    }
}

/// Converts positions given by line and column to bytes. They must be given in ascending order.
struct Places<'a> {
    rest: std::str::Chars<'a>,
    line: u64,
    column: u64,
    byte: usize,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.chars(), line: 1, column: 1, byte: 0 }
    }

    fn byte(&mut self, wanted: Location) -> usize {
        while (self.line, self.column) < (wanted.line, wanted.column) {
            let Some(c) = self.rest.next() else { break };
            self.byte += c.len_utf8();
            (self.line, self.column) =
                if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.byte
    }
}

/// The byte at a line and column. Both count from 1, as in the parser.
pub fn byte_at(text: &str, line: u64, column: u64) -> usize {
    Places::new(text).byte(Location { line, column })
}

/// The line and column of a byte. Both count from 1.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text)
            .into_iter()
            .filter(|t| t.kind != Kind::Space)
            .map(|t| (t.kind, t.text))
            .collect()
    }

    #[test]
    fn what_stands_in_quotes_and_comments_is_one_token() {
        assert_eq!(
            kinds("a 'x;y' \"n;m\" $$p;q$$ $t$r;$$s$t$ -- c;\n/* d; /* e; */ */ $n;"),
            [
                (Kind::Word, "a"),
                (Kind::Text, "'x;y'"),
                (Kind::QuotedName, "\"n;m\""),
                (Kind::Text, "$$p;q$$"),
                (Kind::Text, "$t$r;$$s$t$"),
                (Kind::Comment, "-- c;\n"),
                (Kind::Comment, "/* d; /* e; */ */"),
                (Kind::Parameter, "$n"),
                (Kind::Semicolon, ";"),
            ]
        );
    }

    #[test]
    fn what_has_no_end_is_open() {
        for text in ["'x;", "\"x;", "`x;", "$$x;", "$t$x;$$", "/* x; /* y */", "E'x\\';", "'it''s;"]
        {
            assert_eq!(kinds(text), [(Kind::Open, text)], "{text}");
        }
    }

    #[test]
    fn what_is_no_token_does_not_stop_the_reading() {
        assert_eq!(kinds("a ._b;").last(), Some(&(Kind::Semicolon, ";")));
        assert_eq!(kinds("§ 'a';").last(), Some(&(Kind::Semicolon, ";")));
    }

    #[test]
    fn places() {
        assert_eq!(line_and_column("ab\ncd", 4), (2, 2));
        assert_eq!(byte_at("é\ncd", 2, 2), 4);
    }

    const SIGNS: &[&str] = &[
        "a", "é", "n", "E", "q", "x", "0", "7", " ", "\n", "\t", "'", "\"", "`", "$", "$$", ";",
        ".", "/*", "*/", "\\", "(", ",", "_", "--",
    ];
    const QUOTES: &[&str] = &[
        "a", "n", "E", "q", "u", "&", "x", "0", " ", "\n", "'", "\"", "`", "$", "$$", ";", "/*",
        "*/", "\\", "--",
    ];

    fn text(alphabet: &'static [&'static str]) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(alphabet), 0..40)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn joined_tokens_are_the_text(text in text(SIGNS)) {
            let all = tokens(&text);
            prop_assert_eq!(all.iter().map(|t| t.text).collect::<String>(), text.clone());
            let mut at = 0;
            for token in &all {
                prop_assert_eq!(token.start, at);
                at = token.end();
            }
        }

        #[test]
        fn semicolons_are_where_the_parser_sees_them(text in text(QUOTES)) {
            let parser = Tokenizer::new(&GenericDialect, &text).tokenize();
            if let Ok(parser) = parser {
                let wanted = parser.iter().filter(|t| **t == SqlToken::SemiColon).count();
                let found = tokens(&text).iter().filter(|t| t.kind == Kind::Semicolon).count();
                prop_assert_eq!(found, wanted);
            }
        }
    }
}

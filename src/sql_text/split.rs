//! Splits a text into statements and commands.
//!
//! A statement ends with a `;` that is not in a string, comment or quoted name. A command is a line
//! that begins with `\`, or with `.` and a letter, in a place where a statement could begin.

use super::lex::{self, Kind};

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Blanks, comments and `;` between statements.
    Gap,
    /// A statement including its `;`.
    Statement,
    /// A statement without `;` at the end of the text.
    Unfinished,
    /// A command up to the end of its line.
    Command,
}

/// A piece of text with its kind and the byte where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The kind.
    pub piece: Piece,
    /// The text.
    pub text: &'a str,
    /// The byte where the piece begins.
    pub start: usize,
}

/// Splits a text. Joined together, the parts are the original text.
pub fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut from = 0;
    // The text after a command is tokenized separately, because a quote in a command does not open
    // a string.
    while let Some(next) = until_command(text, from, &mut parts) {
        from = next;
    }
    parts
}

/// Whether the Enter key runs a text, which means that no statement in it lacks its `;`.
pub fn is_complete(text: &str) -> bool {
    let parts = split(text);
    let is_open_comment = parts.last().is_some_and(|p| {
        p.piece == Piece::Gap && lex::tokens(p.text).iter().any(|t| t.kind == Kind::Open)
    });
    !is_open_comment && parts.iter().all(|p| p.piece != Piece::Unfinished)
}

/// Adds the parts up to and including the next command. Returns the position after it, if there is
/// one.
fn until_command<'a>(text: &'a str, from: usize, parts: &mut Vec<Part<'a>>) -> Option<usize> {
    let mut start = from;
    let mut in_statement = false;
    let mut push = |piece, start: usize, end: usize| {
        if end > start {
            parts.push(Part { piece, text: &text[start..end], start });
        }
    };
    for token in lex::tokens(&text[from..]) {
        let (at, end) = (from + token.start, from + token.end());
        match token.kind {
            Kind::Space | Kind::Comment => {}
            Kind::Semicolon => {
                push(if in_statement { Piece::Statement } else { Piece::Gap }, start, end);
                (start, in_statement) = (end, false);
            }
            Kind::Open if !in_statement && token.text.starts_with("/*") => {}
            _ if in_statement => {}
            _ => {
                push(Piece::Gap, start, at);
                start = at;
                if is_command(&text[at..]) {
                    let end = at + text[at..].find('\n').unwrap_or(text.len() - at);
                    push(Piece::Command, at, end);
                    return Some(end);
                }
                in_statement = true;
            }
        }
    }
    push(if in_statement { Piece::Unfinished } else { Piece::Gap }, start, text.len());
    None
}

fn is_command(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        Some('\\') => true,
        Some('.') => chars.next().is_some_and(char::is_alphabetic),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<(Piece, &str)> {
        split(text)
            .into_iter()
            .filter(|p| p.piece != Piece::Gap)
            .map(|p| (p.piece, p.text))
            .collect()
    }

    #[test]
    fn statements_end_with_a_semicolon_of_their_own() {
        use Piece::*;
        assert_eq!(
            cut("SELECT ';' ; SELECT 2"),
            [(Statement, "SELECT ';' ;"), (Unfinished, "SELECT 2")]
        );
        assert_eq!(cut("SELECT 1 -- ;\n; "), [(Statement, "SELECT 1 -- ;\n;")]);
        assert_eq!(
            cut("SELECT $$;$$, \"a;b\", /*;*/ 1;"),
            [(Statement, "SELECT $$;$$, \"a;b\", /*;*/ 1;")]
        );
        assert_eq!(cut(" ; ;; -- nothing\n"), []);
    }

    #[test]
    fn commands_are_lines_where_a_statement_could_begin() {
        use Piece::*;
        assert_eq!(
            cut("\\d it's; x\nSELECT 1;\n .timing on\nSELECT\n\\x;"),
            [
                (Command, "\\d it's; x"),
                (Statement, "SELECT 1;"),
                (Command, ".timing on"),
                (Statement, "SELECT\n\\x;"),
            ]
        );
        assert_eq!(cut(".5"), [(Unfinished, ".5")]);
        assert_eq!(cut("SELECT 1; \\x"), [(Statement, "SELECT 1;"), (Command, "\\x")]);
    }

    #[test]
    fn enter_runs_what_is_complete() {
        for text in [
            "",
            "  ",
            ";",
            "SELECT 1;",
            "SELECT 1; -- done",
            "\\d",
            "-- only a comment",
            "SELECT 1;\n\\x",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT ';",
            "SELECT 1; SELECT 2",
            "SELECT 1 -- ;",
            "/* open",
            "SELECT $$;",
            "SELECT \";",
            "\\x\nSELECT 1",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }

    const SIGNS: &[&str] =
        &["a", "é", ";", "'", "\"", "`", "$", "$$", " ", "\n", "\\", ".", "/*", "*/", "--"];

    /// Texts between quotes, each with the index of a kind of quotes.
    fn inner() -> impl Strategy<Value = Vec<(usize, String)>> {
        let one = (0..5usize, text(&["a", ";", " ", "\n", "\\"], 6));
        proptest::collection::vec(one, 0..6)
    }

    fn text(alphabet: &'static [&'static str], max: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(alphabet), 0..max)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn parts_joined_are_the_text(text in text(SIGNS, 40)) {
            let parts = split(&text);
            prop_assert_eq!(parts.iter().map(|p| p.text).collect::<String>(), text.clone());
            let mut at = 0;
            for part in &parts {
                prop_assert_eq!(part.start, at);
                at += part.text.len();
            }
        }

        #[test]
        fn statements_come_back_one_by_one(inner in inner()) {
            let quotes = [("'", "'"), ("\"x", "\""), ("$$", "$$"), ("/*", "*/ 1"), ("$t$", "$t$")];
            let statement = |(i, text): &(usize, String)| {
                format!("SELECT {}{text}{};", quotes[*i].0, quotes[*i].1)
            };
            let wanted: Vec<String> = inner.iter().map(statement).collect();
            let text = wanted.join("\n");
            let parts = split(&text);
            let statements = parts.iter().filter(|p| p.piece == Piece::Statement);
            let found: Vec<&str> = statements.map(|p| p.text).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}

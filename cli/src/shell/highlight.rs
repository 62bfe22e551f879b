//! Colours SQL while the user types.

use anstyle::{AnsiColor, Style};

use tracesql::sql_text::is_keyword;
use tracesql::sql_text::lex::{self, Kind, Token};

const KEYWORD: Style = AnsiColor::Blue.on_default().bold();
const FUNCTION: Style = AnsiColor::Cyan.on_default();
const TEXT: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Magenta.on_default();
const COMMENT: Style = AnsiColor::BrightBlack.on_default();
const PARAMETER: Style = AnsiColor::Yellow.on_default();

/// The style of text that is not input: prompts, hints, notes.
pub const DIM: Style = AnsiColor::BrightBlack.on_default();

/// SQL with colour codes, which take no width on a terminal.
pub fn sql(text: &str) -> String {
    let tokens = lex::tokens(text);
    let mut coloured = String::with_capacity(text.len() * 2);
    for (i, token) in tokens.iter().enumerate() {
        match style(token, tokens[i + 1..].iter().find(|t| t.kind != Kind::Space)) {
            Some(style) => coloured.push_str(&paint(style, token.text)),
            None => coloured.push_str(token.text),
        }
    }
    coloured
}

fn style(token: &Token, next: Option<&Token>) -> Option<Style> {
    Some(match token.kind {
        Kind::Word if is_keyword(token.text) => KEYWORD,
        Kind::Word if next.is_some_and(|t| t.text == "(") => FUNCTION,
        Kind::Text => TEXT,
        Kind::Open if token.text.starts_with("/*") => COMMENT,
        Kind::Open => TEXT,
        Kind::Number => NUMBER,
        Kind::Comment => COMMENT,
        Kind::Parameter => PARAMETER,
        _ => return None,
    })
}

/// A text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        let mut plain = String::new();
        let mut in_escape = false;
        for c in text.chars() {
            match c {
                '\x1b' => in_escape = true,
                'm' if in_escape => in_escape = false,
                c if !in_escape => plain.push(c),
                _ => {}
            }
        }
        plain
    }

    #[test]
    fn colours_add_nothing_else() {
        let query = "SELECT count(*), 'a;b', 1.5 FROM t -- x\nWHERE a = $n";
        for text in [query, "SELECT '", "/* open", "§ é"] {
            assert_eq!(stripped(&sql(text)), text);
        }
    }

    #[test]
    fn each_kind_has_its_colour() {
        assert_eq!(sql("select"), paint(KEYWORD, "select"));
        assert_eq!(sql("sum (x)"), format!("{} (x)", paint(FUNCTION, "sum")));
        assert_eq!(sql("name"), "name");
        assert_eq!(sql("'a'"), paint(TEXT, "'a'"));
        assert_eq!(sql("$n"), paint(PARAMETER, "$n"));
    }
}

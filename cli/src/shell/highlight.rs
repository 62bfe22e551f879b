//! Colours SQL while the user types, and shows prompts in front of its further lines.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

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

/// The prompt of an input.
pub const PROMPT: &str = "tracesql> ";
/// What the terminal shows for a tab at the beginning of a line.
const NEXT_PROMPT: &str = "       -> ";
/// The width of both prompts, and of the tabs that the line editor counts.
pub const PROMPT_WIDTH: usize = PROMPT.len();

/// An input as the terminal shows it: with colours unless it is a command, and with a prompt for
/// each tab at the beginning of a line. The line editor counts the same columns.
pub fn shown(input: &str, colour: bool, screen: usize) -> String {
    let is_command = input.trim_start().starts_with(['\\', '.']);
    let text = if colour && !is_command { sql(input) } else { input.to_owned() };
    let prompt = if colour { paint(DIM, NEXT_PROMPT) } else { NEXT_PROMPT.to_owned() };
    let mut shown = String::with_capacity(text.len());
    let (mut column, mut is_first, mut rest) = (PROMPT_WIDTH, false, text.as_str());
    let mut style = "";
    while let Some(c) = rest.chars().next() {
        if c == '\x1b' {
            let code;
            (code, rest) = rest.split_at(rest.find('m').map_or(rest.len(), |m| m + 1));
            style = code;
            shown.push_str(code);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '\n' {
            (column, is_first) = (0, true);
            shown.push(c);
            continue;
        }
        let width = match c {
            '\t' => PROMPT_WIDTH - column % PROMPT_WIDTH,
            c => c.width().unwrap_or(0),
        };
        match c {
            '\t' if is_first => shown.push_str(&format!("{prompt}{style}")),
            '\t' => shown.push_str(&" ".repeat(width)),
            c => shown.push(c),
        }
        is_first = false;
        column += width;
        if column > screen {
            column = width;
        }
    }
    shown
}

/// SQL with colour codes, which take no width on a terminal.
fn sql(text: &str) -> String {
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
    fn further_lines_begin_with_a_prompt() {
        let input = "SELECT 'a\n\tb', x\ty\n\tFROM t\nz";
        let plain = "SELECT 'a\n       -> b', x     y\n       -> FROM t\nz";
        assert_eq!(shown(input, false, 80), plain);
        assert_eq!(stripped(&shown(input, true, 80)), plain);
        assert_eq!(NEXT_PROMPT.len(), PROMPT_WIDTH);
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

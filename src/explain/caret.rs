//! Formats a report as lines of text: the message, the line of the statement, and carets below the
//! place.

use super::Report;
use crate::output::{clip, safe, width};
use crate::sql_text::lex;

/// Formats a report as lines. The statement begins at byte `start` of `text`.
pub fn render(report: &Report, text: &str, start: usize, file: Option<&str>) -> String {
    let Some(place) = &report.place else {
        return match &report.help {
            Some(help) => format!("{}\n  {help}", report.message),
            None => report.message.clone(),
        };
    };
    let (from, to) = ((start + place.start).min(text.len()), (start + place.end).min(text.len()));
    let (line, column) = lex::line_and_column(text, from);
    let line_start = text[..from].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[from..].find('\n').map_or(text.len(), |at| from + at);
    let (before, caret, after) = window(
        &text[line_start..from],
        &text[from..to.min(line_end)],
        &text[to.min(line_end)..line_end],
    );
    let file = file.map_or(String::new(), |f| format!("{}, ", safe(f)));
    let help = report.help.as_ref().map_or(String::new(), |h| format!(" {h}"));
    let marks = "^".repeat(width(&caret).max(1));
    format!(
        "{}\n  {file}line {line}, column {column}\n    {before}{caret}{after}\n    {}{marks}{help}",
        report.message,
        " ".repeat(width(&before))
    )
}

/// The part of a line around a place. Characters that must not reach a terminal are replaced by
/// blanks.
fn window(before: &str, caret: &str, after: &str) -> (String, String, String) {
    const BEFORE: usize = 60;
    const AFTER: usize = 40;
    let plain = |text: &str| -> String {
        text.chars()
            .map(|c| if safe(c.encode_utf8(&mut [0; 4])).starts_with(c) { c } else { ' ' })
            .collect()
    };
    let (before, caret, after) = (plain(before), plain(caret), plain(after));
    let skip = before.chars().count().saturating_sub(BEFORE);
    let before = if skip > 0 {
        format!("…{}", before.chars().skip(skip + 1).collect::<String>())
    } else {
        before
    };
    (before, clip(&caret, BEFORE), clip(&after, AFTER))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn caret(text: &str, statement: &str, place: Range<usize>) -> String {
        let start = text.find(statement).expect("the statement");
        render(
            &Report { message: "m".into(), place: Some(place), help: Some("h".into()) },
            text,
            start,
            None,
        )
    }

    #[test]
    fn carets_stand_under_their_place() {
        assert_eq!(
            caret("SELECT nam FROM t", "SELECT nam FROM t", 7..10),
            "m\n  line 1, column 8\n    SELECT nam FROM t\n           ^^^ h"
        );
        assert_eq!(
            caret("SELECT 1;\nSELECT\n\tnam;", "SELECT\n\tnam;", 8..11),
            "m\n  line 3, column 2\n     nam;\n     ^^^ h"
        );
        assert_eq!(
            caret("SELECT '漢', nam", "SELECT '漢', nam", 14..17),
            "m\n  line 1, column 13\n    SELECT '漢', nam\n                 ^^^ h"
        );
        assert_eq!(
            caret("SELECT", "SELECT", 6..6),
            "m\n  line 1, column 7\n    SELECT\n          ^ h"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("SELECT {}, nam, {}", "a, ".repeat(100), "b, ".repeat(100));
        let at = text.find("nam").expect("it");
        let shown = caret(&text, &text, at..at + 3);
        let lines: Vec<&str> = shown.lines().collect();
        let column = |line: &str, what: &str| line[..line.find(what).expect(what)].chars().count();
        assert_eq!(column(lines[2], "nam"), column(lines[3], "^^^"));
        assert!(lines[2].chars().count() < 120 && lines[2].ends_with('…'), "{shown}");
    }

    #[test]
    fn no_control_characters_come_out() {
        let shown = caret("SELECT '\x1b[31m' , nam", "SELECT '\x1b[31m' , nam", 18..21);
        assert!(!shown.contains('\x1b'));
        assert!(shown.lines().last().expect("a line").contains('^'));
    }
}

//! Escapes texts of unknown origin for Markdown.

use super::safe;

/// A text of unknown origin as a code span, in which nothing can act as Markdown, HTML or a
/// mention.
pub fn code(text: &str, max_chars: usize) -> String {
    let text = one_line(text, max_chars);
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() {
        " "
    } else {
        ""
    };
    // An unescaped `|` would be a border of a table, even in code.
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// A sentence that may contain names. Anything that could act as Markdown, HTML or a mention is
/// escaped.
pub fn plain(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    for c in one_line(text, max_chars).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A zero-width character prevents a mention or a reference to an issue.
            '@' | '#' => {
                out.push(c);
                out.push('\u{200b}');
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // A URL would become a link.
    out.replace("://", ":\u{200b}//")
}

fn one_line(text: &str, max_chars: usize) -> String {
    let cut: String = text.chars().take(max_chars).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    safe(&cut) + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("a`b", 10), "``a`b``");
        assert_eq!(code("`", 10), "`` ` ``");
        assert_eq!(code("a|b\nc", 10), "`a\\|b\\nc`");
        assert_eq!(code("abcdef", 3), "`abc…`");
    }

    #[test]
    fn plain_text_stays_text() {
        assert_eq!(plain("<img> *x* @all", 99), "&lt;img&gt; \\*x\\* @\u{200b}all");
        assert_eq!(plain("a|b", 99), "a\\|b");
    }
}

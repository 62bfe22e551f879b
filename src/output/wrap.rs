//! Breaks text into lines that fit a width.

use super::column_widths::width;

/// Fills lines with words. A word that does not fit into a line gets its own line.
///
/// A line has `room` columns. The caller uses the first `first` columns of the first line and the
/// first `rest` columns of the other lines for its own text.
pub fn lines<W: AsRef<str>>(
    words: impl IntoIterator<Item = W>,
    first: usize,
    rest: usize,
    room: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut taken = first;
    for word in words {
        let (word, size) = (word.as_ref(), width(word.as_ref()));
        match lines.last_mut() {
            Some(line) if taken + 1 + size <= room => {
                line.push(' ');
                line.push_str(word);
                taken += 1 + size;
            }
            last => {
                taken = size + if last.is_none() { first } else { rest };
                lines.push(word.to_owned());
            }
        }
    }
    lines
}

/// Breaks a text at blanks so that its lines fit into `room` columns. Blanks at its beginning are
/// kept, and lines after the first are indented.
pub fn wrap(text: &str, indent: usize, room: usize) -> String {
    let words = text.trim_start_matches(' ');
    let lead = text.len() - words.len();
    let lines = lines(words.split(' '), lead, indent, room);
    " ".repeat(lead) + &lines.join(&format!("\n{}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_fit() {
        assert_eq!(wrap("aa bb cc dd", 2, 6), "aa bb\n  cc\n  dd");
        assert_eq!(wrap("one", 2, 2), "one");
        assert_eq!(wrap("  keep blanks", 4, 80), "  keep blanks");
    }
}

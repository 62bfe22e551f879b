//! Text broken into lines that fit a terminal.

use super::fit::width;

/// Breaks a text at blanks, so that lines fit; lines after the first are indented. Words that are
/// too long stay whole.
pub fn wrap(text: &str, indent: usize, most: usize) -> String {
    let words = text.trim_start_matches(' ');
    let mut taken = text.len() - words.len();
    let mut out = " ".repeat(taken);
    for (i, word) in words.split(' ').enumerate() {
        let size = width(word);
        if i > 0 && taken + 1 + size > most {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            taken = indent;
        } else if i > 0 {
            out.push(' ');
            taken += 1;
        }
        out.push_str(word);
        taken += size;
    }
    out
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

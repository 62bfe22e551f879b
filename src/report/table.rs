//! Plain-text tables: columns are aligned, and names are cut to fit the width.

use crate::output::{clip, lines, safe, width};

/// A table whose first column holds names and whose others hold numbers.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|h| (*h).to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|c| safe(c)).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines. Each has at most `screen` columns if the numbers leave room for that.
    pub fn write(&self, indent: &str, screen: usize) -> String {
        let lines: Vec<&Vec<String>> = std::iter::once(&self.header).chain(&self.rows).collect();
        let columns = self.header.len();
        let widest =
            |at: usize| lines.iter().map(|l| l.get(at).map_or(0, |c| width(c))).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let taken: usize = widths.iter().skip(1).map(|w| w + 2).sum::<usize>() + indent.len();
        let names = widths.first().copied().unwrap_or(0).min(screen.saturating_sub(taken).max(16));
        let mut text = String::new();
        for line in lines {
            let name = clip(line.first().map_or("", String::as_str), names);
            let mut out =
                format!("{indent}{name}{}", " ".repeat(names.saturating_sub(width(&name))));
            for (cell, most) in line.iter().zip(&widths).skip(1) {
                out.push_str("  ");
                out.push_str(&" ".repeat(most.saturating_sub(width(cell))));
                out.push_str(cell);
            }
            text.push_str(out.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A text in lines of at most `screen` columns. The first line begins with `first`, the others with
/// the same number of spaces.
pub fn wrapped(first: &str, text: &str, screen: usize) -> String {
    let indent = " ".repeat(width(first));
    let room = screen.saturating_sub(indent.len()).max(20);
    let text = safe(text);
    let lines = lines(text.split(' ').map(|word| clip(word, room)), 0, 0, room);
    format!("{first}{}\n", lines.join(&format!("\n{indent}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_to_the_width() {
        let mut table = Table::new(&["name", "calls"]);
        table.row(vec!["a very long name of a kernel".into(), "12".into()]);
        assert_eq!(
            table.write("  ", 30),
            "  name                   calls\n  a very long name of …     12\n"
        );
    }

    #[test]
    fn texts_are_wrapped_and_safe() {
        assert_eq!(
            wrapped("HIGH  ", "a bb ccc dddd eeeee ffffff ggggg", 26),
            "HIGH  a bb ccc dddd eeeee\n      ffffff ggggg\n"
        );
        assert!(!wrapped("", "\u{1b}[31mred", 80).contains('\u{1b}'));
    }
}

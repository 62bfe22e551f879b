//! Fits tables into the width of a terminal.
//!
//! Numbers are never cut. Texts are cut at their end, longest first. If that is not enough, columns
//! are left out from the right, and their number is reported.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text that is cut below this width conveys too little to justify its column.
const MIN_TEXT: usize = 8;
/// The number of terminal columns that a cell takes in addition to its text: two blanks and a line.
const FRAME: usize = 3;

/// The number of terminal columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text cut to a width. `…` replaces the missing part.
pub fn clip(text: &str, max_width: usize) -> String {
    if text.width() <= max_width {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut left = max_width.saturating_sub(1);
    for c in text.chars() {
        let taken = c.width().unwrap_or(0);
        if taken > left {
            break;
        }
        left -= taken;
        clipped.push(c);
    }
    if max_width > 0 {
        clipped.push('…');
    }
    clipped
}

/// Cuts and drops columns until a table fits. Returns the number of dropped columns. At least one
/// column stays.
pub fn table(
    header: &mut Vec<String>,
    rows: &mut [Vec<String>],
    numeric: &[bool],
    screen: usize,
) -> usize {
    let mut columns: Vec<Column> = header
        .iter()
        .zip(numeric)
        .map(|(h, &n)| Column { header: h.width(), cells: 0, is_numeric: n })
        .collect();
    for row in rows.iter() {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.cells = column.cells.max(cell.width());
        }
    }
    let widths = widths(&columns, screen);
    let hidden = columns.len() - widths.len();
    for line in rows.iter_mut().chain(std::iter::once(header)) {
        line.truncate(widths.len());
        for (cell, &max_width) in line.iter_mut().zip(&widths) {
            if cell.width() > max_width {
                *cell = clip(cell, max_width);
            }
        }
    }
    hidden
}

/// The widths of the header and of the cells of a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    header: usize,
    cells: usize,
    is_numeric: bool,
}

impl Column {
    fn natural(&self) -> usize {
        self.header.max(self.cells)
    }

    fn min_width(&self) -> usize {
        if self.is_numeric {
            self.cells.max(self.header.min(MIN_TEXT))
        } else {
            self.natural().min(MIN_TEXT)
        }
    }
}

/// The widths of the columns that stay.
fn widths(columns: &[Column], screen: usize) -> Vec<usize> {
    let total = |widths: &[usize]| widths.iter().map(|w| w + FRAME).sum::<usize>() + 1;
    let mut kept = columns.len();
    let min: Vec<usize> = columns.iter().map(Column::min_width).collect();
    while kept > 1 && total(&min[..kept]) > screen {
        kept -= 1;
    }
    let capped = |cap: usize| -> Vec<usize> {
        columns[..kept].iter().map(|c| c.natural().min(cap).max(c.min_width())).collect()
    };
    let widest = columns.iter().map(Column::natural).max().unwrap_or(0);
    // Finds the largest cap under which all columns fit.
    let (mut low, mut high) = (0, widest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if total(&capped(middle)) <= screen { low = middle } else { high = middle - 1 }
    }
    capped(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(
        header: &[&str],
        row: &[&str],
        numeric: &[bool],
        screen: usize,
    ) -> (Vec<String>, Vec<String>, usize) {
        let mut header = header.iter().map(|h| h.to_string()).collect();
        let mut rows = vec![row.iter().map(|c| c.to_string()).collect()];
        let hidden = table(&mut header, &mut rows, numeric, screen);
        (header, rows.remove(0), hidden)
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(
            fitted(&["a", "b"], &["text", "1"], &[false, true], 80),
            (vec!["a".into(), "b".into()], vec!["text".into(), "1".into()], 0)
        );
    }

    #[test]
    fn long_texts_are_cut_and_numbers_are_not() {
        let (_, row, hidden) = fitted(
            &["name", "dur_ns"],
            &["a very long name of a kernel", "123456789012345"],
            &[false, true],
            40,
        );
        assert_eq!(
            (row[0].as_str(), row[1].as_str(), hidden),
            ("a very long name …", "123456789012345", 0)
        );
    }

    #[test]
    fn columns_without_room_are_dropped_and_counted() {
        let (header, row, hidden) =
            fitted(&["a", "b", "c"], &["123456789", "123456789", "123456789"], &[true; 3], 26);
        assert_eq!((header.len(), row.len(), hidden), (2, 2, 1));
        assert_eq!(fitted(&["a"], &["123456789"], &[true], 3).2, 0, "one column stays");
    }

    #[test]
    fn wide_characters_count_as_two() {
        assert_eq!(clip("漢字漢字", 5), "漢字…");
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abcd", 3), "ab…");
        assert_eq!(clip("abcd", 0), "");
    }

    #[test]
    fn every_table_fits_that_can() {
        for screen in 34..100 {
            let columns = [(4, 30, false), (10, 3, true), (5, 200, false)]
                .map(|(header, cells, is_numeric)| Column { header, cells, is_numeric });
            let widths = widths(&columns, screen);
            assert!(
                widths.iter().map(|w| w + FRAME).sum::<usize>() < screen,
                "{screen}: {widths:?}"
            );
            assert!(widths.len() == 3, "{screen}: {widths:?}");
        }
    }
}

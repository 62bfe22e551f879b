//! Fits tables into the width of a terminal.
//!
//! Numbers are never cut. A table that is too wide loses columns that have the same value in every
//! row first; these values are reported. Then texts are cut at their end, longest first, and names
//! of columns are broken at `_`. If that is not enough, columns in the middle are left out, so that
//! both ends of the table can be seen.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text that is cut below this width conveys too little to justify its column.
const MIN_TEXT: usize = 8;
/// The number of terminal columns that a cell takes in addition to its text: two blanks and a line.
const FRAME: usize = 3;
/// Columns of one value stay if the other columns have room for texts of this width.
const GOOD_TEXT: usize = 32;
/// A shorter name is not broken.
const MIN_NAME: usize = 12;
/// The part of a name without `_` that is never cut.
const MAX_NAME: usize = 32;
/// What stands for the columns that are left out.
const GAP: &str = "…";

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

/// A table as texts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The names of the columns.
    pub header: Vec<String>,
    /// Whether each column has numbers.
    pub numeric: Vec<bool>,
    /// The cells by row.
    pub rows: Vec<Vec<String>>,
}

/// The columns that were left out of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The names and values of columns that have the same value in all rows.
    pub constant: Vec<(String, String)>,
    /// The number of columns in the middle.
    pub hidden: usize,
}

impl Texts {
    /// Cuts cells and leaves out columns until the table fits. At least one column stays.
    pub fn fit(&mut self, screen: usize) -> LeftOut {
        let constant = self.drop_constants(screen);
        let columns = self.columns();
        let Kept { left, right, has_gap } = kept(&columns, screen);
        let hidden = columns.len() - left - right;
        let chosen: Vec<Column> = columns[..left]
            .iter()
            .chain(has_gap.then_some(&GAP_COLUMN))
            .chain(&columns[columns.len() - right..])
            .copied()
            .collect();
        if hidden > 0 {
            let middle = left..left + hidden;
            let gap = || has_gap.then(|| GAP.to_owned());
            self.header.splice(middle.clone(), gap());
            self.numeric.splice(middle.clone(), has_gap.then_some(false));
            for row in &mut self.rows {
                row.splice(middle.clone(), gap());
            }
        }
        let widths = widths(&chosen, screen);
        for (name, &max_width) in self.header.iter_mut().zip(&widths) {
            *name = broken(name, max_width);
        }
        for row in &mut self.rows {
            for (cell, &max_width) in row.iter_mut().zip(&widths) {
                if cell.width() > max_width {
                    *cell = clip(cell, max_width);
                }
            }
        }
        LeftOut { constant, hidden }
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = self
            .header
            .iter()
            .zip(&self.numeric)
            .map(|(name, &is_numeric)| Column {
                name: name.width(),
                part: parts(name).map(|p| p.width()).max().unwrap_or(0),
                cells: 0,
                is_numeric,
            })
            .collect();
        for row in &self.rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                column.cells = column.cells.max(cell.width());
            }
        }
        columns
    }

    /// Takes out columns of one value, widest first, until the others have enough room.
    fn drop_constants(&mut self, screen: usize) -> Vec<(String, String)> {
        let [first, others @ ..] = self.rows.as_slice() else { return Vec::new() };
        let mut columns: Vec<(usize, Column)> = self.columns().into_iter().enumerate().collect();
        let is_constant = |at: usize| others.iter().all(|row| row[at] == first[at]);
        let mut constant: Vec<(usize, Column)> =
            columns.iter().copied().filter(|(at, _)| is_constant(*at)).collect();
        if others.is_empty() || constant.len() == columns.len() {
            return Vec::new();
        }
        constant.sort_by_key(|(at, column)| (column.natural(), std::cmp::Reverse(*at)));
        let good = |columns: &[(usize, Column)]| {
            let widths = columns.iter().map(|(_, c)| c.natural().min(GOOD_TEXT.max(c.min_width())));
            total(widths) <= screen
        };
        let mut dropped = Vec::new();
        while !good(&columns) {
            let Some((at, _)) = constant.pop() else { break };
            columns.retain(|(other, _)| *other != at);
            dropped.push(at);
        }
        dropped.sort_unstable();
        let named =
            dropped.iter().map(|&at| (self.header[at].clone(), first[at].clone())).collect();
        for &at in dropped.iter().rev() {
            self.header.remove(at);
            self.numeric.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        named
    }
}

/// The widths of the parts of a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// The width of its name.
    name: usize,
    /// The width of the longest part of its name between `_`.
    part: usize,
    cells: usize,
    is_numeric: bool,
}

const GAP_COLUMN: Column = Column { name: 1, part: 1, cells: 1, is_numeric: false };

impl Column {
    fn natural(&self) -> usize {
        self.name.max(self.cells)
    }

    fn min_width(&self) -> usize {
        let cells = if self.is_numeric { self.cells } else { self.cells.min(MIN_TEXT) };
        cells.max(self.name.min(self.part.clamp(MIN_NAME, MAX_NAME)))
    }
}

/// The width of a table of columns with these widths.
fn total(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|w| w + FRAME).sum::<usize>() + 1
}

/// The number of columns that stay at both ends of a table.
struct Kept {
    left: usize,
    right: usize,
    /// Whether a column stands for those that are left out.
    has_gap: bool,
}

/// Chooses columns from both ends in turn, as long as there is room.
fn kept(columns: &[Column], screen: usize) -> Kept {
    let width = |column: &Column| column.min_width() + FRAME;
    if total(columns.iter().map(Column::min_width)) <= screen {
        return Kept { left: columns.len(), right: 0, has_gap: false };
    }
    let mut kept = Kept { left: columns.len().min(1), right: 0, has_gap: true };
    // The first column stays in any case.
    let mut used = 1 + columns.first().map_or(0, width) + width(&GAP_COLUMN);
    let (mut left_has_room, mut right_has_room) = (true, true);
    while left_has_room || right_has_room {
        let middle = &columns[kept.left..columns.len() - kept.right];
        if let Some(last) = middle.last().filter(|_| right_has_room) {
            right_has_room = used + width(last) <= screen;
            if right_has_room {
                used += width(last);
                kept.right += 1;
            }
        } else {
            right_has_room = false;
        }
        let middle = &columns[kept.left..columns.len() - kept.right];
        if let Some(first) = middle.first().filter(|_| left_has_room) {
            left_has_room = used + width(first) <= screen;
            if left_has_room {
                used += width(first);
                kept.left += 1;
            }
        } else {
            left_has_room = false;
        }
    }
    // A single column may be too wide even without the gap.
    kept.has_gap = used <= screen && kept.left < columns.len();
    kept
}

/// The widths that columns get on a screen that has room for their minimal widths.
fn widths(columns: &[Column], screen: usize) -> Vec<usize> {
    let capped = |cap: usize| columns.iter().map(move |c| c.natural().min(cap).max(c.min_width()));
    let widest = columns.iter().map(Column::natural).max().unwrap_or(0);
    // Finds the largest cap under which all columns fit.
    let (mut low, mut high) = (0, widest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if total(capped(middle)) <= screen { low = middle } else { high = middle - 1 }
    }
    capped(low).collect()
}

/// The parts of a name. Each but the last one ends with `_`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive('_')
}

/// A name broken at `_` into lines of a width. A part that is longer is cut.
fn broken(name: &str, max_width: usize) -> String {
    if name.width() <= max_width {
        return name.to_owned();
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts(name) {
        match lines.last_mut().filter(|line| line.width() + part.width() <= max_width) {
            Some(line) => line.push_str(part),
            None => lines.push(clip(part, max_width)),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(header: &[&str], rows: &[&[&str]], numeric: &[bool]) -> Texts {
        let owned = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
        Texts {
            header: owned(header),
            numeric: numeric.to_vec(),
            rows: rows.iter().map(|row| owned(row)).collect(),
        }
    }

    #[test]
    fn what_fits_stays() {
        let mut table = texts(&["a", "b"], &[&["text", "1"], &["text", "1"]], &[false, true]);
        assert_eq!(table.fit(80), LeftOut::default());
        assert_eq!(table, texts(&["a", "b"], &[&["text", "1"], &["text", "1"]], &[false, true]));
    }

    #[test]
    fn long_texts_are_cut_and_numbers_are_not() {
        let row: [&str; 2] = ["a very long name of a kernel", "123456789012345"];
        let mut table = texts(&["name", "dur_ns"], &[&row], &[false, true]);
        assert_eq!(table.fit(40), LeftOut::default());
        assert_eq!(table.rows[0], ["a very long name …", "123456789012345"]);
    }

    #[test]
    fn both_ends_of_a_wide_table_stay() {
        let row = ["123456789"; 5];
        let mut table = texts(&["a", "b", "c", "d", "e"], &[&row], &[true; 5]);
        assert_eq!(table.fit(40), LeftOut { constant: Vec::new(), hidden: 3 });
        assert_eq!(table.header, ["a", "…", "e"]);
        assert_eq!(table.rows[0], ["123456789", "…", "123456789"]);
        assert_eq!(table.numeric, [true, false, true]);
        let mut narrow = texts(&["a"], &[&["123456789"]], &[true]);
        assert_eq!((narrow.fit(3).hidden, narrow.header.len()), (0, 1), "one column stays");
        let mut narrow = texts(&["a", "b"], &[&["123456789"; 2]], &[true; 2]);
        assert_eq!((narrow.fit(14).hidden, narrow.header.len()), (1, 1), "one column stays");
    }

    #[test]
    fn columns_of_one_value_are_left_out_and_named() {
        let rows: [&[&str]; 2] =
            [&["trace-0123456789", "NULL", "1"], &["trace-0123456789", "NULL", "2"]];
        let table = || texts(&["trace_id", "rank", "n"], &rows, &[false, true, true]);
        let trace = ("trace_id".to_owned(), "trace-0123456789".to_owned());
        let mut narrow = table();
        assert_eq!(narrow.fit(30).constant, std::slice::from_ref(&trace));
        assert_eq!(narrow.header, ["rank", "n"]);
        assert_eq!(table().fit(9).constant, [trace, ("rank".to_owned(), "NULL".to_owned())]);
        assert_eq!(table().fit(80), LeftOut::default(), "it fits");
        let mut one = texts(&["trace_id", "n"], &[&["trace-0123456789", "1"]], &[false, true]);
        assert!(one.fit(20).constant.is_empty(), "one row has no columns to compare");
    }

    #[test]
    fn names_are_broken_and_not_cut() {
        assert_eq!(broken("exposed_communication_pct", 14), "exposed_\ncommunication_\npct");
        assert_eq!(broken("exposed_communication_pct", 18), "exposed_\ncommunication_pct");
        assert_eq!(broken("name", 4), "name");
        let mut table = texts(&["exposed_communication_pct", "n"], &[&["1", "2"]], &[true, true]);
        table.fit(24);
        assert_eq!(table.header, ["exposed_\ncommunication_\npct", "n"]);
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
        let cells: [&str; 6] = ["a", "123456", &"long ".repeat(40), "b", "9876543210", "text"];
        let header = ["name", "exposed_pct", "text", "x", "some_longer_name", "last"];
        let numeric = [false, true, false, false, true, false];
        for screen in 20..300 {
            let mut table = texts(&header, &[&cells], &numeric);
            let left_out = table.fit(screen);
            let widest = |at: usize| {
                let lines = table.header[at].lines().chain([table.rows[0][at].as_str()]);
                lines.map(width).max().unwrap_or(0)
            };
            let all = total((0..table.header.len()).map(widest));
            assert!(all <= screen, "{screen}: {table:?}");
            assert!(left_out.hidden == 0 || table.header.contains(&GAP.to_owned()), "{screen}");
        }
    }
}

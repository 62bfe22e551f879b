//! Removes the copy of the input that narrowing the terminal leaves behind.
//!
//! A terminal that gets narrower breaks its lines again, so that the input takes more rows. The
//! line editor clears only as many rows as the input took before (`State::next_cmd` and
//! `PosixRenderer::clear_old_rows` of rustyline 19). The prompt that it prints next is preceded by
//! the codes that clear the remaining rows.

use std::cell::{Cell, RefCell};
use std::env::var_os;
use std::io::stdout;

use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthChar;

/// The position of the cursor in the input when the input was last printed.
#[derive(Debug, Default)]
pub struct Reflow {
    columns: Cell<usize>,
    before_cursor: RefCell<String>,
}

impl Reflow {
    /// Remembers the input up to the cursor.
    pub fn remember(&self, before_cursor: &str) {
        before_cursor.clone_into(&mut self.before_cursor.borrow_mut());
    }

    /// Forgets the input, because the next one begins.
    pub fn forget(&self) {
        self.columns.set(0);
        self.before_cursor.borrow_mut().clear();
    }

    /// The codes that clear the rows that the line editor does not know of. The cursor is where it
    /// believes the first row of the input to be.
    pub fn codes(&self, prompt: &str) -> String {
        let now = tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_col));
        let before = self.columns.replace(now);
        if now == 0 || now >= before || !breaks_lines_again() {
            return String::new();
        }
        let text = format!("{prompt}{}", self.before_cursor.borrow());
        match rows(&text, now) - rows(&text, before) {
            0 => String::new(),
            more => format!("\x1b[{more}A\r\x1b[J"),
        }
    }
}

/// Whether the terminal breaks its lines again when its width changes. Most do, except for xterm,
/// GNU screen and the console of Linux.
fn breaks_lines_again() -> bool {
    let is_xterm = var_os("XTERM_VERSION").is_some() && var_os("TMUX").is_none();
    let is_console = var_os("TERM").is_some_and(|name| name == "linux");
    !is_xterm && !is_console && var_os("STY").is_none()
}

/// The number of rows above the end of a text, counted as the line editor counts them.
fn rows(text: &str, columns: usize) -> usize {
    let (mut row, mut column) = (0, 0);
    for c in text.chars() {
        let width = match c {
            '\n' => {
                (row, column) = (row + 1, 0);
                continue;
            }
            '\t' => super::highlight::PROMPT_WIDTH - column % super::highlight::PROMPT_WIDTH,
            c => c.width().unwrap_or(0),
        };
        column += width;
        if column > columns {
            (row, column) = (row + 1, width);
        }
    }
    row + usize::from(column == columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_above_the_cursor() {
        assert_eq!(rows("tracesql> SELECT 1", 80), 0);
        assert_eq!(rows("tracesql> SELECT 1", 12), 1);
        assert_eq!(rows("tracesql> ", 10), 1);
        assert_eq!(rows("tracesql> SELECT\n\tname", 80), 1);
        assert_eq!(rows("tracesql> SELECT\n\tname", 12), 3);
    }
}

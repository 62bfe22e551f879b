//! Standard output on a terminal. Text that does not fit on the screen goes through a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tracesql::output::clip;

use super::query_progress::Watched;
use super::typed_ahead::TypedAhead;

/// The options for `less` unless the user has set some: cut long lines instead of wrapping them,
/// keep colours, and keep the text on the screen at the end.
const LESS: &str = "-SRX";

/// The size of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of columns.
    pub width: usize,
    /// The number of lines.
    pub height: usize,
}

/// How to show lines that are wider than the screen, in a text that has no more lines than it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wide {
    /// The terminal breaks them. If this takes more rows than the screen has, they are cut.
    Cut,
    /// The terminal breaks them. If this takes more rows than the screen has, the pager shows them.
    Wrap,
    /// The pager shows them, in which the arrow keys move sideways.
    Page,
}

/// Collects text for the terminal, and starts the pager when it outgrows the screen.
pub struct Screen {
    size: Option<Size>,
    wide: Wide,
    typed_ahead: Option<TypedAhead>,
    watched: Arc<Watched>,
    held: Vec<u8>,
    lines: usize,
    /// The number of rows that the lines take if the terminal breaks them.
    rows: usize,
    /// The number of characters in the current line so far.
    line: usize,
    is_wide: bool,
    pager: Option<Child>,
    has_ended: bool,
}

impl Screen {
    /// Creates a screen of this size. Without a size, nothing is paged or cut. The time for
    /// displaying is reported to `watched`.
    pub fn new(
        size: Option<Size>,
        wide: Wide,
        typed_ahead: Option<TypedAhead>,
        watched: Arc<Watched>,
    ) -> Self {
        Self {
            size,
            wide,
            typed_ahead,
            watched,
            held: Vec::new(),
            lines: 0,
            rows: 0,
            line: 0,
            is_wide: false,
            pager: None,
            has_ended: false,
        }
    }

    fn measure(&mut self, bytes: &[u8]) {
        let Some(size) = self.size else { return };
        // Counts the bytes that begin a character. Wide characters are rare enough to be ignored.
        for &byte in bytes {
            if byte == b'\n' {
                self.lines += 1;
                self.rows += 1;
                self.line = 0;
            } else if byte & 0xc0 != 0x80 {
                self.line += 1;
                if self.line > size.width {
                    self.rows += 1;
                    self.line = 1;
                    self.is_wide = true;
                }
            }
        }
    }

    /// Whether the text needs a pager. One row of the screen is for the next prompt.
    fn is_too_large(&self) -> bool {
        let Some(size) = self.size else { return false };
        match self.wide {
            Wide::Cut => self.lines >= size.height,
            Wide::Wrap => self.rows >= size.height,
            Wide::Page => self.lines >= size.height || self.is_wide,
        }
    }

    /// Cuts the lines that are too wide, if the terminal has no room to break them.
    fn cut(&mut self) {
        let Some(size) = self.size.filter(|s| self.rows >= s.height) else { return };
        let text = String::from_utf8_lossy(&self.held).into_owned();
        let mut cut = 0;
        let mut shown = String::with_capacity(text.len());
        for line in text.lines() {
            let short = clip(line, size.width);
            cut += usize::from(short != line);
            shown += &format!("{short}\n");
        }
        if cut > 0 {
            let lines = if cut == 1 { "1 line is cut" } else { &format!("{cut} lines are cut") };
            shown += &format!("({lines}; \\fit off shows all of the text)\n");
        }
        self.held = shown.into_bytes();
    }

    fn start_pager(&mut self) {
        let named = std::env::var("PAGER").ok().filter(|p| !p.trim().is_empty());
        let mut command = match &named {
            Some(named) => {
                let mut command = Command::new("sh");
                command.args(["-c", named]);
                command
            }
            None => Command::new("less"),
        };
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        self.typed_ahead.iter().for_each(TypedAhead::lend);
        match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                self.watched.set_pager(true);
                self.pager = Some(child);
            }
            // If no pager can be started, the whole text is printed.
            Err(_) => {
                self.size = None;
                self.typed_ahead.iter().for_each(TypedAhead::take_back);
            }
        }
    }

    /// Writes the text that is held back, and waits until the pager is closed.
    fn end(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let watched = self.watched.clone();
        let Some(mut pager) = self.pager.take() else {
            if self.wide == Wide::Cut {
                self.cut();
            }
            return watched.display(|| {
                let mut out = io::stdout().lock();
                out.write_all(&self.held)?;
                out.flush()
            });
        };
        drop(pager.stdin.take());
        let _ = watched.display(|| pager.wait());
        self.typed_ahead.iter().for_each(TypedAhead::take_back);
        self.watched.set_pager(false);
        Ok(())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let watched = self.watched.clone();
        if let Some(stdin) = self.pager.as_mut().and_then(|p| p.stdin.as_mut()) {
            watched.display(|| stdin.write_all(bytes))?;
            return Ok(bytes.len());
        }
        self.measure(bytes);
        self.held.extend_from_slice(bytes);
        if self.is_too_large() {
            // A pager would read the statements that were typed or pasted after this one.
            if self.typed_ahead.as_ref().is_some_and(TypedAhead::waits) {
                self.size = None;
            } else {
                watched.display(|| self.start_pager());
            }
        }
        if let Some(stdin) = self.pager.as_mut().and_then(|p| p.stdin.as_mut()) {
            let held = std::mem::take(&mut self.held);
            watched.display(|| stdin.write_all(&held))?;
        } else if self.size.is_none() {
            let held = std::mem::take(&mut self.held);
            watched.display(|| io::stdout().lock().write_all(&held))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: usize, wide: Wide, text: &str) -> Screen {
        let size = Some(Size { width, height: 4 });
        let mut screen = Screen::new(size, wide, None, Watched::start(false));
        screen.measure(text.as_bytes());
        screen.held.extend_from_slice(text.as_bytes());
        // Nothing is written when the screen is dropped.
        screen.has_ended = true;
        screen
    }

    #[test]
    fn lines_and_rows_are_counted() {
        let counts = |text| {
            let screen = screen(4, Wide::Cut, text);
            (screen.lines, screen.rows, screen.is_wide)
        };
        assert_eq!(counts("│ab\nabcd\n"), (2, 2, false));
        assert_eq!(counts("abcde\n"), (1, 2, true));
        assert_eq!(counts("abcdefghi"), (0, 2, true));
    }

    #[test]
    fn one_wide_line_needs_no_pager() {
        let text = "a\nabcde\n";
        assert!(!screen(4, Wide::Cut, text).is_too_large());
        assert!(!screen(4, Wide::Wrap, text).is_too_large());
        assert!(screen(4, Wide::Page, text).is_too_large());
        assert!(screen(3, Wide::Wrap, "abcdefghijklm\n").is_too_large());
        assert!(screen(80, Wide::Cut, "a\na\na\na\n").is_too_large());
    }

    #[test]
    fn lines_that_would_fill_the_screen_are_cut() {
        let cut = |text| {
            let mut screen = screen(4, Wide::Cut, text);
            screen.cut();
            String::from_utf8_lossy(&screen.held).into_owned()
        };
        assert_eq!(cut("abcde\n"), "abcde\n");
        let long = "abcdefghijklmnopq\nab\n";
        assert_eq!(cut(long), "abc…\nab\n(1 line is cut; \\fit off shows all of the text)\n");
    }
}

//! Standard output on a terminal. Text that does not fit on the screen goes through a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Collects text for the terminal, and starts the pager when it outgrows the screen.
pub struct Screen {
    size: Option<Size>,
    held: Vec<u8>,
    lines: usize,
    is_wide: bool,
    /// The number of characters in the current line so far.
    line: usize,
    pager: Option<Child>,
    is_open: Arc<AtomicBool>,
    has_ended: bool,
}

impl Screen {
    /// Creates a screen of this size. Without a size, nothing is paged.
    pub fn new(size: Option<Size>) -> Self {
        let is_open = Arc::new(AtomicBool::new(false));
        Self {
            size,
            held: Vec::new(),
            lines: 0,
            is_wide: false,
            line: 0,
            pager: None,
            is_open,
            has_ended: false,
        }
    }

    /// A flag that shows whether a pager holds the terminal. It can be read while another thread
    /// writes to the screen.
    pub fn pager_flag(&self) -> Arc<AtomicBool> {
        self.is_open.clone()
    }

    fn measure(&mut self, bytes: &[u8]) {
        let Some(size) = self.size else { return };
        // Counts the bytes that begin a character. Wide characters are rare enough to be ignored.
        for &byte in bytes {
            if byte == b'\n' {
                self.lines += 1;
                self.line = 0;
            } else if byte & 0xc0 != 0x80 {
                self.line += 1;
                self.is_wide |= self.line > size.width;
            }
        }
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
        match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                self.is_open.store(true, Ordering::Relaxed);
                self.pager = Some(child);
            }
            // If no pager can be started, the whole text is printed.
            Err(_) => self.size = None,
        }
    }

    /// Writes the text that is held back, and waits until the pager is closed.
    fn end(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let Some(mut pager) = self.pager.take() else {
            let mut out = io::stdout().lock();
            out.write_all(&self.held)?;
            return out.flush();
        };
        drop(pager.stdin.take());
        let _ = pager.wait();
        self.is_open.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(stdin) = self.pager.as_mut().and_then(|p| p.stdin.as_mut()) {
            stdin.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.measure(bytes);
        self.held.extend_from_slice(bytes);
        if self.size.is_some_and(|s| self.lines + 1 > s.height || self.is_wide) {
            self.start_pager();
        }
        if let Some(stdin) = self.pager.as_mut().and_then(|p| p.stdin.as_mut()) {
            stdin.write_all(&std::mem::take(&mut self.held))?;
        } else if self.size.is_none() {
            io::stdout().lock().write_all(&std::mem::take(&mut self.held))?;
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

    #[test]
    fn lines_and_widths_are_counted() {
        let mut screen = Screen::new(Some(Size { width: 4, height: 10 }));
        screen.measure("│ab\nabcd\n".as_bytes());
        assert_eq!((screen.lines, screen.is_wide), (2, false));
        screen.measure("abcde".as_bytes());
        assert!(screen.is_wide);
        screen.has_ended = true;
    }
}

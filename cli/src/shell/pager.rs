//! Standard output as a screen: text that does not fit goes through a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options for `less` unless the user has set some: long lines are cut and not wrapped, colours
/// stay, the text stays.
const LESS: &str = "-SRX";

/// The size of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

/// Collects text for the terminal, and starts the pager when it outgrows the screen.
pub struct Screen {
    size: Option<Size>,
    held: Vec<u8>,
    lines: usize,
    is_wide: bool,
    /// Characters of the line so far.
    line: usize,
    pager: Option<Child>,
    is_open: Arc<AtomicBool>,
    has_ended: bool,
}

impl Screen {
    /// A screen of this size; without one nothing is paged.
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

    /// A flag that tells, while the screen is written elsewhere, whether a pager holds the terminal.
    pub fn pager_flag(&self) -> Arc<AtomicBool> {
        self.is_open.clone()
    }

    fn measure(&mut self, bytes: &[u8]) {
        let Some(size) = self.size else { return };
        // Bytes that begin a character; wide ones are rare enough.
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
            // Without a pager, all of the text is printed.
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

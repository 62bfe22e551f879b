//! Bytes of a content in file order, mapped piece by piece.

use super::machine::Fault;
use crate::error::Result;
use crate::source::Content;

/// Number of bytes that are mapped at a time.
const WINDOW: u64 = 8 << 20;

/// A reader of bytes in file order.
pub struct Bytes<'a> {
    content: &'a Content,
    window: crate::source::Mapping,
    /// Offset of the window in the content.
    base: u64,
    /// Position in the window.
    at: usize,
}

impl<'a> Bytes<'a> {
    /// Creates a reader that starts at the first byte.
    pub fn new(content: &'a Content) -> Result<Self> {
        let mut bytes = Self { content, window: content.map(0, 0)?, base: 0, at: 0 };
        bytes.slide(1)?;
        Ok(bytes)
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Maps a window that begins at the next byte and holds `n` bytes, as far as they exist.
    fn slide(&mut self, n: u64) -> Result<()> {
        let start = self.offset();
        let (len, _) = self.content.wait(start.saturating_add(n.max(WINDOW)))?;
        let end = len.min(start.saturating_add(n.max(WINDOW)));
        self.window = self.content.map(start.min(end), end)?;
        (self.base, self.at) = (start, 0);
        Ok(())
    }

    /// Fails if the content ends before the next `n` bytes.
    #[inline]
    pub fn need(&mut self, n: u64) -> Result<(), Fault> {
        if n > (self.window.len() - self.at) as u64 { self.refill(n) } else { Ok(()) }
    }

    /// Returns the next `n` bytes, or a fault if the content ends before them.
    #[inline]
    pub fn take(&mut self, n: u64) -> Result<&[u8], Fault> {
        self.need(n)?;
        let start = self.at;
        self.at += n as usize;
        Ok(&self.window[start..self.at])
    }

    /// Maps a window that holds the next `n` bytes, or fails if the content ends before them.
    #[cold]
    fn refill(&mut self, n: u64) -> Result<(), Fault> {
        self.slide(n)?;
        let left = self.window.len() as u64;
        if n > left { Err(Fault::Ends { wanted: n, left }) } else { Ok(()) }
    }

    /// Returns the next bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        if let Some(bytes) = self.window[self.at..].first_chunk::<N>() {
            self.at += N;
            return Ok(*bytes);
        }
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    /// Returns the next bytes up to the end of the line, which is skipped.
    pub fn line(&mut self, max: usize) -> Result<Vec<u8>, Fault> {
        let mut line = Vec::new();
        loop {
            match self.array::<1>()? {
                [b'\n'] => return Ok(line),
                _ if line.len() == max => return Err(Fault::Bad("a number of too many digits")),
                [byte] => line.push(byte),
            }
        }
    }

    /// Skips bytes; returns whether the content has them.
    pub fn has(&mut self, n: u64) -> Result<bool> {
        let end = self.offset().saturating_add(n);
        Ok(self.content.wait(end)?.0 >= end)
    }
}

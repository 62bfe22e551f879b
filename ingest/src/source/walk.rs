//! Walks through a large JSON document in its order, with a window on its text, for readers that
//! know what the document holds.

use serde_json::Value as Json;

use super::{Content, Mapping};
use crate::error::IngestError;
use crate::json::{Bad, Cursor};

/// Number of bytes that are mapped at a time.
const WINDOW: u64 = 8 << 20;

/// The reason why a walk ends early.
pub enum Ends {
    /// The text ends within a value.
    Cut,
    /// The text is not JSON.
    Bad(&'static str),
    /// Reading or writing failed.
    Failed(IngestError),
}

impl From<IngestError> for Ends {
    fn from(error: IngestError) -> Self {
        Self::Failed(error)
    }
}

/// A position in a document.
pub struct Walk<'a> {
    content: &'a Content,
    window: Mapping,
    /// Offset of the window in the text.
    base: u64,
    /// Position in the window.
    at: usize,
    /// Length of the text in bytes.
    len: u64,
}

impl<'a> Walk<'a> {
    /// Begins at the start of a complete text.
    pub fn new(content: &'a Content) -> Result<Self, IngestError> {
        let (len, _) = content.wait(u64::MAX)?;
        let window = content.map(0, len.min(WINDOW))?;
        let at = if window.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Ok(Self { content, window, base: 0, at, len })
    }

    /// Returns a walk through the same text from another place.
    pub fn at(&self, offset: u64) -> Result<Self, IngestError> {
        let window = self.content.map(offset, self.len.min(offset + WINDOW))?;
        Ok(Self { content: self.content, window, base: offset, at: 0, len: self.len })
    }

    /// Returns the offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Maps a window of at least `want` bytes that begins at the next byte.
    fn slide(&mut self, want: u64) -> Result<(), Ends> {
        let start = self.offset();
        self.window = self.content.map(start, self.len.min(start + want.max(WINDOW)))?;
        (self.base, self.at) = (start, 0);
        Ok(())
    }

    /// Steps over white space and returns the byte that follows.
    pub fn token(&mut self) -> Result<u8, Ends> {
        loop {
            while let Some(&byte) = self.window.get(self.at) {
                if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                    return Ok(byte);
                }
                self.at += 1;
            }
            if self.offset() >= self.len {
                return Err(Ends::Cut);
            }
            self.slide(0)?;
        }
    }

    /// Steps over a value; returns its raw text.
    pub fn value(&mut self) -> Result<&[u8], Ends> {
        self.token()?;
        let mut want = WINDOW;
        let len = loop {
            let is_last = self.base + self.window.len() as u64 >= self.len;
            let mut cursor = Cursor::new(&self.window, self.at);
            match cursor.value() {
                // A word may go on after the window.
                Ok(_) if cursor.pos < self.window.len() || is_last => break cursor.pos - self.at,
                Ok(_) | Err(Bad::End) if !is_last => {
                    want = want.saturating_mul(4);
                    self.slide(want)?;
                }
                Err(Bad::Syntax(_)) => return Err(Ends::Bad("a value is not JSON")),
                Err(Bad::Deep) => return Err(Ends::Bad("a value nests deeper than 512 levels")),
                _ => return Err(Ends::Cut),
            }
        };
        if len == 0 {
            return Err(Ends::Bad("a value is missing"));
        }
        let start = self.at;
        self.at += len;
        Ok(&self.window[start..self.at])
    }

    /// Steps over a value.
    pub fn skip(&mut self) -> Result<(), Ends> {
        self.value().map(|_| ())
    }

    /// Reads a value of at most `max` bytes as a tree.
    pub fn tree(&mut self, max: u64) -> Result<Json, Ends> {
        let raw = self.value()?;
        if raw.len() as u64 > max {
            return Err(Ends::Bad("a part is longer than 64 MiB"));
        }
        serde_json::from_slice(raw).map_err(|_| Ends::Bad("a part is not JSON"))
    }

    /// Passes each member of an object to `each`, which must step over the value. Another value is
    /// stepped over.
    pub fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &[u8]) -> Result<(), Ends>,
    ) -> Result<(), Ends> {
        if self.token()? != b'{' {
            return self.skip();
        }
        self.at += 1;
        loop {
            match self.token()? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => {
                    self.at += 1;
                    continue;
                }
                b'"' => {}
                _ => return Err(Ends::Bad("a key in quotes is expected")),
            }
            let key = self.value()?;
            let key = key[1..key.len() - 1].to_vec();
            if self.token()? != b':' {
                return Err(Ends::Bad("a colon is expected after a key"));
            }
            self.at += 1;
            self.token()?;
            each(self, &key)?;
        }
    }

    /// Calls `each` at each item of a list; it must step over the item. Another value is stepped
    /// over.
    pub fn list(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), Ends>,
    ) -> Result<(), Ends> {
        if self.token()? != b'[' {
            return self.skip();
        }
        self.at += 1;
        loop {
            match self.token()? {
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => self.at += 1,
                _ => each(self)?,
            }
        }
    }
}

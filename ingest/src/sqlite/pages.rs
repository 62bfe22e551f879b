//! The pages of a database file.

use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::source::{Content, Reader};

/// Size of the header of the file, in bytes.
pub const HEADER: usize = 100;
/// The first bytes of every database.
pub const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How texts are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

/// The layout of a database.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Size of a page in bytes.
    pub page_size: usize,
    /// Number of bytes of a page without the reserved bytes at its end.
    pub usable: usize,
    /// Number of whole pages in the file.
    pub pages: u64,
    /// How texts are stored.
    pub encoding: Encoding,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// Returns the 16-bit number at a position; 0 beyond the end.
#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(&[a, b]) => usize::from(u16::from_be_bytes([a, b])),
        _ => 0,
    }
}

/// Returns the 32-bit number at a position; 0 beyond the end.
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Returns the number at the start of some bytes and its length in bytes; `None` if it is cut.
#[inline]
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(9).enumerate() {
        if i == 8 {
            return Some((value << 8 | u64::from(byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    None
}

impl Layout {
    /// Reads the header of the file. Fails if the file is cut, or of a kind that is not supported.
    pub fn read(name: &str, content: &Content) -> Result<Self> {
        let (bytes, _) = content.wait(u64::MAX)?;
        let head = content.map(0, bytes.min(HEADER as u64))?;
        let refuse = |reason: String| Err(IngestError::input_at(name, reason, 0));
        if head.len() < HEADER {
            return refuse(format!(
                "this SQLite database is cut: it has {}, and its header alone has 100",
                counted(bytes, "byte")
            ));
        }
        let page_size = match u16_at(&head, 16) {
            1 => 65_536,
            size if size >= 512 && size.is_power_of_two() => size,
            size => return refuse(format!("damaged SQLite database: pages of {size} bytes")),
        };
        let usable = page_size - usize::from(head[20]);
        if usable < 480 {
            return refuse(format!("damaged SQLite database: {usable} usable bytes in a page"));
        }
        if head[19] > 2 {
            return refuse(format!("an SQLite database of format {}, which is unknown", head[19]));
        }
        let encoding = match u32_at(&head, 56) {
            2 => Encoding::Utf16Le,
            3 => Encoding::Utf16Be,
            0 | 1 => Encoding::Utf8,
            other => {
                return refuse(format!(
                    "damaged SQLite database: text encoding {other} is unknown"
                ));
            }
        };
        let pages = bytes / page_size as u64;
        // The number of pages is valid if the same version of the file wrote both counters.
        let stated = u64::from(u32_at(&head, 28));
        let is_stated = stated > 0 && u32_at(&head, 24) == u32_at(&head, 92);
        if is_stated && stated > pages {
            let reason = format!(
                "this SQLite database is cut: its header states {}, the file holds {}; \
                 copy or export it again",
                counted(stated, "page"),
                counted(pages, "whole page")
            );
            return Err(IngestError::input_at(name, reason, bytes));
        }
        Ok(Self { page_size, usable, pages, encoding, bytes })
    }
}

/// Access to pages by their numbers, which begin at 1.
pub struct Pages<'a> {
    name: &'a str,
    layout: Layout,
    reader: Reader<'a>,
    /// Pages that a scan has used, one bit each.
    used: Vec<u64>,
}

impl<'a> Pages<'a> {
    /// Creates access to the pages of a database.
    pub fn new(name: &'a str, content: &'a Content, layout: Layout) -> Result<Self> {
        let used = vec![0; (layout.pages / 64 + 1) as usize];
        Ok(Self { name, layout, reader: Reader::new(content, layout.bytes)?, used })
    }

    /// The layout of the database.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Creates the error for a page that cannot be used.
    pub fn damaged(&self, page: u32, what: &str) -> IngestError {
        let at = u64::from(page.max(1) - 1) * self.layout.page_size as u64;
        let reason = format!("damaged SQLite database: page {page}: {what}; nothing was stored");
        IngestError::input_at(self.name, reason, at)
    }

    /// Returns the usable bytes of a page.
    pub fn page(&mut self, page: u32) -> Result<&[u8]> {
        if page == 0 || u64::from(page) > self.layout.pages {
            return Err(self.damaged(page, "the file has no such page"));
        }
        let (size, usable) = (self.layout.page_size, self.layout.usable);
        let bytes = self.reader.from(u64::from(page - 1) * size as u64)?;
        Ok(&bytes[..usable.min(bytes.len())])
    }

    /// Marks a page as used. Fails if it was used before: no page belongs to two places.
    pub fn take(&mut self, page: u32) -> Result<()> {
        let (word, bit) = ((page / 64) as usize, 1u64 << (page % 64));
        match self.used.get_mut(word) {
            Some(used) if *used & bit == 0 => {
                *used |= bit;
                Ok(())
            }
            Some(_) => Err(self.damaged(page, "it is used in two places")),
            None => Err(self.damaged(page, "the file has no such page")),
        }
    }

    /// Forgets which pages were used.
    pub fn start_scan(&mut self) {
        self.used.fill(0);
    }
}

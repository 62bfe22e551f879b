//! Columns of strings in plain encoding.

use parquet::basic::Encoding;
use parquet::schema::types::ColumnDescPtr;

use super::PAGE_BYTES;
use super::columns::ColumnEncoder;
use super::nulls::Nulls;
use super::pages::{Codec, Effort, Pages};
use super::table::Chunk;
use crate::error::Result;
use crate::schema::Column;

/// Bytes reserved before the values of a page for its levels, which are known only when the page
/// ends.
const LEVELS: usize = 9 << 10;

/// A column of strings that are written one after the other.
pub struct PlainStrings {
    optional: bool,
    nulls: Nulls,
    page_start: usize,
    /// Space for the levels, followed by the strings, each after its length.
    page: Vec<u8>,
    levels: Vec<u8>,
    pages: Option<Pages>,
}

impl PlainStrings {
    /// Creates an empty column.
    pub fn new(column: &Column, _: Effort) -> Self {
        Self {
            optional: !column.required,
            nulls: Nulls::default(),
            page_start: 0,
            page: vec![0; LEVELS],
            levels: Vec::new(),
            pages: None,
        }
    }

    /// Begins a string. The caller appends its bytes to the returned buffer and then calls
    /// [`PlainStrings::end`].
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.page.extend_from_slice(&[0; 4]);
        &mut self.page
    }

    /// Completes the string of a row whose bytes begin at `start` of the buffer.
    #[inline]
    pub fn end(&mut self, start: usize, row: usize, codec: &mut Codec) -> Result<()> {
        let len = (self.page.len() - start) as u32;
        self.page[start - 4..start].copy_from_slice(&len.to_le_bytes());
        if self.optional {
            self.nulls.set(row - self.page_start);
        }
        if self.page.len() >= PAGE_BYTES { self.end_page(row + 1, codec) } else { Ok(()) }
    }

    /// Discards a string that was begun.
    #[inline]
    pub fn drop_begun(&mut self, start: usize) {
        self.page.truncate(start - 4);
    }

    /// Sets the string of a row. Rows come in ascending order; rows without a string are skipped.
    pub fn set(&mut self, row: usize, text: &[u8], codec: &mut Codec) -> Result<()> {
        let out = self.begin();
        let start = out.len();
        out.extend_from_slice(text);
        self.end(start, row, codec)
    }
}

impl ColumnEncoder for PlainStrings {
    fn end_page(&mut self, row: usize, codec: &mut Codec) -> Result<()> {
        let rows = row - self.page_start;
        if rows == 0 {
            return Ok(());
        }
        let values = if self.optional { self.nulls.values() } else { rows };
        self.levels.clear();
        if self.optional {
            self.nulls.finish(rows, &mut self.levels);
        }
        let from = LEVELS - self.levels.len();
        self.page[from..LEVELS].copy_from_slice(&self.levels);
        let pages = self.pages.get_or_insert_with(|| Pages::new(2, false));
        let added =
            pages.add(codec, &self.page[from..], rows, rows - values, Encoding::PLAIN, None);
        self.page.truncate(LEVELS);
        if self.page.capacity() > 4 * PAGE_BYTES {
            self.page.shrink_to(2 * PAGE_BYTES);
        }
        self.page_start = row;
        added
    }

    fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk> {
        self.end_page(rows, codec)?;
        self.page_start = 0;
        self.pages.take().unwrap_or_else(|| Pages::new(2, false)).finish(codec, column, None, None)
    }
}

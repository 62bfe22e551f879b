//! Columns of booleans that are never NULL.

use parquet::basic::Encoding;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::columns::ColumnEncoder;
use super::pages::{Codec, Effort, Pages};
use super::table::Chunk;
use crate::error::Result;
use crate::schema::Column;

/// A column of booleans that are mostly false.
#[derive(Default)]
pub struct Flags {
    page_start: usize,
    bits: Vec<u8>,
    any: bool,
    pages: Option<Pages>,
}

impl Flags {
    /// Creates an empty column.
    pub fn new(_: &Column, _: Effort) -> Self {
        Self::default()
    }

    /// Sets a row to true; all other rows are false.
    pub fn set(&mut self, row: usize) {
        let row = row - self.page_start;
        if self.bits.len() <= row / 8 {
            self.bits.resize(row / 8 + 1, 0);
        }
        self.bits[row / 8] |= 1 << (row % 8);
        self.any = true;
    }
}

impl ColumnEncoder for Flags {
    fn end_page(&mut self, row: usize, codec: &mut Codec) -> Result<()> {
        let rows = row - self.page_start;
        if rows == 0 {
            return Ok(());
        }
        self.bits.resize(rows.div_ceil(8), 0);
        let pages = self.pages.get_or_insert_with(|| Pages::new(1, false));
        let added = pages.add(codec, &self.bits, rows, 0, Encoding::PLAIN, None);
        self.bits.clear();
        self.page_start = row;
        added
    }

    fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk> {
        self.end_page(rows, codec)?;
        // The bounds only show whether any row is true.
        let statistics = (!self.any)
            .then(|| Statistics::boolean(Some(false), Some(false), None, Some(0), false));
        (self.page_start, self.any) = (0, false);
        self.pages
            .take()
            .unwrap_or_else(|| Pages::new(1, false))
            .finish(codec, column, None, statistics)
    }
}

//! Columns of integers and doubles.

use parquet::basic::Encoding;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::bits::{hybrid, width_of};
use super::delta::Delta;
use super::dictionary::IntDictionary;
use super::nulls::Nulls;
use super::pages::{Bounds, Codec, Pages};
use super::table::Chunk;
use crate::error::Result;
use crate::schema::{Column, Kind, Layout, Table};

const SKIPPED_BY: &[&str] = &["track_id", "ts_ns", "end_ns", "event_id", "parent_id", "step", "correlation", "launch_id", "stream"];

/// How the values of a page are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Delta,
    Dictionary,
    /// Doubles one by one.
    Plain,
}

/// A column of integers, or of doubles by their bits.
pub struct Ints {
    is_float: bool,
    optional: bool,
    skip_by: bool,
    mode: Mode,
    nulls: Nulls,
    /// First row of the page.
    page_start: usize,
    delta: Delta,
    dictionary: IntDictionary,
    /// Dictionary keys of the page.
    keys: Vec<u32>,
    plain: Vec<u8>,
    bounds: Bounds,
    all_bounds: Bounds,
    all_nulls: usize,
    pages: Option<Pages>,
}

impl Ints {
    /// An empty column of a table.
    pub fn of(table: &Table, column: &Column) -> Self {
        // Readers skip pages by the bounds of these.
        let skip_by = matches!(table.name, "events" | "kernels") && SKIPPED_BY.contains(&column.name);
        Self {
            is_float: column.kind == Kind::Float,
            optional: !column.required,
            skip_by,
            mode: if column.layout == Layout::Near { Mode::Delta } else { Mode::Dictionary },
            nulls: Nulls::default(),
            page_start: 0,
            delta: Delta::default(),
            dictionary: IntDictionary::default(),
            keys: Vec::new(),
            plain: Vec::new(),
            bounds: Bounds::NONE,
            all_bounds: Bounds::NONE,
            all_nulls: 0,
            pages: None,
        }
    }

    /// The value of a row; rows come in order, those without a value are left out.
    #[inline(always)]
    pub fn set(&mut self, row: usize, value: i64) {
        if self.optional {
            self.nulls.set(row - self.page_start);
        }
        self.bounds.add(value);
        if self.mode == Mode::Delta { self.delta.push(value) } else { self.set_repeated(value) }
    }

    #[inline]
    fn set_repeated(&mut self, value: i64) {
        if self.mode == Mode::Dictionary {
            let key = self.dictionary.key(value);
            self.keys.push(key);
        } else {
            self.plain.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Ends the page before a row.
    pub fn end_page(&mut self, row: usize, codec: &mut Codec) -> Result<()> {
        let rows = row - self.page_start;
        if rows == 0 {
            return Ok(());
        }
        let mut body = std::mem::take(&mut codec.body);
        body.clear();
        let values = if self.optional { self.nulls.values() } else { rows };
        if self.optional {
            self.nulls.finish(rows, &mut body);
        }
        let encoding = match self.mode {
            _ if values == 0 => Encoding::PLAIN,
            Mode::Delta => {
                self.delta.finish(&mut body);
                Encoding::DELTA_BINARY_PACKED
            }
            Mode::Dictionary => {
                let width = width_of(self.dictionary.len() as u64 - 1);
                body.push(width as u8);
                hybrid(&self.keys, width, &mut body);
                self.keys.clear();
                Encoding::RLE_DICTIONARY
            }
            Mode::Plain => {
                body.append(&mut self.plain);
                Encoding::PLAIN
            }
        };
        let bounds = std::mem::replace(&mut self.bounds, Bounds::NONE).of_some();
        if let Some(Bounds { min, max }) = bounds {
            self.all_bounds.add(min);
            self.all_bounds.add(max);
        }
        self.all_nulls += rows - values;
        let skip_by = self.skip_by;
        let pages = self.pages.get_or_insert_with(|| Pages::new(1, skip_by));
        let added = pages.add(codec, &body, rows, rows - values, encoding, bounds);
        codec.body = body;
        self.page_start = row;
        if self.mode == Mode::Dictionary && self.dictionary.is_full() {
            self.mode = if self.is_float { Mode::Plain } else { Mode::Delta };
        }
        added
    }

    /// The chunk of all rows; the column is empty again.
    pub fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk> {
        self.end_page(rows, codec)?;
        let nulls = Some(self.all_nulls as u64);
        let statistics = match self.all_bounds.of_some() {
            // Doubles have none: bounds by their bits would be wrong.
            _ if self.is_float => Statistics::double(None, None, None, nulls, false),
            Some(Bounds { min, max }) => Statistics::int64(Some(min), Some(max), None, nulls, false),
            None => Statistics::int64(None, None, None, nulls, false),
        };
        let pages = self.pages.take().unwrap_or_else(|| Pages::new(1, self.skip_by));
        let page = self.dictionary.page();
        let dictionary = (!page.is_empty()).then_some((&page[..], self.dictionary.len()));
        let chunk = pages.finish(codec, column, dictionary, Some(statistics));
        if self.mode != Mode::Delta || self.dictionary.len() > 0 {
            self.mode = Mode::Dictionary;
        }
        self.dictionary.clear();
        (self.page_start, self.all_nulls, self.all_bounds) = (0, 0, Bounds::NONE);
        chunk
    }
}

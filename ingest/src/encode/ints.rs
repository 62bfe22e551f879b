//! Columns of integers and doubles.

use parquet::basic::Encoding;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::bits::{hybrid, width_of};
use super::columns::ColumnEncoder;
use super::delta::Delta;
use super::dictionary::IntDictionary;
use super::nulls::Nulls;
use super::pages::{Bounds, Codec, Effort, Pages, Way};
use super::table::Chunk;
use crate::error::Result;
use crate::schema::{Column, Kind, Layout};

/// The encoding of a page's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Delta,
    Dictionary,
    /// Plain encoding. It is used for doubles with many distinct values, and for columns of small
    /// traces until all values are known.
    Plain,
}

/// A column of integers, or of doubles as their bits.
pub struct Ints {
    is_float: bool,
    is_near: bool,
    optional: bool,
    has_page_bounds: bool,
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
    /// Creates an empty column.
    pub fn new(column: &Column, effort: Effort) -> Self {
        Self {
            is_float: column.kind == Kind::Float,
            optional: !column.required,
            has_page_bounds: column.has_page_bounds,
            mode: Self::first_mode(effort, column.layout == Layout::Near),
            is_near: column.layout == Layout::Near,
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

    fn first_mode(effort: Effort, is_near: bool) -> Mode {
        match effort {
            Effort::Small => Mode::Plain,
            Effort::Fast if is_near => Mode::Delta,
            Effort::Fast => Mode::Dictionary,
        }
    }

    /// Sets the value of a row. Rows come in ascending order; rows without a value are skipped.
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

    /// Appends the values of a small trace in the encoding that takes the fewest bytes, or nearly
    /// the fewest.
    fn smallest(&mut self, codec: &mut Codec, body: &mut Vec<u8>) -> Result<Encoding> {
        let plain = std::mem::take(&mut self.plain);
        let count = plain.len() / 8;
        let values =
            || plain.chunks_exact(8).filter_map(|v| v.try_into().ok()).map(i64::from_le_bytes);
        let mut best = None;
        if !self.is_float {
            values().for_each(|value| self.delta.push(value));
            let mut delta = Vec::new();
            self.delta.finish(&mut delta);
            if delta.len() < count / 4 {
                body.append(&mut delta);
                return Ok(Encoding::DELTA_BINARY_PACKED);
            }
            best = Some(Way {
                values: delta,
                dictionary: None,
                encoding: Encoding::DELTA_BINARY_PACKED,
            });
        }
        // A dictionary of many distinct values saves no space.
        let _ = values().try_for_each(|value| {
            let key = self.dictionary.key(value);
            self.keys.push(key);
            (self.dictionary.len() <= count.div_ceil(3)).then_some(())
        });
        let page = self.dictionary.page();
        if self.keys.len() == count {
            let width = width_of(self.dictionary.len() as u64 - 1);
            let mut keys = vec![width as u8];
            hybrid(&self.keys, width, &mut keys);
            let way =
                Way { values: keys, dictionary: Some(&page), encoding: Encoding::RLE_DICTIONARY };
            best = Some(match best {
                Some(best) => codec.smaller(best, way)?,
                None => way,
            });
        }
        self.keys.clear();
        let plain = Way { values: plain, dictionary: None, encoding: Encoding::PLAIN };
        let best = match best {
            Some(best) => codec.smaller(best, plain)?,
            None => plain,
        };
        if best.dictionary.is_none() {
            self.dictionary.clear();
        }
        body.extend_from_slice(&best.values);
        Ok(best.encoding)
    }
}

impl ColumnEncoder for Ints {
    fn end_page(&mut self, row: usize, codec: &mut Codec) -> Result<()> {
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
            Mode::Plain if codec.effort() == Effort::Small => self.smallest(codec, &mut body)?,
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
        let has_page_bounds = self.has_page_bounds;
        let pages = self.pages.get_or_insert_with(|| Pages::new(1, has_page_bounds));
        let added = pages.add(codec, &body, rows, rows - values, encoding, bounds);
        codec.body = body;
        self.page_start = row;
        if self.mode == Mode::Dictionary && self.dictionary.is_full() {
            self.mode = if self.is_float { Mode::Plain } else { Mode::Delta };
        }
        added
    }

    fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk> {
        self.end_page(rows, codec)?;
        let nulls = Some(self.all_nulls as u64);
        let statistics = match self.all_bounds.of_some() {
            // Doubles have no bounds, because the bounds of their bits would be wrong.
            _ if self.is_float => Statistics::double(None, None, None, nulls, false),
            Some(Bounds { min, max }) => {
                Statistics::int64(Some(min), Some(max), None, nulls, false)
            }
            None => Statistics::int64(None, None, None, nulls, false),
        };
        let pages = self.pages.take().unwrap_or_else(|| Pages::new(1, self.has_page_bounds));
        let page = self.dictionary.page();
        let dictionary = (!page.is_empty()).then_some((&page[..], self.dictionary.len()));
        let chunk = pages.finish(codec, column, dictionary, Some(statistics));
        self.mode = Self::first_mode(codec.effort(), self.is_near);
        self.dictionary.clear();
        (self.page_start, self.all_nulls, self.all_bounds) = (0, 0, Bounds::NONE);
        chunk
    }
}

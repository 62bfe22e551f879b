//! Columns of strings with few distinct values.

use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::PAGE_BYTES;
use super::bits::{hybrid, run, width_of};
use super::columns::ColumnEncoder;
use super::dictionary::TextDictionary;
use super::nulls::Nulls;
use super::pages::{Codec, Effort, Pages, Way};
use super::table::Chunk;
use crate::error::Result;
use crate::schema::Column;

/// A column of strings that stores each distinct string once, until there are too many of them.
pub struct DictionaryStrings {
    optional: bool,
    nulls: Nulls,
    page_start: usize,
    dictionary: TextDictionary,
    keys: Vec<u32>,
    /// The key of each interned text, by the id of the text: 0 for none, otherwise the key plus 1.
    by_id: Vec<u32>,
    /// The ids of interned texts that have a key.
    ids: Vec<u32>,
    last_key: u32,
    /// Whether strings are written in plain encoding because the dictionary has grown too large.
    is_plain: bool,
    plain: Vec<u8>,
    /// Lowest and highest of the strings that are not in the dictionary.
    plain_bounds: Option<(Vec<u8>, Vec<u8>)>,
    all_nulls: usize,
    /// Whether a page refers to the dictionary.
    needs_dictionary: bool,
    pages: Option<Pages>,
}

impl DictionaryStrings {
    /// Creates an empty column.
    pub fn new(column: &Column, _: Effort) -> Self {
        Self {
            optional: !column.required,
            nulls: Nulls::default(),
            page_start: 0,
            dictionary: TextDictionary::default(),
            keys: Vec::new(),
            by_id: Vec::new(),
            ids: Vec::new(),
            last_key: 0,
            is_plain: false,
            plain: Vec::new(),
            plain_bounds: None,
            all_nulls: 0,
            needs_dictionary: false,
            pages: None,
        }
    }

    /// Sets the string of a row. Rows come in ascending order; rows without a string are skipped.
    #[inline]
    pub fn set(&mut self, row: usize, text: &[u8], codec: &mut Codec) -> Result<()> {
        if self.is_plain {
            return self.set_plain(row, text, codec);
        }
        // The string often repeats from row to row.
        if self.dictionary.len() == 0 || self.dictionary.text(self.last_key) != text {
            self.last_key = self.dictionary.key(text);
        }
        self.set_key(row, self.last_key);
        if self.dictionary.is_full() { self.give_up_dictionary(row, codec) } else { Ok(()) }
    }

    /// Sets the string of a row, given an id that always represents the same string.
    #[inline]
    pub fn set_id(&mut self, row: usize, id: u32, text: &[u8], codec: &mut Codec) -> Result<()> {
        if self.is_plain {
            return self.set_plain(row, text, codec);
        }
        let key = match self.by_id.get(id as usize) {
            Some(&key) if key != 0 => key - 1,
            _ => self.new_id(id, text),
        };
        self.set_key(row, key);
        if self.dictionary.is_full() { self.give_up_dictionary(row, codec) } else { Ok(()) }
    }

    #[cold]
    fn new_id(&mut self, id: u32, text: &[u8]) -> u32 {
        let key = self.dictionary.key(text);
        if self.by_id.len() <= id as usize {
            self.by_id.resize((id as usize + 1).next_power_of_two(), 0);
        }
        self.by_id[id as usize] = key + 1;
        self.ids.push(id);
        key
    }

    #[inline(always)]
    fn set_key(&mut self, row: usize, key: u32) {
        if self.optional {
            self.nulls.set(row - self.page_start);
        }
        self.keys.push(key);
    }

    #[cold]
    fn give_up_dictionary(&mut self, row: usize, codec: &mut Codec) -> Result<()> {
        self.end_page(row + 1, codec)?;
        self.is_plain = true;
        Ok(())
    }

    fn set_plain(&mut self, row: usize, text: &[u8], codec: &mut Codec) -> Result<()> {
        if self.optional {
            self.nulls.set(row - self.page_start);
        }
        self.plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.plain.extend_from_slice(text);
        match &mut self.plain_bounds {
            Some((min, _)) if text < &min[..] => text.clone_into(min),
            Some((_, max)) if text > &max[..] => text.clone_into(max),
            Some(_) => {}
            None => self.plain_bounds = Some((text.to_vec(), text.to_vec())),
        }
        if self.plain.len() >= PAGE_BYTES { self.end_page(row + 1, codec) } else { Ok(()) }
    }

    /// Sets the same string for all rows of an empty column.
    pub fn set_all(&mut self, rows: usize, text: &[u8], codec: &mut Codec) -> Result<()> {
        let key = self.dictionary.key(text);
        let mut body = Vec::new();
        if self.optional {
            (0..rows).for_each(|row| self.nulls.set(row));
            self.nulls.finish(rows, &mut body);
        }
        body.push(0);
        run(key, rows, 0, &mut body);
        (self.page_start, self.needs_dictionary) = (rows, true);
        let pages = self.pages.get_or_insert_with(|| Pages::new(1, false));
        pages.add(codec, &body, rows, 0, Encoding::RLE_DICTIONARY, None)
    }

    /// Returns the page's values in plain encoding, or `None` if they take too many bytes for this
    /// to pay off.
    fn written_out(&self) -> Option<Way<'static>> {
        let bytes: usize = self.keys.iter().map(|&key| self.dictionary.text(key).len() + 4).sum();
        if bytes > PAGE_BYTES {
            return None;
        }
        let mut values = Vec::with_capacity(bytes);
        for &key in &self.keys {
            let text = self.dictionary.text(key);
            values.extend_from_slice(&(text.len() as u32).to_le_bytes());
            values.extend_from_slice(text);
        }
        Some(Way { values, dictionary: None, encoding: Encoding::PLAIN })
    }
}

impl ColumnEncoder for DictionaryStrings {
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
        let encoding = if self.is_plain || values == 0 {
            body.append(&mut self.plain);
            Encoding::PLAIN
        } else {
            let width = width_of(self.dictionary.len() as u64 - 1);
            let mut values = vec![width as u8];
            hybrid(&self.keys, width, &mut values);
            let best = Way {
                values,
                dictionary: Some(self.dictionary.page()),
                encoding: Encoding::RLE_DICTIONARY,
            };
            // The only page of a small trace may take fewer bytes without a dictionary.
            let plain = if codec.effort() == Effort::Small && self.pages.is_none() {
                self.written_out()
            } else {
                None
            };
            let best = match plain {
                Some(plain) => codec.smaller(best, plain)?,
                None => best,
            };
            self.keys.clear();
            body.extend_from_slice(&best.values);
            self.needs_dictionary |= best.dictionary.is_some();
            best.encoding
        };
        self.all_nulls += rows - values;
        let pages = self.pages.get_or_insert_with(|| Pages::new(1, false));
        let added = pages.add(codec, &body, rows, rows - values, encoding, None);
        codec.body = body;
        self.page_start = row;
        added
    }

    fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk> {
        self.end_page(rows, codec)?;
        let bounds = match (self.dictionary.bounds(), &self.plain_bounds) {
            (Some((min, max)), Some((low, high))) => Some((min.min(&low[..]), max.max(&high[..]))),
            (bounds, None) => bounds,
            (None, Some((low, high))) => Some((&low[..], &high[..])),
        };
        let statistics = text_statistics(bounds, self.all_nulls as u64);
        let pages = self.pages.take().unwrap_or_else(|| Pages::new(1, false));
        let dictionary = std::mem::take(&mut self.needs_dictionary)
            .then(|| (self.dictionary.page(), self.dictionary.len()));
        let chunk = pages.finish(codec, column, dictionary, Some(statistics));
        self.dictionary.clear();
        for id in self.ids.drain(..) {
            self.by_id[id as usize] = 0;
        }
        (self.last_key, self.is_plain, self.plain_bounds) = (0, false, None);
        (self.page_start, self.all_nulls) = (0, 0);
        chunk
    }
}

/// Maximum length of a string in the statistics, in bytes.
const SHORT: usize = 64;

fn text_statistics(bounds: Option<(&[u8], &[u8])>, nulls: u64) -> Statistics {
    let (min, max) = (bounds.map(|b| b.0), bounds.map(|b| b.1));
    let short_min = min.map(|t| prefix(t).to_vec());
    let short_max =
        max.and_then(|t| if t.len() <= SHORT { Some(t.to_vec()) } else { above(prefix(t)) });
    let is_exact = |text: Option<&[u8]>| text.is_some_and(|t| t.len() <= SHORT);
    let array = |text: Option<Vec<u8>>| text.map(ByteArray::from);
    let statistics =
        ValueStatistics::new(array(short_min), array(short_max), None, Some(nulls), false);
    Statistics::ByteArray(
        statistics.with_min_is_exact(is_exact(min)).with_max_is_exact(is_exact(max)),
    )
}

/// Returns the first bytes of a string, cut at a character boundary.
fn prefix(text: &[u8]) -> &[u8] {
    let mut end = text.len().min(SHORT);
    while end < text.len() && end > 0 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &text[..end]
}

/// Returns a short string that is greater than all strings that begin with `prefix`.
fn above(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|b| b.is_ascii() && *b < 0x7e)?;
    let mut text = prefix[..=last].to_vec();
    text[last] += 1;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_long_texts_hold() {
        for text in [
            "a".repeat(100),
            "~".repeat(70),
            format!("{}é{}", "x".repeat(63), "y".repeat(9)),
            format!("b{}", "é".repeat(40)),
        ] {
            let text = text.as_bytes();
            assert!(prefix(text) <= text && std::str::from_utf8(prefix(text)).is_ok());
            if let Some(above) = above(prefix(text)) {
                assert!(&above[..] > text && std::str::from_utf8(&above).is_ok());
            }
        }
        assert_eq!(above("~".repeat(64).as_bytes()), None);
    }
}

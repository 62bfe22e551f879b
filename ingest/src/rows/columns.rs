//! Columns in the making.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::schema::{Kind, Table};
use crate::trace::NO_TIME;

/// Which rows have a value; costs next to nothing while all or none do.
#[derive(Default)]
struct Valid {
    valid: usize,
    null: usize,
    bits: Option<BooleanBufferBuilder>,
}

impl Valid {
    #[inline(always)]
    fn push(&mut self, valid: bool) {
        match &mut self.bits {
            Some(bits) => bits.append(valid),
            None if valid && self.null == 0 => self.valid += 1,
            None if !valid && self.valid == 0 => self.null += 1,
            None => self.mix(valid),
        }
    }

    #[cold]
    fn mix(&mut self, valid: bool) {
        let mut bits = BooleanBufferBuilder::new(4096);
        bits.append_n(self.valid, true);
        bits.append_n(self.null, false);
        bits.append(valid);
        self.bits = Some(bits);
    }

    /// Whether all rows so far are NULL.
    #[inline(always)]
    fn none(&self) -> bool {
        self.bits.is_none() && self.valid == 0
    }

    fn finish(&mut self) -> Option<NullBuffer> {
        let Valid { null, bits, .. } = std::mem::take(self);
        match bits {
            Some(mut bits) => Some(NullBuffer::new(bits.finish())),
            None if null > 0 => Some(NullBuffer::new_null(null)),
            None => None,
        }
    }
}

/// 64-bit integers.
#[derive(Default)]
pub struct Ints {
    values: Vec<i64>,
    valid: Valid,
    size: usize,
}

impl Ints {
    #[inline(always)]
    pub fn push(&mut self, value: i64) {
        self.push_option(Some(value));
    }

    #[inline(always)]
    pub fn push_option(&mut self, value: Option<i64>) {
        match value {
            Some(value) => {
                if self.valid.none() {
                    self.start();
                }
                self.values.push(value);
            }
            None if self.valid.none() => {}
            None => self.values.push(0),
        }
        self.valid.push(value.is_some());
    }

    /// Makes the values of the rows so far, which are NULL.
    #[cold]
    fn start(&mut self) {
        self.values.reserve(self.size.max(64));
        self.values.resize(self.valid.null, 0);
    }

    /// Appends a time, or NULL for [`NO_TIME`].
    #[inline(always)]
    pub fn push_time(&mut self, value: i64) {
        self.push_option((value != NO_TIME).then_some(value));
    }

    pub fn finish(&mut self) -> ArrayRef {
        if self.valid.none() {
            let rows = std::mem::take(&mut self.valid).null;
            return Arc::new(Int64Array::new_null(rows));
        }
        self.size = self.values.len();
        Arc::new(Int64Array::new(ScalarBuffer::from(std::mem::take(&mut self.values)), self.valid.finish()))
    }
}

/// Doubles.
#[derive(Default)]
struct Floats {
    values: Vec<f64>,
    valid: Valid,
}

impl Floats {
    fn push(&mut self, value: Option<f64>) {
        self.values.push(value.unwrap_or(0.0));
        self.valid.push(value.is_some());
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(Float64Array::new(ScalarBuffer::from(std::mem::take(&mut self.values)), self.valid.finish()))
    }
}

/// UTF-8 texts.
pub struct Texts {
    data: Vec<u8>,
    offsets: Vec<i32>,
    valid: Valid,
}

impl Default for Texts {
    fn default() -> Self {
        Self { data: Vec::new(), offsets: vec![0], valid: Valid::default() }
    }
}

impl Texts {
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        self.data.extend_from_slice(text);
        self.end(true);
    }

    #[inline]
    pub fn push_null(&mut self) {
        self.end(false);
    }

    pub fn push_option(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.push(text.as_bytes()),
            None => self.push_null(),
        }
    }

    /// The bytes of the value in the making; [`Texts::end`] completes it.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Completes a value written to [`Texts::buffer`].
    #[inline]
    pub fn end(&mut self, valid: bool) {
        self.offsets.push(self.data.len() as i32);
        self.valid.push(valid);
    }

    /// Size of all values in bytes.
    pub fn bytes(&self) -> usize {
        self.data.len()
    }

    pub fn finish(&mut self) -> Result<ArrayRef> {
        let mut next = Vec::with_capacity(self.offsets.len());
        next.push(0);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, next)));
        let next = Vec::with_capacity(self.data.len());
        let data = Buffer::from_vec(std::mem::replace(&mut self.data, next));
        Ok(Arc::new(StringArray::try_new(offsets, data, self.valid.finish())?))
    }
}

/// Texts of which few are distinct, kept once each.
///
/// A look-up by the value of the row before saves most of the others.
#[derive(Default)]
pub struct Labels {
    keys: Vec<i32>,
    valid: Valid,
    texts: Texts,
    last: Option<(u32, i32)>,
    by_id: FxHashMap<u32, i32>,
    by_text: FxHashMap<Box<[u8]>, i32>,
    distinct: i32,
}

impl Labels {
    fn add(&mut self, text: &[u8]) -> i32 {
        self.texts.push(text);
        self.distinct += 1;
        self.distinct - 1
    }

    #[inline(always)]
    fn key(&mut self, key: i32) {
        if self.valid.none() {
            self.keys.resize(self.valid.null, 0);
        }
        self.keys.push(key);
        self.valid.push(true);
    }

    /// Appends a text that always has the same number.
    #[inline]
    pub fn push_id(&mut self, id: u32, text: impl FnOnce() -> Arc<str>) {
        let key = match self.last {
            Some((last, key)) if last == id => key,
            _ => match self.by_id.get(&id) {
                Some(&key) => key,
                None => {
                    let key = self.add(text().as_bytes());
                    self.by_id.insert(id, key);
                    key
                }
            },
        };
        self.last = Some((id, key));
        self.key(key);
    }

    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        let key = match self.by_text.get(text) {
            Some(&key) => key,
            None => {
                let key = self.add(text);
                if text.len() < 4096 {
                    self.by_text.insert(text.into(), key);
                }
                key
            }
        };
        self.key(key);
    }

    #[inline]
    pub fn push_null(&mut self) {
        if !self.valid.none() {
            self.keys.push(0);
        }
        self.valid.push(false);
    }

    pub fn finish(&mut self) -> Result<ArrayRef> {
        if self.valid.none() {
            let rows = std::mem::take(&mut self.valid).null;
            return Ok(Arc::new(StringArray::new_null(rows)));
        }
        let nulls = self.valid.finish();
        let keys = Int32Array::new(ScalarBuffer::from(std::mem::take(&mut self.keys)), nulls);
        let values = self.texts.finish()?;
        self.last = None;
        self.by_id.clear();
        self.by_text.clear();
        self.distinct = 0;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values)?))
    }
}

/// Booleans without NULL.
pub struct Flags {
    bits: BooleanBufferBuilder,
}

impl Default for Flags {
    fn default() -> Self {
        Self { bits: BooleanBufferBuilder::new(1024) }
    }
}

impl Flags {
    #[inline]
    pub fn push(&mut self, value: bool) {
        self.bits.append(value);
    }

    pub fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.bits.finish(), None))
    }
}

enum Any {
    Int(Ints),
    Float(Floats),
    Text(Texts),
    Bool(Flags),
}

/// The rows of any table, one value after the other in the order of its columns.
pub struct TableRows {
    table: &'static Table,
    columns: Vec<Any>,
    at: usize,
    rows: usize,
    parts: Vec<RecordBatch>,
}

/// Rows after which [`TableRows::part`] puts a batch aside.
const PART_ROWS: usize = 8192;

impl TableRows {
    /// No rows yet.
    pub fn new(table: &'static Table) -> Self {
        let columns = table.columns.iter().map(|c| match c.kind {
            Kind::Int => Any::Int(Ints::default()),
            Kind::Float => Any::Float(Floats::default()),
            Kind::Text => Any::Text(Texts::default()),
            Kind::Bool => Any::Bool(Flags::default()),
        });
        Self { table, columns: columns.collect(), at: 0, rows: 0, parts: Vec::new() }
    }

    fn next(&mut self) -> &mut Any {
        let at = self.at;
        self.at += 1;
        if self.at == self.columns.len() {
            self.at = 0;
            self.rows += 1;
        }
        &mut self.columns[at]
    }

    /// The next value of the row, an integer.
    pub fn int(&mut self, value: impl Into<Option<i64>>) -> &mut Self {
        let value = value.into();
        match self.next() {
            Any::Int(column) => column.push_option(value),
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self
    }

    /// The next value of the row, a double.
    pub fn float(&mut self, value: Option<f64>) -> &mut Self {
        match self.next() {
            Any::Float(column) => column.push(value),
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self
    }

    /// The next value of the row, a text.
    pub fn text<'a>(&mut self, value: impl Into<Option<&'a str>>) -> &mut Self {
        let value = value.into();
        match self.next() {
            Any::Text(column) => column.push_option(value),
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self
    }

    /// The next value of the row, a boolean.
    pub fn flag(&mut self, value: bool) -> &mut Self {
        match self.next() {
            Any::Bool(column) => column.push(value),
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self
    }

    /// How many whole rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Puts rows aside as a batch when there are many.
    pub fn part(&mut self) -> Result<()> {
        if self.rows >= PART_ROWS {
            let batch = self.finish()?;
            self.parts.push(batch);
        }
        Ok(())
    }

    /// All rows as batches.
    pub fn finish_all(&mut self) -> Result<Vec<RecordBatch>> {
        let mut parts = std::mem::take(&mut self.parts);
        if self.rows > 0 {
            parts.push(self.finish()?);
        }
        Ok(parts)
    }

    /// The rows as a batch; the builder is empty again.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns: Result<Vec<ArrayRef>> = self
            .columns
            .iter_mut()
            .map(|c| {
                Ok(match c {
                    Any::Int(c) => c.finish(),
                    Any::Float(c) => c.finish(),
                    Any::Text(c) => c.finish()?,
                    Any::Bool(c) => c.finish(),
                })
            })
            .collect();
        Ok(RecordBatch::try_new(self.table.schema(), columns?)?)
    }
}

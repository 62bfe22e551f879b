//! Columns in the making.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::schema::{Kind, Table};
use crate::trace::NO_TIME;

/// Which rows have a value; costs nothing while all or none do.
struct Valid {
    bits: BooleanBufferBuilder,
}

impl Valid {
    fn new() -> Self {
        Self { bits: BooleanBufferBuilder::new(1024) }
    }

    #[inline]
    fn push(&mut self, valid: bool) {
        self.bits.append(valid);
    }

    fn finish(&mut self) -> Option<NullBuffer> {
        let nulls = NullBuffer::new(self.bits.finish());
        (nulls.null_count() > 0).then_some(nulls)
    }
}

/// 64-bit integers.
pub struct Ints {
    values: Vec<i64>,
    valid: Valid,
}

impl Default for Ints {
    fn default() -> Self {
        Self { values: Vec::new(), valid: Valid::new() }
    }
}

impl Ints {
    #[inline]
    pub fn push(&mut self, value: i64) {
        self.values.push(value);
        self.valid.push(true);
    }

    #[inline]
    pub fn push_option(&mut self, value: Option<i64>) {
        self.values.push(value.unwrap_or(0));
        self.valid.push(value.is_some());
    }

    /// Appends a time, or NULL for [`NO_TIME`].
    #[inline]
    pub fn push_time(&mut self, value: i64) {
        self.push_option((value != NO_TIME).then_some(value));
    }

    pub fn finish(&mut self) -> ArrayRef {
        Arc::new(Int64Array::new(ScalarBuffer::from(std::mem::take(&mut self.values)), self.valid.finish()))
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
        Self { data: Vec::new(), offsets: vec![0], valid: Valid::new() }
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
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let data = Buffer::from_vec(std::mem::take(&mut self.data));
        Ok(Arc::new(StringArray::try_new(offsets, data, self.valid.finish())?))
    }
}

/// Texts of which few are distinct, kept once each.
#[derive(Default)]
pub struct Labels {
    keys: Vec<i32>,
    valid: Option<Valid>,
    texts: Texts,
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

    fn key(&mut self, key: i32, valid: bool) {
        self.keys.push(key);
        self.valid.get_or_insert_with(Valid::new).push(valid);
    }

    /// Appends a text that always has the same number.
    #[inline]
    pub fn push_id(&mut self, id: u32, text: impl FnOnce() -> Arc<str>) {
        let key = match self.by_id.get(&id) {
            Some(&key) => key,
            None => {
                let key = self.add(text().as_bytes());
                self.by_id.insert(id, key);
                key
            }
        };
        self.key(key, true);
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
        self.key(key, true);
    }

    #[inline]
    pub fn push_null(&mut self) {
        self.key(0, false);
    }

    pub fn finish(&mut self) -> Result<ArrayRef> {
        if self.distinct == 0 {
            self.add(b"");
        }
        let nulls = self.valid.take().and_then(|mut v| v.finish());
        let keys = Int32Array::new(ScalarBuffer::from(std::mem::take(&mut self.keys)), nulls);
        let values = self.texts.finish()?;
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
    Float(Vec<Option<f64>>),
    Text(Texts),
    Bool(Flags),
}

/// The rows of any table, one value after the other in the order of its columns.
pub struct TableRows {
    table: &'static Table,
    columns: Vec<Any>,
    at: usize,
    rows: usize,
}

impl TableRows {
    /// No rows yet.
    pub fn new(table: &'static Table) -> Self {
        let columns = table.columns.iter().map(|c| match c.kind {
            Kind::Int => Any::Int(Ints::default()),
            Kind::Float => Any::Float(Vec::new()),
            Kind::Text => Any::Text(Texts::default()),
            Kind::Bool => Any::Bool(Flags::default()),
        });
        Self { table, columns: columns.collect(), at: 0, rows: 0 }
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

    /// The rows as a batch; the builder is empty again.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns: Result<Vec<ArrayRef>> = self
            .columns
            .iter_mut()
            .map(|c| {
                Ok(match c {
                    Any::Int(c) => c.finish(),
                    Any::Float(c) => Arc::new(Float64Array::from(std::mem::take(c))) as ArrayRef,
                    Any::Text(c) => c.finish()?,
                    Any::Bool(c) => c.finish(),
                })
            })
            .collect();
        Ok(RecordBatch::try_new(self.table.schema(), columns?)?)
    }
}

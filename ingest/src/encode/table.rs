//! Rows of any table to row groups.

use std::collections::HashMap;
use std::sync::LazyLock;

use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::column::writer::ColumnCloseResult;
use parquet::schema::types::SchemaDescPtr;

use super::{Codec, Effort, Flags, GROUP_ROWS, Ints, Labels, Texts};
use crate::error::{IngestError, Result};
use crate::schema::{Kind, Layout, TABLES, Table};

/// The pages of one column of a row group.
pub struct Chunk {
    /// The pages, dictionary first.
    pub bytes: Bytes,
    /// What the footer says about them.
    pub close: ColumnCloseResult,
}

/// A row group of a table, encoded.
pub struct EncodedGroup {
    /// Number of rows.
    pub rows: usize,
    /// Columns in the order of the table.
    pub chunks: Vec<Chunk>,
}

/// The Parquet schema of a table.
pub fn descriptors(table: &Table) -> Result<SchemaDescPtr> {
    static ALL: LazyLock<HashMap<&'static str, SchemaDescPtr>> = LazyLock::new(|| {
        let made = TABLES.iter().filter_map(|t| {
            Some((t.name, ArrowSchemaConverter::new().convert(&t.schema()).ok()?.into()))
        });
        made.collect()
    });
    ALL.get(table.name)
        .cloned()
        .ok_or_else(|| IngestError::input(table.name, "this table has no Parquet schema"))
}

enum Any {
    Int(Ints),
    Float(Ints),
    Label(Labels),
    Text(Texts),
    Bool(Flags),
}

/// The rows of any table, one value after the other in the order of its columns.
pub struct TableRows {
    table: &'static Table,
    codec: Codec,
    columns: Vec<Any>,
    at: usize,
    row: usize,
    groups: Vec<EncodedGroup>,
    rows: usize,
    failure: Result<()>,
}

#[expect(
    clippy::unreachable,
    reason = "the values of a row are written in this crate, in the order of its table's columns, whatever the input is"
)]
impl TableRows {
    /// No rows yet.
    pub fn new(table: &'static Table, effort: Effort) -> Self {
        let columns = table.columns.iter().map(|c| match (c.kind, c.layout) {
            (Kind::Int, _) => Any::Int(Ints::of(table, c, effort)),
            (Kind::Float, _) => Any::Float(Ints::of(table, c, effort)),
            (Kind::Text, Layout::Plain) => Any::Text(Texts::new(c)),
            (Kind::Text, _) => Any::Label(Labels::new(c)),
            (Kind::Bool, _) => Any::Bool(Flags::default()),
        });
        Self {
            table,
            codec: Codec::new(effort),
            columns: columns.collect(),
            at: 0,
            row: 0,
            groups: Vec::new(),
            rows: 0,
            failure: Ok(()),
        }
    }

    /// Column and row of the next value.
    #[inline]
    fn next(&mut self) -> (usize, usize) {
        let (at, row) = (self.at, self.row);
        self.at += 1;
        if self.at == self.columns.len() {
            self.at = 0;
            self.row += 1;
        }
        (at, row)
    }

    /// The next value of the row, an integer.
    #[inline]
    pub fn int(&mut self, value: impl Into<Option<i64>>) -> &mut Self {
        let (at, row) = self.next();
        match (&mut self.columns[at], value.into()) {
            (Any::Int(column), Some(value)) => column.set(row, value),
            (Any::Int(_), None) => {}
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self.after_value()
    }

    /// The next value of the row, a double.
    #[inline]
    pub fn float(&mut self, value: Option<f64>) -> &mut Self {
        let (at, row) = self.next();
        match (&mut self.columns[at], value) {
            (Any::Float(column), Some(value)) => column.set(row, value.to_bits() as i64),
            (Any::Float(_), None) => {}
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self.after_value()
    }

    /// The next value of the row, a text.
    #[inline]
    pub fn text<'a>(&mut self, value: impl Into<Option<&'a str>>) -> &mut Self {
        let (at, row) = self.next();
        let done = match (&mut self.columns[at], value.into()) {
            (Any::Label(column), Some(text)) => column.set(row, text.as_bytes(), &mut self.codec),
            (Any::Text(column), Some(text)) => column.set(row, text.as_bytes(), &mut self.codec),
            (Any::Label(_) | Any::Text(_), None) => Ok(()),
            _ => unreachable!("the values of a row follow its table's columns"),
        };
        self.note(done);
        self.after_value()
    }

    /// The next value of the row, a text that has a number.
    #[inline]
    pub fn text_by_id(&mut self, id: u32, text: &str) -> &mut Self {
        let (at, row) = self.next();
        let done = match &mut self.columns[at] {
            Any::Label(column) => column.set_id(row, id, text.as_bytes(), &mut self.codec),
            _ => unreachable!("the values of a row follow its table's columns"),
        };
        self.note(done);
        self.after_value()
    }

    /// The next value of the row, a boolean.
    pub fn flag(&mut self, value: bool) -> &mut Self {
        let (at, row) = self.next();
        match &mut self.columns[at] {
            Any::Bool(column) if value => column.set(row),
            Any::Bool(_) => {}
            _ => unreachable!("the values of a row follow its table's columns"),
        }
        self.after_value()
    }

    /// The next values of the row are NULL.
    #[inline]
    pub fn nulls(&mut self, count: usize) -> &mut Self {
        for _ in 0..count {
            self.next();
        }
        self.after_value()
    }

    /// Failures are kept until the rows are asked for.
    #[inline]
    fn note(&mut self, done: Result<()>) {
        if done.is_err() && self.failure.is_ok() {
            self.failure = done;
        }
    }

    #[inline]
    fn after_value(&mut self) -> &mut Self {
        if self.at == 0 && self.row.is_multiple_of(self.codec.page_rows()) {
            let done = if self.row == GROUP_ROWS { self.end_group() } else { self.end_page() };
            self.note(done);
        }
        self
    }

    #[cold]
    fn end_page(&mut self) -> Result<()> {
        let (row, codec) = (self.row, &mut self.codec);
        self.columns.iter_mut().try_for_each(|column| match column {
            Any::Int(c) | Any::Float(c) => c.end_page(row, codec),
            Any::Label(c) => c.end_page(row, codec),
            Any::Text(c) => c.end_page(row, codec),
            Any::Bool(c) => c.end_page(row, codec),
        })
    }

    fn end_group(&mut self) -> Result<()> {
        let (rows, codec, descriptors) = (self.row, &mut self.codec, descriptors(self.table)?);
        let chunks =
            self.columns.iter_mut().zip(descriptors.columns()).map(|(column, descriptor)| {
                match column {
                    Any::Int(c) | Any::Float(c) => c.finish(rows, codec, descriptor),
                    Any::Label(c) => c.finish(rows, codec, descriptor),
                    Any::Text(c) => c.finish(rows, codec, descriptor),
                    Any::Bool(c) => c.finish(rows, codec, descriptor),
                }
            });
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        self.groups.push(EncodedGroup { rows, chunks });
        self.rows += rows;
        self.row = 0;
        Ok(())
    }

    /// The row groups that are complete.
    pub fn take_groups(&mut self) -> Vec<EncodedGroup> {
        std::mem::take(&mut self.groups)
    }

    /// All rows as row groups; there are none afterwards.
    pub fn finish(&mut self) -> Result<Vec<EncodedGroup>> {
        std::mem::replace(&mut self.failure, Ok(()))?;
        if self.row > 0 {
            self.end_group()?;
        }
        self.rows = 0;
        Ok(self.take_groups())
    }
}

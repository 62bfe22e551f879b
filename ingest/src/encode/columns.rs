//! Encoders for the columns of a table, and the row groups that they produce.

use super::table::{Chunk, EncodedGroup, descriptors};
use super::{Codec, Effort, GROUP_ROWS};
use crate::error::Result;
use crate::schema::{Column, Kind, Layout, Table};
use parquet::schema::types::ColumnDescPtr;

/// The encoder that suits a column's type and layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoder {
    /// [`super::Ints`]: integers, and doubles as their bits.
    Ints,
    /// [`super::DictionaryStrings`]: strings with few distinct values.
    DictionaryStrings,
    /// [`super::PlainStrings`]: other strings.
    PlainStrings,
    /// [`super::Flags`]: booleans.
    Flags,
}

impl Encoder {
    /// Chooses the encoder of a column.
    pub const fn of(column: &Column) -> Self {
        match (column.kind, column.layout) {
            (Kind::Int | Kind::Float, _) => Self::Ints,
            (Kind::Text, Layout::Plain) => Self::PlainStrings,
            (Kind::Text, _) => Self::DictionaryStrings,
            (Kind::Bool, _) => Self::Flags,
        }
    }
}

/// Encodes the values of one column, page by page.
pub trait ColumnEncoder {
    /// Ends the page before a row.
    fn end_page(&mut self, row: usize, codec: &mut Codec) -> Result<()>;

    /// Returns the chunk of all rows and empties the column.
    fn finish(&mut self, rows: usize, codec: &mut Codec, column: &ColumnDescPtr) -> Result<Chunk>;
}

/// The encoders of all columns of a table.
pub trait Columns {
    /// The table.
    fn table(&self) -> &'static Table;

    /// Returns the encoders in the order of the table's columns.
    fn each(&mut self) -> Vec<&mut dyn ColumnEncoder>;

    /// Encodes all rows as a row group and empties the columns.
    fn end_group(&mut self, rows: usize, codec: &mut Codec) -> Result<EncodedGroup> {
        let descriptors = descriptors(self.table())?;
        let chunks = self
            .each()
            .into_iter()
            .zip(descriptors.columns())
            .map(|(column, descriptor)| column.finish(rows, codec, descriptor));
        Ok(EncodedGroup { rows, chunks: chunks.collect::<Result<_>>()? })
    }
}

/// Declares the columns of a table as a struct with one encoder per column. The compiler checks
/// that the fields have the names, the order and the encoders of the table's columns.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident of $table:path { $($field:ident: $encoder:ident,)* }) => {
        $(#[$doc])*
        pub struct $name {
            $(pub $field: $crate::encode::$encoder,)*
        }

        impl $name {
            const TABLE: &'static $crate::schema::Table = &$table;

            /// Creates empty columns.
            pub fn new(effort: $crate::encode::Effort) -> Self {
                $(
                    let at = const { Self::TABLE.position(stringify!($field)) };
                    let $field = $crate::encode::$encoder::new(&Self::TABLE.columns[at], effort);
                )*
                Self { $($field,)* }
            }
        }

        impl $crate::encode::Columns for $name {
            fn table(&self) -> &'static $crate::schema::Table {
                Self::TABLE
            }

            fn each(&mut self) -> Vec<&mut dyn $crate::encode::ColumnEncoder> {
                vec![$(&mut self.$field),*]
            }
        }

        const _: () = $crate::encode::check_columns(
            &$table,
            &[$((stringify!($field), $crate::encode::Encoder::$encoder),)*],
        );
    };
}
pub(crate) use columns;

/// Fails the build unless the fields of a struct match the table's columns.
pub const fn check_columns(table: &Table, fields: &[(&str, Encoder)]) {
    assert!(fields.len() == table.columns.len(), "the struct has not one field for each column");
    let mut at = 0;
    while at < fields.len() {
        let (name, encoder) = fields[at];
        assert!(table.position(name) == at, "the fields are not in the order of the columns");
        assert!(
            encoder as u8 == Encoder::of(&table.columns[at]) as u8,
            "a field's encoder does not suit its column"
        );
        at += 1;
    }
}

/// Collects rows of a table and encodes them as row groups.
pub struct RowGroups<C> {
    columns: C,
    codec: Codec,
    row: usize,
    done: Vec<EncodedGroup>,
}

impl<C: Columns> RowGroups<C> {
    /// Creates an empty table.
    pub fn new(columns: C, effort: Effort) -> Self {
        Self { columns, codec: Codec::new(effort), row: 0, done: Vec::new() }
    }

    /// Appends a row. `set` passes the values to the columns; columns without a value are NULL.
    #[inline]
    pub fn push(
        &mut self,
        set: impl FnOnce(&mut C, usize, &mut Codec) -> Result<()>,
    ) -> Result<()> {
        set(&mut self.columns, self.row, &mut self.codec)?;
        self.row += 1;
        if !self.row.is_multiple_of(self.codec.page_rows()) {
            Ok(())
        } else if self.row == GROUP_ROWS {
            self.end_group()
        } else {
            self.end_page()
        }
    }

    #[cold]
    fn end_page(&mut self) -> Result<()> {
        let (row, codec) = (self.row, &mut self.codec);
        self.columns.each().into_iter().try_for_each(|column| column.end_page(row, codec))
    }

    fn end_group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.row);
        self.done.push(self.columns.end_group(rows, &mut self.codec)?);
        Ok(())
    }

    /// Removes and returns the complete row groups.
    pub fn take_groups(&mut self) -> Vec<EncodedGroup> {
        std::mem::take(&mut self.done)
    }

    /// Returns all rows as row groups and empties the table.
    pub fn finish(&mut self) -> Result<Vec<EncodedGroup>> {
        if self.row > 0 {
            self.end_group()?;
        }
        Ok(self.take_groups())
    }
}

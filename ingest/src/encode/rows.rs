//! Rows as structs with one field per column.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::columns::{ColumnEncoder, Columns, Encoder, RowGroups};
use super::table::EncodedGroup;
use super::{Codec, DictionaryStrings, Effort, Flags, Ints, PlainStrings};
use crate::error::Result;
use crate::schema::{Kind, Table};

/// A column of any type.
pub enum AnyColumn {
    /// A column of integers or doubles.
    Ints(Box<Ints>),
    /// A column of strings with few distinct values.
    DictionaryStrings(DictionaryStrings),
    /// A column of other strings.
    PlainStrings(PlainStrings),
    /// A column of booleans.
    Flags(Flags),
}

/// The columns of any table.
pub struct AnyColumns {
    table: &'static Table,
    columns: Vec<AnyColumn>,
}

impl AnyColumns {
    /// Creates empty columns.
    pub fn new(table: &'static Table, effort: Effort) -> Self {
        let columns = table.columns.iter().map(|c| match Encoder::of(c) {
            Encoder::Ints => AnyColumn::Ints(Box::new(Ints::new(c, effort))),
            Encoder::DictionaryStrings => {
                AnyColumn::DictionaryStrings(DictionaryStrings::new(c, effort))
            }
            Encoder::PlainStrings => AnyColumn::PlainStrings(PlainStrings::new(c, effort)),
            Encoder::Flags => AnyColumn::Flags(Flags::new(c, effort)),
        });
        Self { table, columns: columns.collect() }
    }

    /// Returns a writer for the values of one row.
    pub fn row<'c>(&'c mut self, row: usize, codec: &'c mut Codec) -> RowWriter<'c> {
        RowWriter { columns: self.columns.iter_mut(), row, codec }
    }
}

impl Columns for AnyColumns {
    fn table(&self) -> &'static Table {
        self.table
    }

    fn each(&mut self) -> Vec<&mut dyn ColumnEncoder> {
        let columns = self.columns.iter_mut().map(|column| -> &mut dyn ColumnEncoder {
            match column {
                AnyColumn::Ints(c) => c.as_mut(),
                AnyColumn::DictionaryStrings(c) => c,
                AnyColumn::PlainStrings(c) => c,
                AnyColumn::Flags(c) => c,
            }
        });
        columns.collect()
    }
}

/// Writes the values of one row, column by column.
pub struct RowWriter<'c> {
    columns: std::slice::IterMut<'c, AnyColumn>,
    row: usize,
    codec: &'c mut Codec,
}

impl RowWriter<'_> {
    /// Sets the value of the next column.
    #[inline]
    pub fn put(&mut self, value: &impl Value) -> Result<()> {
        match self.columns.next() {
            Some(column) => value.put(column, self.row, self.codec),
            None => Ok(()),
        }
    }

    /// Leaves the next column NULL.
    #[cfg(test)]
    pub fn skip(&mut self) {
        self.columns.next();
    }
}

/// A value of a row. [`Value::put`] is called only for columns of type `KIND`, which [`check_row`]
/// verifies.
pub trait Value {
    /// The type of the value's column.
    const KIND: Kind;
    /// Whether the value may be NULL.
    const IS_OPTIONAL: bool = false;

    /// Appends the value to its column.
    fn put(&self, column: &mut AnyColumn, row: usize, codec: &mut Codec) -> Result<()>;
}

impl Value for i64 {
    const KIND: Kind = Kind::Int;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, _: &mut Codec) -> Result<()> {
        if let AnyColumn::Ints(column) = column {
            column.set(row, *self);
        }
        Ok(())
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Float;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, _: &mut Codec) -> Result<()> {
        if let AnyColumn::Ints(column) = column {
            column.set(row, self.to_bits() as i64);
        }
        Ok(())
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Bool;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, _: &mut Codec) -> Result<()> {
        if let (AnyColumn::Flags(column), true) = (column, *self) {
            column.set(row);
        }
        Ok(())
    }
}

impl Value for &str {
    const KIND: Kind = Kind::Text;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, codec: &mut Codec) -> Result<()> {
        match column {
            AnyColumn::DictionaryStrings(column) => column.set(row, self.as_bytes(), codec),
            AnyColumn::PlainStrings(column) => column.set(row, self.as_bytes(), codec),
            _ => Ok(()),
        }
    }
}

impl Value for Cow<'_, str> {
    const KIND: Kind = Kind::Text;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, codec: &mut Codec) -> Result<()> {
        (&**self).put(column, row, codec)
    }
}

/// A string of the trace, with its id if it has one. The same id always represents the same string.
pub enum Interned<'a> {
    /// An interned string with its id.
    Numbered(u32, &'a str),
    /// A string that is not interned.
    Inline(String),
}

impl Value for Interned<'_> {
    const KIND: Kind = Kind::Text;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, codec: &mut Codec) -> Result<()> {
        match (self, column) {
            (Self::Numbered(id, text), AnyColumn::DictionaryStrings(column)) => {
                column.set_id(row, *id, text.as_bytes(), codec)
            }
            (Self::Numbered(_, text), column) => text.put(column, row, codec),
            (Self::Inline(text), column) => text.as_str().put(column, row, codec),
        }
    }
}

impl<V: Value> Value for Option<V> {
    const KIND: Kind = V::KIND;
    const IS_OPTIONAL: bool = true;

    #[inline]
    fn put(&self, column: &mut AnyColumn, row: usize, codec: &mut Codec) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.put(column, row, codec))
    }
}

/// A field of a row: its name, its type, and whether it may be NULL.
pub struct Field {
    name: &'static str,
    kind: Kind,
    is_optional: bool,
}

impl Field {
    /// Declares a field that holds values of a type.
    pub const fn of<V: Value>(name: &'static str) -> Self {
        Self { name, kind: V::KIND, is_optional: V::IS_OPTIONAL }
    }
}

/// A row of a table; [`row!`] declares one.
pub trait Row {
    /// The same row type without a lifetime. It identifies the table in [`TableRows`].
    type Of: Row;
    /// The table.
    const TABLE: &'static Table;

    /// Writes the value of each column.
    fn put(&self, out: &mut RowWriter<'_>) -> Result<()>;
}

/// Declares the rows of a table as a struct with one field per column. The compiler checks that the
/// fields have the names, the order and the types of the table's columns, and that a column that is
/// never NULL gets a value.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident of $table:path { $($field:ident: $value:ty,)* }) => {
        $(#[$doc])*
        pub struct $name<'a> {
            $(pub $field: $value,)*
        }

        impl<'a> $crate::encode::Row for $name<'a> {
            type Of = $name<'static>;
            const TABLE: &'static $crate::schema::Table = {
                $crate::encode::check_row(
                    &$table,
                    &[$($crate::encode::Field::of::<$value>(stringify!($field)),)*],
                );
                &$table
            };

            fn put(
                &self,
                out: &mut $crate::encode::RowWriter<'_>,
            ) -> $crate::error::Result<()> {
                $(out.put(&self.$field)?;)*
                Ok(())
            }
        }

        const _: &$crate::schema::Table = <$name<'static> as $crate::encode::Row>::TABLE;
    };
}
pub(crate) use row;

/// Fails the build unless the fields of a row match the table's columns.
pub const fn check_row(table: &Table, fields: &[Field]) {
    assert!(fields.len() == table.columns.len(), "the row has not one field for each column");
    let mut at = 0;
    while at < fields.len() {
        let (field, column) = (&fields[at], &table.columns[at]);
        assert!(table.position(field.name) == at, "the fields are not in the order of the columns");
        assert!(field.kind as u8 == column.kind as u8, "a field is not of its column's type");
        assert!(
            !(field.is_optional && column.required),
            "a field may be NULL and its column may not"
        );
        at += 1;
    }
}

/// Encodes rows of one table. `T` is the row type with any lifetime.
pub struct TableRows<T> {
    groups: RowGroups<AnyColumns>,
    failure: Result<()>,
    rows: PhantomData<fn() -> T>,
}

impl<T: Row> TableRows<T> {
    /// Creates an empty table.
    pub fn new(effort: Effort) -> Self {
        let columns = AnyColumns::new(T::TABLE, effort);
        Self { groups: RowGroups::new(columns, effort), failure: Ok(()), rows: PhantomData }
    }

    /// Appends a row. An error is kept and returned by [`TableRows::finish`].
    #[inline]
    pub fn push(&mut self, row: impl Row<Of = T>) {
        if self.failure.is_ok() {
            self.failure =
                self.groups.push(|columns, at, codec| row.put(&mut columns.row(at, codec)));
        }
    }

    /// Removes and returns the complete row groups.
    pub fn take_groups(&mut self) -> Vec<EncodedGroup> {
        self.groups.take_groups()
    }

    /// Returns all rows as row groups and empties the table.
    pub fn finish(&mut self) -> Result<Vec<EncodedGroup>> {
        std::mem::replace(&mut self.failure, Ok(()))?;
        self.groups.finish()
    }
}

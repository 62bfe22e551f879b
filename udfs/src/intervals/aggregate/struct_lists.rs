//! Builds result columns: lists of structs whose fields are integers, or lists of labels.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListArray, ListBuilder, StringBuilder, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::Result;

use crate::intervals::algorithm::Fault;

/// Returns the type `LIST<STRUCT<name type, …>>`.
pub fn list_of(fields: Vec<(&'static str, DataType)>) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(struct_fields(fields)), true)))
}

fn struct_fields(fields: Vec<(&'static str, DataType)>) -> Fields {
    fields.into_iter().map(|(name, data_type)| Field::new(name, data_type, true)).collect()
}

/// Lists of structs that are filled element by element and closed group by group.
pub struct Lists<const N: usize> {
    names: [&'static str; N],
    columns: [Vec<i64>; N],
    labels: Option<(&'static str, ListBuilder<StringBuilder>)>,
    ends: Vec<i32>,
}

impl<const N: usize> Lists<N> {
    /// Creates lists of structs with these integer fields.
    pub fn new(names: [&'static str; N]) -> Self {
        Self { names, columns: std::array::from_fn(|_| Vec::new()), labels: None, ends: vec![0] }
    }

    /// Creates lists like [`Lists::new`], with a list of strings as the first field.
    pub fn labelled(label: &'static str, names: [&'static str; N]) -> Self {
        Self { labels: Some((label, ListBuilder::new(StringBuilder::new()))), ..Self::new(names) }
    }

    /// Adds an element to the current list.
    pub fn push(&mut self, values: [i64; N]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// Adds an element with strings to the current list.
    pub fn push_labelled<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
        values: [i64; N],
    ) {
        if let Some((_, builder)) = &mut self.labels {
            for text in texts {
                builder.values().append_value(text);
            }
            builder.append(true);
        }
        self.push(values);
    }

    /// Ends the list of a group.
    pub fn close(&mut self) -> Result<(), Fault> {
        let len = self.columns.first().map_or(0, Vec::len);
        self.ends.push(i32::try_from(len).map_err(|_| Fault::TooMany)?);
        Ok(())
    }

    /// Returns the lists as a column.
    pub fn finish(self) -> Result<ArrayRef> {
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        if let Some((name, mut builder)) = self.labels {
            let texts = builder.finish();
            fields.push((name, arrow::array::Array::data_type(&texts).clone()));
            columns.push(Arc::new(texts));
        }
        for (name, values) in self.names.into_iter().zip(self.columns) {
            fields.push((name, DataType::Int64));
            columns.push(Arc::new(Int64Array::from(values)));
        }
        let structs = StructArray::try_new(struct_fields(fields), columns, None)?;
        let item =
            Arc::new(Field::new_list_field(arrow::array::Array::data_type(&structs).clone(), true));
        Ok(Arc::new(ListArray::try_new(
            item,
            OffsetBuffer::new(self.ends.into()),
            Arc::new(structs),
            None,
        )?))
    }
}

//! CSV, TSV and JSON, written by Arrow's writers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow::csv::{Writer as CsvWriter, WriterBuilder};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::WriterBuilder as JsonBuilder;
use arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, Writer as JsonWriter};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::{Out, Sink, from_writer};
use crate::error::Result;

struct Separated {
    name: String,
    writer: CsvWriter<Out>,
}

/// Values between separators, quoted where needed. The header line is written even if there are no
/// rows.
pub fn separated(out: Out, separator: u8, schema: SchemaRef) -> Result<impl Sink> {
    let name = out.name.clone();
    let mut sink = Separated {
        name,
        writer: WriterBuilder::new().with_header(true).with_delimiter(separator).build(out),
    };
    sink.batch(&RecordBatch::new_empty(schema))?;
    Ok(sink)
}

impl Sink for Separated {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = flat(batch).map_err(|e| from_writer(&self.name, e))?;
        self.writer.write(&batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(self: Box<Self>, _has_more: bool) -> Result<()> {
        self.writer.into_inner().flush()
    }
}

/// Converts lists and objects to text, because CSV and TSV have no other representation for them.
fn flat(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let options = FormatOptions::new();
    let column =
        |(field, array): (&FieldRef, &ArrayRef)| -> Result<(FieldRef, ArrayRef), ArrowError> {
            if !field.data_type().is_nested() {
                return Ok((field.clone(), array.clone()));
            }
            let formatter = ArrayFormatter::try_new(array.as_ref(), &options)?;
            let texts: StringArray = (0..array.len())
                .map(|i| array.is_valid(i).then(|| formatter.value(i).to_string()))
                .collect();
            Ok((Arc::new(Field::new(field.name(), DataType::Utf8, true)), Arc::new(texts)))
        };
    let (fields, columns): (Vec<_>, Vec<_>) = batch
        .schema()
        .fields()
        .iter()
        .zip(batch.columns())
        .map(column)
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

struct Json<F: JsonFormat> {
    name: String,
    writer: JsonWriter<Out, F>,
    /// The text after the last value.
    tail: &'static str,
}

/// One list of objects, which include NULLs.
pub fn json_list(out: Out) -> impl Sink {
    let name = out.name.clone();
    let writer = JsonBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(out);
    Json { name, writer, tail: "\n" }
}

/// One object per line, including NULLs.
pub fn json_lines(out: Out) -> impl Sink {
    let name = out.name.clone();
    let writer = JsonBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(out);
    Json { name, writer, tail: "" }
}

impl<F: JsonFormat + Send> Sink for Json<F> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(mut self: Box<Self>, _has_more: bool) -> Result<()> {
        self.writer.finish().map_err(|e| from_writer(&self.name, e))?;
        let mut out = self.writer.into_inner();
        out.put(self.tail)?;
        out.flush()
    }
}

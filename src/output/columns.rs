//! CSV, TSV and JSON, by Arrow's writers.

use arrow::array::RecordBatch;
use arrow::csv::{Writer as CsvWriter, WriterBuilder};
use arrow::datatypes::SchemaRef;
use arrow::json::WriterBuilder as JsonBuilder;
use arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, Writer as JsonWriter};

use super::{Out, Sink, from_writer};
use crate::error::Result;

struct Separated {
    name: String,
    writer: CsvWriter<Out>,
}

/// Values between separators, quoted where needed, with a header line, also when there are no rows.
pub fn separated(out: Out, separator: u8, schema: SchemaRef) -> Result<impl Sink> {
    let name = out.name.clone();
    let mut sink = Separated { name, writer: WriterBuilder::new().with_header(true).with_delimiter(separator).build(out) };
    sink.batch(&RecordBatch::new_empty(schema))?;
    Ok(sink)
}

impl Sink for Separated {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(self: Box<Self>) -> Result<()> {
        self.writer.into_inner().flush()
    }
}

struct Json<F: JsonFormat> {
    name: String,
    writer: JsonWriter<Out, F>,
}

/// One list of objects; NULLs are written.
pub fn json_list(out: Out) -> impl Sink {
    let name = out.name.clone();
    Json { name, writer: JsonBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(out) }
}

/// One object a line; NULLs are written.
pub fn json_lines(out: Out) -> impl Sink {
    let name = out.name.clone();
    Json { name, writer: JsonBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(out) }
}

impl<F: JsonFormat> Sink for Json<F> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        self.writer.finish().map_err(|e| from_writer(&self.name, e))?;
        let mut out = self.writer.into_inner();
        if std::any::type_name::<F>().contains("JsonArray") {
            out.put("\n")?;
        }
        out.flush()
    }
}

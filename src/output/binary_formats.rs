//! Parquet and Arrow IPC.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Out, Sink, from_writer};
use crate::error::Result;

/// A Parquet file, compressed with Zstandard.
pub struct Parquet {
    name: String,
    writer: ArrowWriter<Out>,
}

impl Parquet {
    pub fn new(out: Out, schema: SchemaRef) -> Result<Self> {
        let name = out.name.clone();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(out, schema, Some(properties))
            .map_err(|e| from_writer(&name, e))?;
        Ok(Self { name, writer })
    }
}

impl Sink for Parquet {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(self: Box<Self>, _has_more: bool) -> Result<()> {
        let mut out = self.writer.into_inner().map_err(|e| from_writer(&self.name, e))?;
        out.flush()
    }
}

/// An Arrow IPC stream.
pub struct Arrow {
    name: String,
    writer: StreamWriter<Out>,
}

impl Arrow {
    pub fn new(out: Out, schema: SchemaRef) -> Result<Self> {
        let name = out.name.clone();
        let writer = StreamWriter::try_new(out, &schema).map_err(|e| from_writer(&name, e))?;
        Ok(Self { name, writer })
    }
}

impl Sink for Arrow {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| from_writer(&self.name, e))
    }

    fn end(self: Box<Self>, _has_more: bool) -> Result<()> {
        let mut out = self.writer.into_inner().map_err(|e| from_writer(&self.name, e))?;
        out.flush()
    }
}

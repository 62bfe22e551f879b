//! Writing results: one file per family of formats.

mod columns;
mod files;
mod text;

pub use text::safe;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::error::{Error, Result};

/// A format for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Columns in a box, for people.
    Table,
    /// Comma-separated, with a header.
    Csv,
    /// Tab-separated, with a header.
    Tsv,
    /// One JSON list of objects.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// A Markdown table.
    Markdown,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC stream.
    Arrow,
    /// One value a line, for wide rows.
    Vertical,
}

impl Format {
    /// The format that a file's name asks for.
    pub fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "md" => Self::Markdown,
            "parquet" => Self::Parquet,
            "arrow" | "arrows" | "ipc" => Self::Arrow,
            "txt" => Self::Table,
            _ => return None,
        })
    }
}

/// Takes the batches of one result.
trait Sink {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()>;
    fn end(self: Box<Self>) -> Result<()>;
}

/// Where results go.
#[derive(Debug, Clone)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, which appears when it is complete.
    File(PathBuf),
}

impl Target {
    fn name(&self) -> String {
        match self {
            Self::Stdout => "standard output".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    fn open(&self) -> Result<Box<dyn Write + Send>> {
        Ok(match self {
            Self::Stdout => Box::new(BufWriter::new(std::io::stdout())),
            Self::File(path) => Box::new(BufWriter::new(File::create(partial(path)).map_err(|e| Error::Output(self.name(), e))?)),
        })
    }

    fn complete(&self) -> Result<()> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(path) => std::fs::rename(partial(path), path).map_err(|e| Error::Output(self.name(), e)),
        }
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Writes a result; returns the number of its rows.
pub async fn write(mut result: SendableRecordBatchStream, format: Format, target: &Target) -> Result<usize> {
    if result.schema().fields().is_empty() {
        // A statement such as CREATE VIEW: it is run by reading its result, which holds nothing to write.
        while let Some(batch) = result.next().await {
            batch?;
        }
        return Ok(0);
    }
    let written = write_all(result, format, target).await.and_then(|rows| target.complete().map(|()| rows));
    if let (Err(_), Target::File(path)) = (&written, target) {
        let _ = std::fs::remove_file(partial(path));
    }
    written
}

/// Writes a whole document.
pub fn write_document(bytes: &[u8], target: &Target) -> Result<()> {
    let put = || -> Result<()> {
        let mut out = Out { out: target.open()?, name: target.name() };
        out.out.write_all(bytes).map_err(|e| Error::Output(out.name.clone(), e))?;
        out.flush()
    };
    let written = put().and_then(|()| target.complete());
    if let (Err(_), Target::File(path)) = (&written, target) {
        let _ = std::fs::remove_file(partial(path));
    }
    written
}

async fn write_all(mut result: SendableRecordBatchStream, format: Format, target: &Target) -> Result<usize> {
    let mut sink = sink(format, target, result.schema())?;
    let mut rows = 0;
    while let Some(batch) = result.next().await {
        let batch = batch?;
        rows += batch.num_rows();
        sink.batch(&batch)?;
    }
    sink.end()?;
    Ok(rows)
}

fn sink(format: Format, target: &Target, schema: SchemaRef) -> Result<Box<dyn Sink>> {
    let out = Out { out: target.open()?, name: target.name() };
    Ok(match format {
        Format::Table => Box::new(text::Table::new(out, schema)),
        Format::Markdown => Box::new(text::Markdown::new(out, schema)?),
        Format::Vertical => Box::new(text::Vertical::new(out, schema)),
        Format::Csv => Box::new(columns::separated(out, b',', schema)?),
        Format::Tsv => Box::new(columns::separated(out, b'\t', schema)?),
        Format::Json => Box::new(columns::json_list(out)),
        Format::Ndjson => Box::new(columns::json_lines(out)),
        Format::Parquet => Box::new(files::Parquet::new(out, schema)?),
        Format::Arrow => Box::new(files::Arrow::new(out, schema)?),
    })
}

/// A writer that knows its name for errors.
struct Out {
    out: Box<dyn Write + Send>,
    name: String,
}

impl Out {
    fn put(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|e| Error::Output(self.name.clone(), e))
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|e| Error::Output(self.name.clone(), e))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// An error of an Arrow or Parquet writer: the cause on the way to the disk if there is one.
fn from_writer(name: &str, e: impl std::error::Error + 'static) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&e);
    while let Some(c) = cause {
        if let Some(io) = c.downcast_ref::<std::io::Error>() {
            return Error::Output(name.to_owned(), std::io::Error::new(io.kind(), io.to_string()));
        }
        cause = c.source();
    }
    let kind = if e.to_string().contains("Broken pipe") { std::io::ErrorKind::BrokenPipe } else { std::io::ErrorKind::Other };
    Error::Output(name.to_owned(), std::io::Error::new(kind, e.to_string()))
}

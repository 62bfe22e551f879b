//! Writes results. There is one file per family of formats.

mod binary_formats;
mod column_widths;
pub(crate) mod escape;
mod tables;
mod text_formats;
pub mod units;
mod wrap;

pub use column_widths::{clip, width};
pub use tables::safe;
pub use units::{change, figure};
pub use wrap::{lines, wrap};

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::error::{Error, Result};

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Columns in a box, for people.
    Table,
    /// Comma-separated, with a header.
    Csv,
    /// Tab-separated, with a header.
    Tsv,
    /// One JSON list of objects.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// A Markdown table.
    Markdown,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC stream.
    Arrow,
    /// One value per line, for wide rows.
    Vertical,
}

impl Format {
    /// All formats, in the order in which help lists them.
    pub const ALL: [Self; 9] = [
        Self::Table,
        Self::Csv,
        Self::Tsv,
        Self::Json,
        Self::Ndjson,
        Self::Markdown,
        Self::Parquet,
        Self::Arrow,
        Self::Vertical,
    ];

    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Markdown => "markdown",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Vertical => "vertical",
        }
    }

    /// The format that matches the extension of a file name.
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

/// The layout of a table on a terminal. The default is the layout in a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableStyle {
    /// The width that tables have to fit into, in columns.
    pub width: Option<usize>,
    /// The number of rows to show. The query stops after them.
    pub max_rows: Option<usize>,
    /// Whether the shell shows the table. A line below it then gives the number of rows, and how to
    /// see more.
    pub in_shell: bool,
}

/// How much of a result was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The number of rows that were written.
    pub rows: usize,
    /// Whether the result had more rows.
    pub has_more: bool,
}

/// A consumer of the batches of one result.
trait Sink: Send {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Finishes the output. `has_more` is true if the result had more rows than were written.
    fn end(self: Box<Self>, has_more: bool) -> Result<()>;
}

/// The destination of results.
#[derive(Debug, Clone)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, which appears only when it is complete.
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
            Self::File(path) if is_special(path) => Box::new(BufWriter::new(
                File::options()
                    .write(true)
                    .open(path)
                    .map_err(|e| Error::Output(self.name(), e))?,
            )),
            Self::File(path) => Box::new(BufWriter::new(
                File::create(partial(path)).map_err(|e| Error::Output(self.name(), e))?,
            )),
        })
    }

    fn complete(&self) -> Result<()> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(path) if is_special(path) => Ok(()),
            Self::File(path) => std::fs::rename(partial(path), followed(path))
                .map_err(|e| Error::Output(self.name(), e)),
        }
    }
}

/// Whether a path is a device or pipe, which is written directly. Replacing /dev/null by a file
/// would break other programs.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// The file that a link points to. Writing to it keeps the link.
fn followed(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn partial(path: &Path) -> PathBuf {
    let mut name = followed(path).into_os_string();
    name.push(".partial");
    PathBuf::from(name)
}

/// Writes a result; returns the number of rows.
pub async fn write(
    result: SendableRecordBatchStream,
    format: Format,
    target: &Target,
) -> Result<usize> {
    if result.schema().fields().is_empty() {
        return run(result).await;
    }
    let partial = Partial(target);
    let out = Out { out: target.open()?, name: target.name() };
    let shown = write_all(result, format, out, TableStyle::default()).await?;
    target.complete()?;
    drop(partial);
    Ok(shown.rows)
}

/// A document that is written piece by piece. A file appears only when it is complete.
pub struct Document<'a> {
    partial: Partial<'a>,
    out: Out,
}

impl<'a> Document<'a> {
    /// Starts a document.
    pub fn begin(target: &'a Target) -> Result<Self> {
        let partial = Partial(target);
        Ok(Self { out: Out { out: target.open()?, name: target.name() }, partial })
    }

    /// Inserts a compressor between the document and its file.
    pub fn map(self, wrap: impl FnOnce(Box<dyn Write + Send>) -> Box<dyn Write + Send>) -> Self {
        Self { out: Out { out: wrap(self.out.out), name: self.out.name }, partial: self.partial }
    }

    /// The name of the destination, for messages.
    pub fn name(&self) -> &str {
        &self.out.name
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.out.write_all(bytes).map_err(|e| Error::Output(self.out.name.clone(), e))
    }

    /// Finishes the document.
    pub fn complete(mut self) -> Result<()> {
        self.out.flush()?;
        drop(self.out);
        self.partial.0.complete()
    }
}

/// Writes a whole document.
pub fn write_document(bytes: &[u8], target: &Target) -> Result<()> {
    let partial = Partial(target);
    let mut out = Out { out: target.open()?, name: target.name() };
    out.out.write_all(bytes).map_err(|e| Error::Output(out.name.clone(), e))?;
    out.flush()?;
    target.complete()?;
    drop(partial);
    Ok(())
}

/// Writes a result to a terminal.
pub async fn show(
    result: SendableRecordBatchStream,
    format: Format,
    out: Box<dyn Write + Send>,
    style: TableStyle,
) -> Result<Shown> {
    if result.schema().fields().is_empty() {
        return Ok(Shown { rows: run(result).await?, has_more: false });
    }
    write_all(result, format, Out { out, name: Target::Stdout.name() }, style).await
}

/// Formats rows as a table for people.
pub fn table(schema: SchemaRef, rows: &[RecordBatch], style: TableStyle) -> Result<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sink = sink(
        Format::Table,
        Out { out: Box::new(Pieces(sender)), name: "a text".to_owned() },
        schema,
        style,
    )?;
    rows.iter().try_for_each(|batch| sink.batch(batch))?;
    sink.end(false)?;
    Ok(String::from_utf8_lossy(&receiver.iter().flatten().collect::<Vec<u8>>()).into_owned())
}

/// A writer that sends its bytes through a channel.
struct Pieces(std::sync::mpsc::Sender<Vec<u8>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a statement such as CREATE VIEW by reading its result, which has no columns to write.
async fn run(mut result: SendableRecordBatchStream) -> Result<usize> {
    while let Some(batch) = result.next().await {
        batch?;
    }
    Ok(0)
}

async fn write_all(
    mut result: SendableRecordBatchStream,
    format: Format,
    out: Out,
    style: TableStyle,
) -> Result<Shown> {
    let mut sink = sink(format, out, result.schema(), style)?;
    let max_rows = style.max_rows.unwrap_or(usize::MAX);
    let mut shown = Shown { rows: 0, has_more: false };
    while let Some(batch) = result.next().await {
        let batch = batch?;
        let wanted = batch.num_rows().min(max_rows - shown.rows);
        shown.has_more = wanted < batch.num_rows();
        shown.rows += wanted;
        if wanted > 0 {
            sink.batch(&batch.slice(0, wanted))?;
        }
        if shown.has_more {
            break;
        }
    }
    sink.end(shown.has_more)?;
    Ok(shown)
}

fn sink(format: Format, out: Out, schema: SchemaRef, style: TableStyle) -> Result<Box<dyn Sink>> {
    Ok(match format {
        Format::Table if tables::is_plan(&schema) => Box::new(tables::Plan::new(out)),
        Format::Table => Box::new(tables::Table::new(out, schema, style)),
        Format::Markdown => Box::new(tables::Markdown::new(out, schema)?),
        Format::Vertical => Box::new(tables::Vertical::new(out, schema, style)),
        Format::Csv => Box::new(text_formats::separated(out, b',', schema)?),
        Format::Tsv => Box::new(text_formats::separated(out, b'\t', schema)?),
        Format::Json => Box::new(text_formats::json_list(out)),
        Format::Ndjson => Box::new(text_formats::json_lines(out)),
        Format::Parquet => Box::new(binary_formats::Parquet::new(out, schema)?),
        Format::Arrow => Box::new(binary_formats::Arrow::new(out, schema)?),
    })
}

/// Removes an unfinished file when it is dropped, including when the query is cancelled.
struct Partial<'a>(&'a Target);

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if let Target::File(path) = self.0 {
            let _ = std::fs::remove_file(partial(path));
        }
    }
}

/// A writer that knows the name of its destination, for errors.
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

/// The error for a failed Arrow or Parquet writer. It is the underlying I/O error if there is one.
fn from_writer(name: &str, e: impl std::error::Error + 'static) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&e);
    while let Some(c) = cause {
        if let Some(io) = c.downcast_ref::<std::io::Error>() {
            return Error::Output(name.to_owned(), std::io::Error::new(io.kind(), io.to_string()));
        }
        cause = c.source();
    }
    let kind = if e.to_string().contains("Broken pipe") {
        std::io::ErrorKind::BrokenPipe
    } else {
        std::io::ErrorKind::Other
    };
    Error::Output(name.to_owned(), std::io::Error::new(kind, e.to_string()))
}

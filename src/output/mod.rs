//! Writing results: one file per family of formats.

mod columns;
mod figures;
mod files;
mod fit;
pub(crate) mod markdown;
mod paragraph;
mod text;

pub use figures::{change, figure};
pub use fit::{clip, width};
pub use paragraph::wrap;
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

/// How a result looks on a terminal; by default as anywhere else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Width in columns that tables have to fit into.
    pub width: Option<usize>,
    /// Rows to show; the query stops after them.
    pub max_rows: Option<usize>,
    /// Whether the shell shows it: the number of rows stands below, and how to see more.
    pub in_shell: bool,
}

/// What was shown of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Rows that were written.
    pub rows: usize,
    /// Whether there were more.
    pub has_more: bool,
}

/// Takes the batches of one result.
trait Sink: Send {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Ends; `has_more` says that the result had more rows than were taken.
    fn end(self: Box<Self>, has_more: bool) -> Result<()>;
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

/// Devices and pipes are written as they are: a file in the place of /dev/null would harm all
/// others.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Where a link leads, so that the link stays.
fn followed(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn partial(path: &Path) -> PathBuf {
    let mut name = followed(path).into_os_string();
    name.push(".partial");
    PathBuf::from(name)
}

/// Writes a result; returns the number of its rows.
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
    let shown = write_all(result, format, out, Look::default()).await?;
    target.complete()?;
    drop(partial);
    Ok(shown.rows)
}

/// A document that is written piece by piece; a file appears when it is complete.
pub struct Document<'a> {
    partial: Partial<'a>,
    out: Out,
}

impl<'a> Document<'a> {
    /// Begins a document.
    pub fn begin(target: &'a Target) -> Result<Self> {
        let partial = Partial(target);
        Ok(Self { out: Out { out: target.open()?, name: target.name() }, partial })
    }

    /// Puts a packing between the document and its file.
    pub fn map(self, wrap: impl FnOnce(Box<dyn Write + Send>) -> Box<dyn Write + Send>) -> Self {
        Self { out: Out { out: wrap(self.out.out), name: self.out.name }, partial: self.partial }
    }

    /// Where it goes, for messages.
    pub fn name(&self) -> &str {
        &self.out.name
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.out.write_all(bytes).map_err(|e| Error::Output(self.out.name.clone(), e))
    }

    /// Ends the document.
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

/// Writes a result for somebody who looks at it.
pub async fn show(
    result: SendableRecordBatchStream,
    format: Format,
    out: Box<dyn Write + Send>,
    look: Look,
) -> Result<Shown> {
    if result.schema().fields().is_empty() {
        return Ok(Shown { rows: run(result).await?, has_more: false });
    }
    write_all(result, format, Out { out, name: Target::Stdout.name() }, look).await
}

/// Rows as a table for people.
pub fn table(schema: SchemaRef, rows: &[RecordBatch], look: Look) -> Result<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut sink = sink(
        Format::Table,
        Out { out: Box::new(Pieces(sender)), name: "a text".to_owned() },
        schema,
        look,
    )?;
    rows.iter().try_for_each(|batch| sink.batch(batch))?;
    sink.end(false)?;
    Ok(String::from_utf8_lossy(&receiver.iter().flatten().collect::<Vec<u8>>()).into_owned())
}

/// Hands on what is written.
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

/// Runs a statement such as CREATE VIEW: it is run by reading its result, which holds nothing to
/// write.
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
    look: Look,
) -> Result<Shown> {
    let mut sink = sink(format, out, result.schema(), look)?;
    let most = look.max_rows.unwrap_or(usize::MAX);
    let mut shown = Shown { rows: 0, has_more: false };
    while let Some(batch) = result.next().await {
        let batch = batch?;
        let wanted = batch.num_rows().min(most - shown.rows);
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

fn sink(format: Format, out: Out, schema: SchemaRef, look: Look) -> Result<Box<dyn Sink>> {
    Ok(match format {
        Format::Table if text::is_plan(&schema) => Box::new(text::Plan::new(out)),
        Format::Table => Box::new(text::Table::new(out, schema, look)),
        Format::Markdown => Box::new(text::Markdown::new(out, schema)?),
        Format::Vertical => Box::new(text::Vertical::new(out, schema, look)),
        Format::Csv => Box::new(columns::separated(out, b',', schema)?),
        Format::Tsv => Box::new(columns::separated(out, b'\t', schema)?),
        Format::Json => Box::new(columns::json_list(out)),
        Format::Ndjson => Box::new(columns::json_lines(out)),
        Format::Parquet => Box::new(files::Parquet::new(out, schema)?),
        Format::Arrow => Box::new(files::Arrow::new(out, schema)?),
    })
}

/// Removes what was written so far of a file, unless it was completed: also when the query is
/// cancelled.
struct Partial<'a>(&'a Target);

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if let Target::File(path) = self.0 {
            let _ = std::fs::remove_file(partial(path));
        }
    }
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
    let kind = if e.to_string().contains("Broken pipe") {
        std::io::ErrorKind::BrokenPipe
    } else {
        std::io::ErrorKind::Other
    };
    Error::Output(name.to_owned(), std::io::Error::new(kind, e.to_string()))
}

//! Converts one trace from its text to the files of its tables.

mod devices;
mod events;
mod mllm_perf;
mod modules;
mod small_tables;

use std::path::Path;
use std::time::Instant;

use crate::arrange::{Order, Sorter};
use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::source::Content;
use crate::trace::{Document, EventRecord, Form, Progress, Reading, Texts, Tracks, read_document};

/// Options for reading a trace.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Number of threads.
    pub threads: usize,
    /// Memory limit in bytes for data that grows with the trace. Beyond it, temporary files are
    /// used.
    pub memory_limit: usize,
    /// Whether to refuse an input that has issues worse than an info.
    pub strict: bool,
}

/// Properties of a trace that do not come from its content.
pub struct Origin<'a> {
    /// The input's name in messages and in `traces.path`.
    pub name: &'a str,
    /// The trace's name in the store.
    pub trace_id: String,
    /// Hash of the input's bytes.
    pub content_hash: String,
    /// Size of the input on disk.
    pub input_bytes: u64,
}

/// The result of writing a trace.
pub struct Built {
    /// Number of rows of each table, in the order of the reference.
    pub rows: Vec<(&'static str, u64)>,
    /// Number of elements in the event list.
    pub elements: u64,
    /// Length of the text in bytes.
    pub text_bytes: u64,
    /// Issues that were found.
    pub issues: Issues,
    /// Seconds that each phase took.
    pub phases: Vec<(&'static str, f64)>,
}

/// A document that was read and whose tables are not written yet.
pub struct Read<'a> {
    content: &'a Content,
    name: String,
    document: Document,
    texts: Texts,
    tracks: Tracks,
    records: Sorter,
    pairs: Sorter,
    options: BuildOptions,
    scratch: &'a Path,
    progress: &'a Progress,
    phases: Vec<(&'static str, f64)>,
}

/// Reads a document. `scratch` is a folder for temporary files.
pub fn read<'a>(
    name: &str,
    content: &'a Content,
    scratch: &'a Path,
    options: &BuildOptions,
    progress: &'a Progress,
) -> Result<Read<'a>> {
    let start = Instant::now();
    let sorter = |order: Order, budget| Sorter::new(order, scratch, budget, options.threads);
    let (mut records, mut pairs) = (
        sorter(EventRecord::row_order, options.memory_limit / 4),
        sorter(EventRecord::pairing_order, options.memory_limit / 8),
    );
    let (texts, tracks) = (Texts::default(), Tracks::default());
    let reading = Reading {
        name,
        content,
        texts: &texts,
        tracks: &tracks,
        threads: options.threads,
        progress,
    };
    let document = read_document(&reading, &mut records, &mut pairs)?;
    let phases = vec![("read", start.elapsed().as_secs_f64())];
    Ok(Read {
        content,
        name: name.to_owned(),
        document,
        texts,
        tracks,
        records,
        pairs,
        options: options.clone(),
        scratch,
        progress,
        phases,
    })
}

impl Read<'_> {
    /// Writes the files of all tables to a folder.
    pub fn write(self, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
        let strict = self.options.strict.then(|| self.name.clone());
        let built = if self.document.form == Form::Blobs {
            mllm_perf::write(self, origin, folder)
        } else {
            events::write(self, origin, folder)
        }?;
        match strict {
            Some(input) if built.issues.has_warnings() => {
                Err(IngestError::Strict { input, issues: built.issues.summary() })
            }
            _ => Ok(built),
        }
    }
}

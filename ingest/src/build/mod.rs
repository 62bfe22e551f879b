//! Converts one trace from its text to the files of its tables.

mod devices;
mod events;
mod mllm_perf;
mod modules;
mod side_tables;
mod small_tables;
mod snapshot_tables;
mod typed;

use std::path::Path;
use std::time::Instant;

use crate::arrange::{Order, Sorter, StepPattern};
use crate::error::{IngestError, Result};
use crate::import;
use crate::issues::Issues;
use crate::side::{self, flight};
use crate::snapshot::{self, Pickle, Snapshot, is_pickle};
use crate::source::Content;
use crate::trace::{Document, EventRecord, Form, Progress, Reading, Texts, Tracks, read_document};
use crate::typed::TypedElements;
use side_tables::{SideFile, SideRead};
use typed::TypedRead;

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
    /// The names of ranges that are steps, in place of `ProfilerStep#N`.
    pub steps_from: Option<StepPattern>,
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

/// An input that was read and whose tables are not written yet.
pub enum Read<'a> {
    /// A JSON document.
    Json(Box<JsonRead<'a>>),
    /// A memory snapshot.
    Snapshot(Box<SnapshotRead<'a>>),
    /// A file beside a trace.
    Side(Box<SideRead<'a>>),
}

/// A memory snapshot that was read.
pub struct SnapshotRead<'a> {
    content: &'a Content,
    snapshot: Snapshot,
    options: BuildOptions,
    scratch: &'a Path,
    progress: &'a Progress,
    phases: Vec<(&'static str, f64)>,
}

/// A document with an event list that was read.
pub struct JsonRead<'a> {
    /// The texts of the elements.
    content: Content,
    document: Document,
    texts: Texts,
    tracks: Tracks,
    records: Sorter,
    pairs: Sorter,
    /// Data of a format whose elements are not JSON.
    typed: Option<TypedRead>,
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
    if is_pickle(content)? {
        let memory_limit = options.memory_limit;
        let phases = |start: Instant| vec![("read", start.elapsed().as_secs_f64())];
        return match snapshot::read(name, content, scratch, memory_limit, progress)? {
            Pickle::Snapshot(snapshot) => Ok(Read::Snapshot(Box::new(SnapshotRead {
                content,
                snapshot,
                options: options.clone(),
                scratch,
                progress,
                phases: phases(start),
            }))),
            Pickle::Flight(pickle) => {
                let dump = flight::of_pickle(name, pickle, memory_limit / 4, progress)?;
                Ok(Read::Side(Box::new(SideRead {
                    file: SideFile::Flight(Box::new(dump)),
                    content,
                    options: options.clone(),
                    progress,
                    phases: phases(start),
                })))
            }
        };
    }
    let source = import::Source { name, content, scratch, options, progress };
    if let Some(read) = import::read(&source)? {
        return Ok(Read::Json(Box::new(JsonRead {
            content: read.content,
            document: read.document,
            texts: read.texts,
            tracks: read.tracks,
            records: read.records,
            pairs: read.pairs,
            typed: None,
            options: options.clone(),
            scratch,
            progress,
            phases: vec![("read", start.elapsed().as_secs_f64())],
        })));
    }
    if let Some(kind) = side::recognise(content)? {
        // Such a file is read while its tables are written, so that its elements are not kept.
        return Ok(Read::Side(Box::new(SideRead {
            file: SideFile::Unread(kind),
            content,
            options: options.clone(),
            progress,
            phases: Vec::new(),
        })));
    }
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
    let (content, document, typed) = match typed::format(content)? {
        Some(format) => {
            let budget = options.memory_limit / 8;
            let mut elements =
                TypedElements::new(&reading, &mut records, &mut pairs, scratch, budget)?;
            typed::read(format, &mut elements, &reading, options.memory_limit / 8)?;
            let (spool, document, typed) = TypedRead::new(elements.finish()?);
            (spool, document, Some(typed))
        }
        None => (content.clone(), read_document(&reading, &mut records, &mut pairs)?, None),
    };
    let phases = vec![("read", start.elapsed().as_secs_f64())];
    Ok(Read::Json(Box::new(JsonRead {
        content,
        document,
        texts,
        tracks,
        records,
        pairs,
        typed,
        options: options.clone(),
        scratch,
        progress,
        phases,
    })))
}

impl Read<'_> {
    /// Writes the files of all tables to a folder.
    pub fn write(self, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
        let is_strict = match &self {
            Self::Json(read) => read.options.strict,
            Self::Snapshot(read) => read.options.strict,
            Self::Side(read) => read.options.strict,
        };
        let built = match self {
            Self::Json(read) if read.document.form == Form::Blobs => {
                mllm_perf::write(*read, origin, folder)
            }
            Self::Json(read) => events::write(*read, origin, folder),
            Self::Snapshot(read) => snapshot_tables::write(*read, origin, folder),
            Self::Side(read) => side_tables::write(*read, origin, folder),
        }?;
        if is_strict && built.issues.has_warnings() {
            let input = origin.name.to_owned();
            return Err(IngestError::Strict { input, issues: built.issues.summary() });
        }
        Ok(built)
    }
}

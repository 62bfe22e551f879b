//! Readers of other profilers' files. Each converts its records to typed events.

mod columns;
mod nsys;
mod rocm;
mod strings;
pub mod typed;

use std::path::Path;

use crate::build::BuildOptions;
use crate::error::{IngestError, Result};
use crate::import::typed::{TypedRead, TypedWriter};
use crate::issues::{Code, Issues};
use crate::source::Content;
use crate::sqlite::{Database, is_sqlite};
use crate::trace::Progress;

/// An input and how to read it.
pub struct Source<'a> {
    /// The name of the input in messages.
    pub name: &'a str,
    /// The bytes of the input.
    pub content: &'a Content,
    /// A folder for temporary files.
    pub scratch: &'a Path,
    /// Options for reading.
    pub options: &'a BuildOptions,
    /// The progress of reading, and a flag to stop it.
    pub progress: &'a Progress,
}

impl<'a> Source<'a> {
    /// Creates the writer that receives the events of the input.
    fn writer(&self, format: &'static str, bytes: u64) -> Result<TypedWriter<'a>> {
        TypedWriter::new(self.name, format, bytes, self.scratch, self.options, self.progress)
    }
}

/// Reads an input if it is one of these formats, which its content decides.
pub fn read(source: &Source<'_>) -> Result<Option<TypedRead>> {
    let read = if is_sqlite(source.content)? {
        Database::open(source.name, source.content).and_then(|db| database(source, &db))
    } else if rocm::is_output(source.content)? {
        rocm::read_json(source)
    } else {
        return Ok(None);
    };
    if read.is_err() {
        source.content.abandon();
    }
    read.map(Some)
}

/// Returns the issues of a database: those of unpacking it, and tables that the reader cannot read.
fn issues(source: &Source<'_>, db: &Database<'_>) -> Issues {
    let mut issues = source.content.issues();
    for name in db.other_tables() {
        issues.add(Code::UnreadTable, None, None, name.as_bytes());
    }
    issues
}

/// Reads a database by the tables that it has.
fn database(source: &Source<'_>, db: &Database<'_>) -> Result<TypedRead> {
    if nsys::is_export(db) {
        return nsys::read(source, db);
    }
    if rocm::is_rocpd(db) {
        return rocm::read_rocpd(source, db);
    }
    if rocm::is_rpd(db) {
        return rocm::read_rpd(source, db);
    }
    let has = |name: &str| db.table(name).is_some();
    let has_prefix = |prefix: &str| db.tables().any(|t| t.name.starts_with(prefix));
    let what = if has("STRING_IDS") && (has("TASK") || has("PYTORCH_API") || has("CANN_API")) {
        "an Ascend profiler's database; give its trace_view.json".to_owned()
    } else if has_prefix("compute_workload") {
        "a database of rocprof-compute; give rocprofv3's output of the same run".to_owned()
    } else if has_prefix("dlprof_") {
        "a database of DLProf; give the Nsight Systems export that it was made from".to_owned()
    } else {
        let names: Vec<&str> = db.tables().take(5).map(|t| &t.name[..]).collect();
        match names[..] {
            [] => "an SQLite database without plain tables, not a profiler's file".to_owned(),
            _ => format!(
                "an SQLite database with tables such as {}, which no known profiler writes; \
                 exports of Nsight Systems, rocpd and RPD files are read",
                names.join(", ")
            ),
        }
    };
    Err(IngestError::not_a_trace(source.name, format!("this is {what}"), 0))
}

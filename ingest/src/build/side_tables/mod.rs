//! Writes the tables of files beside a trace, whose elements become rows without nesting.

mod execution;
mod flight;
mod plain;
mod samples;
mod timeline;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::devices::TopFacts;
use super::small_tables::{Counted, SmallTables, TraceKind, in_order};
use super::{BuildOptions, Built, Origin};
use crate::encode::{Effort, TableRows};
use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::rows::TrackRow;
use crate::schema;
use crate::side::Kind;
use crate::side::flight::Dump;
use crate::source::Content;
use crate::trace::Progress;

/// A file beside a trace that was recognised.
pub struct SideRead<'a> {
    /// What the file is.
    pub file: SideFile,
    /// The bytes of the input.
    pub content: &'a Content,
    /// Options for reading.
    pub options: BuildOptions,
    /// The progress of reading, and a flag to stop it.
    pub progress: &'a Progress,
    /// Seconds that each phase took.
    pub phases: Vec<(&'static str, f64)>,
}

/// What a file beside a trace is.
pub enum SideFile {
    /// A dump of the flight recorder, read from its pickle.
    Flight(Box<Dump>),
    /// A file that is read while its tables are written.
    Unread(Kind),
}

/// What is needed to write the tables of one file.
struct Writing<'a> {
    read: SideRead<'a>,
    tables: SmallTables<'a>,
    counted: Counted,
}

/// Properties of a file, for its row of `traces`.
struct Facts {
    format: &'static str,
    framework: Option<&'static str>,
    top: TopFacts,
    bounds: Option<(i64, i64)>,
    elements: u64,
    events: u64,
    issues: Issues,
}

/// Writes the tables.
pub fn write(read: SideRead<'_>, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
    let (content, name) = (read.content, origin.name);
    let (bytes, _) = content.wait(u64::MAX)?;
    let texts: Vec<Arc<str>> = Vec::new();
    let tables = SmallTables {
        content,
        origin,
        folder,
        effort: Effort::of(bytes, 0),
        texts: &texts,
        tracks: &[],
        track_order: &[],
        track_ids: &[],
    };
    let mut phases = read.phases.clone();
    let start = Instant::now();
    let mut writing = Writing { read, tables, counted: Counted::new() };
    let budget = writing.read.options.memory_limit / 2;
    let file = std::mem::replace(&mut writing.read.file, SideFile::Unread(Kind::Folded));
    let mut facts = match file {
        SideFile::Flight(dump) => writing.flight(*dump),
        SideFile::Unread(Kind::Flight) => {
            let progress = writing.read.progress;
            writing.flight(crate::side::flight::of_json(name, content, budget, progress)?)
        }
        SideFile::Unread(Kind::Execution) => writing.execution(),
        SideFile::Unread(Kind::RawTimeline) => writing.raw_timeline(budget),
        SideFile::Unread(Kind::Timeline) => writing.sizes(budget),
        SideFile::Unread(Kind::Folded) => writing.folded(),
        SideFile::Unread(Kind::Speedscope) => writing.speedscope(budget),
    }?;
    facts.issues.merge(content.issues());
    if facts.elements > 0 && facts.issues.skipped() >= facts.elements {
        let reason = format!(
            "none of its {} elements can be used ({})",
            facts.elements,
            facts.issues.summary()
        );
        return Err(IngestError::not_a_trace(name, reason, 0));
    }
    let Writing { tables, mut counted, .. } = writing;
    let kind = TraceKind {
        format: facts.format,
        framework: facts.framework,
        top: &facts.top,
        bounds: facts.bounds,
        elements: facts.elements,
        events: facts.events,
        text_bytes: bytes,
    };
    tables.put_empty(&mut counted)?;
    tables.trace_and_issues(&kind, &facts.issues, &mut counted)?;
    phases.push(("write", start.elapsed().as_secs_f64()));
    Ok(Built {
        rows: in_order(&counted),
        elements: facts.elements,
        text_bytes: bytes,
        issues: facts.issues,
        phases,
    })
}

impl<'a> Writing<'a> {
    fn trace_id(&self) -> &'a str {
        &self.tables.origin.trace_id
    }

    /// Writes the tracks, in the order of their numbers: names and kinds.
    fn tracks(&mut self, process: &str, pid: Option<i64>, tracks: &[(String, &str)]) -> Result<()> {
        let pid_text = pid.map(|pid| pid.to_string());
        let mut rows = TableRows::new(self.tables.effort);
        for (id, (name, kind)) in tracks.iter().enumerate() {
            rows.push(TrackRow {
                trace_id: self.trace_id(),
                track_id: id as i64,
                pid,
                pid_text: pid_text.as_deref(),
                process_name: Some(process),
                thread_name: Some(name),
                sort_index: Some(id as i64),
                kind,
                ..TrackRow::default()
            });
        }
        self.tables.put(&schema::TRACKS, rows.finish()?, &mut self.counted)
    }
}

/// Returns the Unix time of a clock's zero: 0 if the times are Unix times, because they are later than
/// the year 2001; else it is not known.
fn unix_base(bounds: Option<(i64, i64)>) -> Option<i64> {
    bounds.filter(|(start, _)| *start > 1_000_000_000_000_000_000).map(|_| 0)
}

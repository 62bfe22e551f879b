//! The small tables of a trace, written when everything about it is known.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Origin, devices, modules};
use crate::encode::{Effort, TableRows};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::order::{Flows, ModuleCall, id_text, text_of};
use crate::schema::{self, TABLES, Table};
use crate::source::Content;
use crate::store::TableFile;
use crate::trace::{Class, Document, Id, Key, Meta, MetaKind, NO_TEXT, Span, Track};

/// What the rows of a track show about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackFacts {
    on_device: bool,
    has_spans: bool,
}

impl TrackFacts {
    /// Takes a row of the track into account.
    #[inline]
    pub fn note(&mut self, key: &Key) {
        let class = key.class();
        self.on_device |= class.is_device() || class == Class::DeviceAnnotation;
        self.has_spans |= key.is_span() || key.is_instant();
    }
}

/// What all small tables need.
pub struct Finish<'a> {
    pub content: &'a Content,
    pub origin: &'a Origin<'a>,
    pub folder: &'a Path,
    pub effort: Effort,
    pub texts: &'a [Arc<str>],
    pub tracks: &'a [Track],
    pub track_order: &'a [u32],
    pub track_ids: &'a [u32],
}

/// What the rows of events gave for other tables.
pub struct Found<'a> {
    /// Whether a category is one that only Kineto writes.
    pub is_kineto: bool,
    /// By track number.
    pub facts: &'a [TrackFacts],
    /// Device and stream by track number.
    pub streams: &'a FxHashMap<u32, (Option<i64>, Option<i64>)>,
    /// When its work happened.
    pub span: &'a Span,
    /// Modules seen as Python calls.
    pub calls: &'a [ModuleCall],
    /// `Module Hierarchy` texts: first start and number of operators.
    pub hierarchies: FxHashMap<String, (i64, u64)>,
}

/// Rows per table in the order of the reference.
pub type Counted = Vec<(&'static str, u64)>;

impl Finish<'_> {
    /// Writes the small tables; returns the rows of all.
    pub fn write(
        &self,
        document: &mut Document,
        found: Found<'_>,
        counted: &mut Counted,
    ) -> Result<Counted> {
        let mut devices = TableRows::new(&schema::DEVICES, self.effort);
        let top = devices::read(self.content, document, &self.origin.trace_id, &mut devices)?;
        let is_kineto = top.is_kineto || found.is_kineto;
        self.put(&schema::DEVICES, devices, counted)?;
        let mut tracks = TableRows::new(&schema::TRACKS, self.effort);
        for &no in self.track_order {
            self.track(&mut tracks, no, &found, document);
        }
        self.put(&schema::TRACKS, tracks, counted)?;
        let mut rows = TableRows::new(&schema::MODULES, self.effort);
        modules::push(
            &mut rows,
            &self.origin.trace_id,
            found.calls,
            found.hierarchies,
            self.texts,
            &mut document.issues,
        );
        self.put(&schema::MODULES, rows, counted)?;
        self.steps(document, counted)?;
        for unset in &found.span.unset {
            document.issues.add_many(
                Code::TimeNotSet,
                unset.count,
                Some(unset.ord as u64),
                Some(unset.offset),
                b"",
            );
        }
        let kind = TraceKind {
            format: if is_kineto { "kineto" } else { "chrome" },
            framework: is_kineto.then_some("pytorch"),
            top: &top,
            bounds: found.span.bounds,
            elements: document.elements,
            events: counted
                .iter()
                .find(|(table, _)| *table == "events")
                .map_or(0, |(_, rows)| *rows),
            text_bytes: document.text_bytes,
        };
        self.trace_and_issues(&kind, &document.issues, counted)?;
        Ok(in_order(counted))
    }

    /// Writes the tables that every format ends with.
    pub fn trace_and_issues(
        &self,
        kind: &TraceKind<'_>,
        issues: &Issues,
        counted: &mut Counted,
    ) -> Result<()> {
        let mut rows = TableRows::new(&schema::TRACES, self.effort);
        kind.push(&mut rows, self.origin);
        self.put(&schema::TRACES, rows, counted)?;
        let mut rows = TableRows::new(&schema::INGEST_ISSUES, self.effort);
        for (code, issue) in issues.iter() {
            let skipped = if code.skips() { issue.count } else { 0 };
            let detail = match &issue.detail {
                Some(detail) => format!("{} {detail}", code.meaning()),
                None => code.meaning().to_owned(),
            };
            rows.text(&*self.origin.trace_id).text(code.severity().as_str()).text(code.as_str());
            rows.int(issue.count as i64).int(skipped as i64);
            rows.int(issue.first_event_id.map(|id| id as i64))
                .int(issue.first_byte_offset.map(|at| at as i64));
            rows.text(issue.example.as_deref()).text(&*detail);
        }
        self.put(&schema::INGEST_ISSUES, rows, counted)
    }

    /// Writes a whole table.
    pub fn put(
        &self,
        table: &'static Table,
        mut rows: TableRows,
        counted: &mut Counted,
    ) -> Result<()> {
        let mut file = TableFile::create(self.folder, table)?;
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        counted.push((table.name, file.finish()?));
        Ok(())
    }

    fn track(&self, rows: &mut TableRows, no: u32, found: &Found<'_>, document: &Document) {
        let track = self.tracks[no as usize];
        let facts = found.facts[no as usize];
        let (pid, tid) = match track {
            Track::Thread { pid, tid } => (pid, tid),
            Track::Async { pid, .. } | Track::Counter { pid, .. } => (pid, Id::None),
        };
        let text = |id| id_text(id, self.texts);
        let meta =
            |kind, tid| document.metas.get(&(kind, pid, tid)).map(|m: &Meta| m.value.as_str());
        let id_without_quotes = |id| text_of(id, self.texts).unwrap_or_default().replace('"', "");
        let own_name = match track {
            Track::Thread { .. } => meta(MetaKind::ThreadName, tid).map(str::to_owned),
            Track::Counter { name, id, .. } => {
                let name = text_of(name, self.texts).unwrap_or_default();
                Some(if id == NO_TEXT {
                    name.to_owned()
                } else {
                    format!("{name} [{}]", id_without_quotes(id))
                })
            }
            Track::Async { cat, id, .. } => Some(format!(
                "{} {}",
                text_of(cat, self.texts).unwrap_or_default(),
                id_without_quotes(id)
            )),
        };
        let of_profiler = matches!(text(pid).as_deref(), Some("Spans" | "Traces" | ""))
            && matches!(pid, Id::Text(_));
        let kind = match track {
            Track::Counter { .. } => "counter",
            Track::Async { .. } => "span",
            Track::Thread { .. } if of_profiler => "span",
            Track::Thread { .. } if facts.on_device => "gpu_stream",
            Track::Thread { .. } if facts.has_spans => "cpu_thread",
            Track::Thread { .. } => "other",
        };
        let sort =
            meta(MetaKind::ThreadSortIndex, tid).or(meta(MetaKind::ProcessSortIndex, Id::None));
        let sort = sort.and_then(|s| crate::json::float(s.as_bytes())).map(|f| f as i64);
        let (device, stream) = found.streams.get(&no).copied().unwrap_or_default();
        rows.text(&*self.origin.trace_id)
            .int(self.track_ids[no as usize] as i64)
            .int(int_of(pid))
            .int(int_of(tid));
        rows.text(text(pid).as_deref()).text(text(tid).as_deref());
        rows.text(meta(MetaKind::ProcessName, Id::None))
            .text(own_name.as_deref())
            .text(meta(MetaKind::ProcessLabels, Id::None));
        rows.int(sort).text(kind).int(device).int(stream);
    }

    /// Writes `flows`.
    pub fn flows(&self, flows: &Flows, counted: &mut Counted) -> Result<()> {
        let mut file = TableFile::create(self.folder, &schema::FLOWS)?;
        let mut rows = TableRows::new(&schema::FLOWS, self.effort);
        for (src, dst) in flows.iter() {
            let kind = text_of(src.cat, self.texts).unwrap_or("bind_id");
            let id = match src.id {
                (text, true) => text_of(text as u32, self.texts).unwrap_or_default().to_owned(),
                (number, false) => number.to_string(),
            };
            rows.text(&*self.origin.trace_id)
                .text(kind)
                .text(text_of(src.name, self.texts))
                .text(&*id);
            rows.int(src.slice.map(i64::from)).int(dst.slice.map(i64::from));
            rows.int(src.ts).int(dst.ts).int(src.ord as i64).int(dst.ord as i64);
            rows.take_groups().into_iter().try_for_each(|group| file.write(group))?;
        }
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        counted.push(("flows", file.finish()?));
        Ok(())
    }

    fn steps(&self, document: &Document, counted: &mut Counted) -> Result<()> {
        let mut rows = TableRows::new(&schema::STEPS, self.effort);
        let mut steps = document.steps.clone();
        steps.sort_by_key(|s| (s.ts, s.ord));
        for step in &steps {
            rows.text(&*self.origin.trace_id)
                .int(step.number)
                .text(text_of(step.name, self.texts))
                .int(step.ord as i64);
            rows.int(self.track_ids[step.track as usize] as i64).int(step.ts).int(step.end);
        }
        self.put(&schema::STEPS, rows, counted)
    }
}

fn int_of(id: Id) -> Option<i64> {
    match id {
        Id::Int(n) => Some(n),
        _ => None,
    }
}

/// Rows per table in the order of the reference.
pub fn in_order(counted: &Counted) -> Counted {
    TABLES
        .iter()
        .map(|t| (t.name, counted.iter().find(|(n, _)| *n == t.name).map_or(0, |(_, rows)| *rows)))
        .collect()
}

/// What the row of `traces` says.
pub struct TraceKind<'a> {
    pub format: &'static str,
    pub framework: Option<&'static str>,
    pub top: &'a devices::TopFacts,
    pub bounds: Option<(i64, i64)>,
    pub elements: u64,
    pub events: u64,
    pub text_bytes: u64,
}

impl TraceKind<'_> {
    fn push(&self, rows: &mut TableRows, origin: &Origin<'_>) {
        let top = self.top;
        rows.text(&*origin.trace_id)
            .text(origin.name)
            .text(self.format)
            .text(&*origin.content_hash);
        rows.int(origin.input_bytes as i64)
            .int(self.text_bytes as i64)
            .int(top.rank)
            .int(top.world_size);
        rows.text(top.backend.as_deref())
            .text(top.host.as_deref())
            .text(self.framework)
            .int(top.base_time_ns);
        rows.int(self.bounds.map(|b| b.0))
            .int(self.bounds.map(|b| b.1))
            .int(self.bounds.and_then(|b| b.1.checked_sub(b.0)));
        rows.int(self.elements as i64)
            .int(self.events as i64)
            .int((self.elements - self.events) as i64)
            .text(&*top.metadata);
    }
}

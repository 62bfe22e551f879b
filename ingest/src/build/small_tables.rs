//! The small tables of a trace, which are written last.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::typed::TypedRead;
use super::{Origin, devices, modules};
use crate::arrange::{Flows, ModuleCall, NO_ROW, TEXT, UNSIGNED, id_text, text_of};
use crate::encode::{Effort, EncodedGroup, TableRows};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::rows::{DeviceRow, FlowRow, IssueRow, ModuleRow, StepRow, TraceRow, TrackRow};
use crate::schema::{self, TABLES, Table};
use crate::source::Content;
use crate::store::TableFile;
use crate::trace::{Class, Document, EventRecord, Id, Meta, MetaKind, NO_TEXT, Span, Track};
use crate::typed::TrackFacts as OwnFacts;

/// Properties of a track that its rows show.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackFacts {
    on_device: bool,
    has_spans: bool,
}

impl TrackFacts {
    /// Adds a row of the track.
    #[inline]
    pub fn note(&mut self, record: &EventRecord) {
        let class = record.class();
        self.on_device |= class.is_device() || class == Class::DeviceAnnotation;
        self.has_spans |= record.is_span() || record.is_instant();
    }
}

/// Writes the small tables of a trace.
pub struct SmallTables<'a> {
    pub content: &'a Content,
    pub origin: &'a Origin<'a>,
    pub folder: &'a Path,
    pub effort: Effort,
    pub texts: &'a [Arc<str>],
    pub tracks: &'a [Track],
    pub track_order: &'a [u32],
    pub track_ids: &'a [u32],
}

/// Data for other tables that was collected from the rows of `events`.
pub struct Found<'a> {
    /// Whether the trace has a category that only Kineto writes.
    pub is_kineto: bool,
    /// Properties of the tracks, by track number.
    pub facts: &'a [TrackFacts],
    /// Device and stream of each track, by track number.
    pub streams: &'a FxHashMap<u32, (Option<i64>, Option<i64>)>,
    /// The time span of the trace's work.
    pub span: &'a Span,
    /// Modules that occur as Python calls.
    pub calls: &'a [ModuleCall],
    /// First start and number of operators of each `Module Hierarchy` text.
    pub hierarchies: FxHashMap<String, (i64, u64)>,
}

/// Number of rows of each table.
pub type Counted = Vec<(&'static str, u64)>;

impl SmallTables<'_> {
    /// Writes the small tables; returns the number of rows of each table.
    pub fn write(
        &self,
        document: &mut Document,
        found: Found<'_>,
        mut typed: Option<&mut TypedRead>,
        counted: &mut Counted,
    ) -> Result<Counted> {
        let mut devices = TableRows::<DeviceRow<'static>>::new(self.effort);
        let trace_id = &self.origin.trace_id;
        let top = match &typed {
            Some(typed) => typed.top(trace_id, &mut devices),
            None => devices::read(self.content, document, trace_id, &mut devices)?,
        };
        let is_kineto = top.is_kineto || found.is_kineto;
        self.put(&schema::DEVICES, devices.finish()?, counted)?;
        let mut tracks = TableRows::new(self.effort);
        for &no in self.track_order {
            let own = typed.as_ref().and_then(|typed| typed.facts.tracks.get(&no));
            self.track(&mut tracks, no, &found, document, own);
        }
        self.put(&schema::TRACKS, tracks.finish()?, counted)?;
        let mut rows = TableRows::<ModuleRow<'static>>::new(self.effort);
        modules::push(
            &mut rows,
            &self.origin.trace_id,
            found.calls,
            found.hierarchies,
            self.texts,
            &mut document.issues,
        );
        self.put(&schema::MODULES, rows.finish()?, counted)?;
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
        if let Some(typed) = &mut typed {
            typed.place(self.content, &mut document.issues)?;
        }
        let mut kind = TraceKind {
            format: match document.converted {
                Some(converted) => converted.format,
                None if is_kineto => "kineto",
                None => "chrome",
            },
            framework: (is_kineto && document.converted.is_none()).then_some("pytorch"),
            top: &top,
            bounds: found.span.bounds,
            elements: document.elements,
            events: counted
                .iter()
                .find(|(table, _)| *table == "events")
                .map_or(0, |(_, rows)| *rows),
            text_bytes: document.input_bytes(),
        };
        if document.converted.is_some() {
            document.issues.forget_offsets();
        }
        if let Some(typed) = &typed {
            typed.name_format(&mut kind);
        }
        self.put_empty(counted)?;
        self.trace_and_issues(&kind, &document.issues, counted)?;
        Ok(in_order(counted))
    }

    /// Writes the tables that have no rows, except those that [`SmallTables::trace_and_issues`]
    /// writes.
    pub fn put_empty(&self, counted: &mut Counted) -> Result<()> {
        for table in TABLES.iter().copied() {
            let comes_last = [schema::TRACES.name, schema::INGEST_ISSUES.name];
            let is_written = counted.iter().any(|(name, _)| *name == table.name);
            if !is_written && !comes_last.contains(&table.name) {
                self.put(table, Vec::new(), counted)?;
            }
        }
        Ok(())
    }

    /// Writes the tables that come last in every format.
    pub fn trace_and_issues(
        &self,
        kind: &TraceKind<'_>,
        issues: &Issues,
        counted: &mut Counted,
    ) -> Result<()> {
        let mut rows = TableRows::new(self.effort);
        rows.push(kind.row(self.origin));
        self.put(&schema::TRACES, rows.finish()?, counted)?;
        let mut rows = TableRows::new(self.effort);
        for (code, issue) in issues.iter() {
            let skipped = if code.skips() { issue.count } else { 0 };
            let detail = match &issue.detail {
                Some(detail) => format!("{} {detail}", code.meaning()),
                None => code.meaning().to_owned(),
            };
            rows.push(IssueRow {
                trace_id: &self.origin.trace_id,
                severity: code.severity().as_str(),
                code: code.as_str(),
                count: issue.count as i64,
                skipped_count: skipped as i64,
                first_event_id: issue.first_event_id.map(|id| id as i64),
                first_byte_offset: issue.first_byte_offset.map(|at| at as i64),
                example: issue.example.as_deref(),
                detail: &detail,
            });
        }
        self.put(&schema::INGEST_ISSUES, rows.finish()?, counted)
    }

    /// Writes a whole table.
    pub fn put(
        &self,
        table: &'static Table,
        groups: Vec<EncodedGroup>,
        counted: &mut Counted,
    ) -> Result<()> {
        let mut file = TableFile::create(self.folder, table)?;
        groups.into_iter().try_for_each(|group| file.write(group))?;
        counted.push((table.name, file.finish()?));
        Ok(())
    }

    fn track(
        &self,
        rows: &mut TableRows<TrackRow<'static>>,
        no: u32,
        found: &Found<'_>,
        document: &Document,
        own: Option<&OwnFacts>,
    ) {
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
        let own_name = own.and_then(|own| own.name.clone()).or(own_name);
        let own_kind = own.and_then(|own| own.kind);
        let kind = match track {
            _ if own_kind.is_some() => own_kind.unwrap_or_default(),
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
        let sort = own.and_then(|own| own.sort_index).or(sort);
        let (device, stream) = found.streams.get(&no).copied().unwrap_or_default();
        rows.push(TrackRow {
            trace_id: &self.origin.trace_id,
            track_id: self.track_ids[no as usize].into(),
            pid: pid.number(),
            tid: own.and_then(|own| own.tid).or(tid.number()),
            pid_text: text(pid).as_deref(),
            tid_text: text(tid).as_deref(),
            process_name: meta(MetaKind::ProcessName, Id::None),
            thread_name: own_name.as_deref(),
            labels: meta(MetaKind::ProcessLabels, Id::None),
            sort_index: sort,
            kind,
            device,
            stream,
        });
    }

    /// Writes `flows`.
    pub fn flows(&self, flows: &Flows, counted: &mut Counted) -> Result<()> {
        let mut file = TableFile::create(self.folder, &schema::FLOWS)?;
        let mut rows = TableRows::new(self.effort);
        flows.for_each(|arrow| {
            let kind = text_of(arrow.cat, self.texts).unwrap_or("bind_id");
            let id = match (arrow.id, arrow.is_text) {
                (text, TEXT) => text_of(text as u32, self.texts).unwrap_or_default().to_owned(),
                (number, UNSIGNED) => (number as u64).to_string(),
                (number, _) => number.to_string(),
            };
            let event = |slice: u32| (slice != NO_ROW).then_some(slice.into());
            rows.push(FlowRow {
                trace_id: &self.origin.trace_id,
                kind,
                name: text_of(arrow.name, self.texts),
                flow_id: &id,
                src_event_id: event(arrow.src_slice),
                dst_event_id: event(arrow.dst_slice),
                src_ts_ns: arrow.src_ts,
                dst_ts_ns: arrow.dst_ts,
                src_flow_event_id: arrow.src.into(),
                dst_flow_event_id: arrow.dst.into(),
            });
            rows.take_groups().into_iter().try_for_each(|group| file.write(group))
        })?;
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        counted.push(("flows", file.finish()?));
        Ok(())
    }

    fn steps(&self, document: &Document, counted: &mut Counted) -> Result<()> {
        let mut rows = TableRows::new(self.effort);
        let mut steps = document.steps.clone();
        steps.sort_by_key(|s| (s.ts, s.ord));
        for step in &steps {
            rows.push(StepRow {
                trace_id: &self.origin.trace_id,
                step: step.number,
                name: text_of(step.name, self.texts),
                event_id: step.ord.into(),
                track_id: self.track_ids[step.track as usize].into(),
                start_ns: step.ts,
                end_ns: step.end,
                dur_ns: step.end.saturating_sub(step.ts),
            });
        }
        self.put(&schema::STEPS, rows.finish()?, counted)
    }
}

/// Sorts the row counts into the order of the reference.
pub fn in_order(counted: &Counted) -> Counted {
    TABLES
        .iter()
        .map(|t| (t.name, counted.iter().find(|(n, _)| *n == t.name).map_or(0, |(_, rows)| *rows)))
        .collect()
}

/// The values of a row of `traces` that depend on the format of the trace.
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
    fn row<'r>(&'r self, origin: &'r Origin<'_>) -> TraceRow<'r> {
        let top = self.top;
        TraceRow {
            trace_id: &origin.trace_id,
            path: origin.name,
            format: self.format,
            content_hash: &origin.content_hash,
            input_bytes: origin.input_bytes as i64,
            text_bytes: self.text_bytes as i64,
            rank: top.rank,
            world_size: top.world_size,
            backend: top.backend.as_deref(),
            host: top.host.as_deref(),
            framework: self.framework,
            base_time_ns: top.base_time_ns,
            start_ns: self.bounds.map(|b| b.0),
            end_ns: self.bounds.map(|b| b.1),
            duration_ns: self.bounds.and_then(|b| b.1.checked_sub(b.0)),
            element_count: self.elements as i64,
            event_count: self.events as i64,
            skipped_count: (self.elements - self.events) as i64,
            metadata: &top.metadata,
        }
    }
}

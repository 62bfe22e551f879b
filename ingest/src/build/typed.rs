//! The formats whose elements are not JSON: how they are recognised, and what their tables need in
//! addition to an event list.

use rustc_hash::FxHashMap;

use super::devices::TopFacts;
use super::small_tables::TraceKind;
use crate::arrange::{DeviceLinks, FlowPoint, Flows, OtherLink, Pairs, Runs};
use crate::encode::TableRows;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::rows::DeviceRow;
use crate::source::Content;
use crate::trace::{Document, Reading};
use crate::typed::{Typed, TypedElements, TypedFacts, source_offset};
use crate::{perfetto, xplane};

/// A format whose elements are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// XPlane, as JAX and TensorFlow write it.
    XPlane,
    /// Perfetto's protobuf format.
    Perfetto,
}

/// Recognises a format by its content; `None` for content that may be JSON.
pub fn format(content: &Content) -> Result<Option<Format>> {
    if xplane::is_xplane(content)? {
        return Ok(Some(Format::XPlane));
    }
    Ok(perfetto::is_perfetto(content)?.then_some(Format::Perfetto))
}

/// Reads an input. `budget` bytes of memory are for names that grow with the input.
pub fn read(
    format: Format,
    elements: &mut TypedElements<'_>,
    reading: &Reading<'_>,
    budget: usize,
) -> Result<()> {
    let outcome = match format {
        Format::XPlane => xplane::read(elements, reading, budget),
        Format::Perfetto => perfetto::read(elements, reading, budget),
    };
    if outcome.is_err() {
        reading.content.abandon();
    }
    outcome?;
    elements.issues.merge(reading.content.issues());
    elements.facts.text_bytes = reading.content.wait(u64::MAX)?.0;
    let skipped = elements.issues.skipped();
    if elements.count() == 0 {
        if elements.issues.count(Code::TruncatedInput) > 0 {
            let reason = "the input ends before any event";
            return Err(IngestError::input_at(reading.name, reason, elements.facts.text_bytes));
        }
        elements.issues.add(Code::EmptyTrace, None, None, b"");
    } else if skipped >= elements.count() && elements.issues.has_warnings() {
        let reason = format!(
            "none of its {} elements can be used ({})",
            elements.count(),
            elements.issues.summary()
        );
        return Err(IngestError::not_a_trace(reading.name, reason, 0));
    }
    Ok(())
}

/// The data of an input that an event list has no place for.
pub struct TypedRead {
    /// Properties of the trace.
    pub facts: TypedFacts,
    flow_points: Option<Runs<FlowPoint>>,
    end_points: Vec<FlowPoint>,
    /// Issues with offsets in the input.
    issues: Issues,
}

impl TypedRead {
    /// Splits what was read into the spool, the event list and the rest.
    pub fn new(typed: Typed) -> (Content, Document, Self) {
        let Typed { document, spool, facts, flow_points, end_points, issues } = typed;
        let read = Self { facts, flow_points: Some(flow_points), end_points, issues };
        (spool, document, read)
    }

    /// Returns the points of flows that name their event. Those on end events belong to the begin
    /// events that they close.
    pub fn flow_points(&mut self, pairs: &Pairs) -> Result<Option<Runs<FlowPoint>>> {
        let Some(mut points) = self.flow_points.take() else { return Ok(None) };
        for mut point in self.end_points.drain(..) {
            if let Some(begin) = pairs.begins.get(&point.ord) {
                point.slice = *begin;
            }
            points.push(point)?;
        }
        Ok(Some(points))
    }

    /// Links device work to the host events that started the runs it is part of.
    pub fn link_runs(&self, flows: &Flows, links: &mut DeviceLinks) -> Result<()> {
        let runs = &self.facts.runs;
        if runs.starts.is_empty() {
            return Ok(());
        }
        let mut starts: FxHashMap<u32, (u32, u32, i64)> = FxHashMap::default();
        flows.for_each(|arrow| {
            if let Some((src, dst)) = arrow.events()
                && let Some(&track) = runs.starts.get(&src)
            {
                starts.insert(dst, (src, track, arrow.src_ts));
            }
            Ok(())
        })?;
        for (work, run) in &runs.work {
            if let Some(&(start, track, ts)) = starts.get(run) {
                let link =
                    OtherLink { launch: Some(start), op: None, way: "flow", at: Some((track, ts)) };
                links.add(*work, link);
            }
        }
        Ok(())
    }

    /// Moves the places of issues that were found after reading from the spool to the input, and
    /// adds the issues that were found while reading.
    pub fn place(&mut self, spool: &Content, issues: &mut Issues) -> Result<()> {
        issues.move_places(|at| source_offset(spool, at))?;
        issues.merge(std::mem::take(&mut self.issues));
        Ok(())
    }

    /// Appends the rows of `devices` and returns the properties of the trace.
    pub fn top(&self, trace_id: &str, rows: &mut TableRows<DeviceRow<'static>>) -> TopFacts {
        for device in &self.facts.devices {
            rows.push(DeviceRow {
                trace_id,
                device: Some(device.device),
                name: device.name.as_deref(),
                total_memory_bytes: device.total_memory_bytes,
                compute_major: device.compute.0,
                compute_minor: device.compute.1,
                sm_count: device.core_count,
                max_threads_per_block: None,
                max_threads_per_sm: None,
                registers_per_block: None,
                registers_per_sm: None,
                shared_memory_per_block_bytes: None,
                shared_memory_per_sm_bytes: None,
                warp_size: None,
                metadata: Some(&device.metadata),
            });
        }
        let facts = &self.facts;
        TopFacts {
            host: facts.host.clone(),
            base_time_ns: facts.base_time_ns,
            metadata: if facts.metadata.is_empty() { "{}".into() } else { facts.metadata.clone() },
            ..TopFacts::default()
        }
    }

    /// Sets the properties of a trace that depend on its format.
    pub fn name_format(&self, kind: &mut TraceKind<'_>) {
        kind.format = self.facts.format;
        kind.framework = self.facts.framework;
        kind.text_bytes = self.facts.text_bytes;
    }
}

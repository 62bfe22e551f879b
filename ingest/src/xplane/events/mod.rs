//! The events of a line.

mod args;
mod event;
mod runs;

use super::lines::{LineKind, PlaneKind, of_stream};
use super::metadata::{EventName, EventNames};
use super::stats::{Stat, StatName, StatNames};
use crate::arrange::{FlowPoint, SIGNED};
use crate::error::Result;
use crate::issues::Code;
use crate::trace::*;
use crate::typed::{JsonText, TypedElement, TypedElements};
use crate::wire::{Failure, Stream};
use crate::wire::{UnknownField, UnknownFields};

use event::{Event, Values, emptied, values};

pub use runs::Runs;

/// Maximum length of an event that is read, bytes.
const MAX_EVENT: u64 = 256 << 20;

/// Maximum number of host events that are remembered as starts of runs.
const MAX_STARTS: usize = 1 << 22;

/// The tables of a plane.
pub struct PlaneTables<'a> {
    /// Position of the plane in the file.
    pub no: i64,
    /// Kind of the plane.
    pub kind: PlaneKind,
    /// Names of values.
    pub stats: &'a StatNames,
    /// Names of events.
    pub names: &'a EventNames,
}

/// Reads the events of a line.
pub struct LineReader<'a> {
    plane: &'a PlaneTables<'a>,
    track: u32,
    timestamp_ns: i64,
    kind: LineKind,
    line_name: &'a str,
    /// The names of the values of the current event.
    names: Vec<Option<&'a StatName>>,
    args: JsonText,
}

impl<'a> LineReader<'a> {
    /// Creates a reader.
    pub fn new(
        plane: &'a PlaneTables<'a>,
        track: u32,
        timestamp_ns: i64,
        kind: LineKind,
        line_name: &'a str,
    ) -> Self {
        Self {
            plane,
            track,
            timestamp_ns,
            kind,
            line_name,
            names: Vec::new(),
            args: JsonText::default(),
        }
    }

    /// Reads all events of a line.
    pub fn read(
        mut self,
        stream: &mut Stream<'_>,
        elements: &mut TypedElements<'_>,
        runs: &mut Runs,
        unknown: &mut UnknownFields,
    ) -> Result<(), Failure> {
        let mut spare: Vec<Stat<'static>> = Vec::new();
        let mut unread: Vec<UnknownField> = Vec::new();
        while let Some(part) = stream.next()? {
            if part.number != 4 || part.is_cut {
                continue;
            }
            if part.len() > MAX_EVENT {
                elements.skip(Code::EventTooLarge, part.at, b"")?;
                continue;
            }
            part.must_have_bytes()?;
            let bytes = stream.bytes(part.start, part.end)?;
            unread.clear();
            match Event::read(bytes, std::mem::take(&mut spare), &mut unread) {
                Ok(event) => {
                    if let Some((_, number)) = unread.last() {
                        let example = format!("field {number}");
                        elements.issue(Code::UnknownField, part.at, example.as_bytes());
                        unread.iter().for_each(|field| unknown.add(*field));
                    }
                    self.event(&event, part.at, elements, runs)?;
                    spare = emptied(event.stats);
                }
                Err(fault) => {
                    elements.skip(Code::BadMessage, part.start + fault.at, b"")?;
                }
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        at: u64,
        elements: &mut TypedElements<'_>,
        runs: &mut Runs,
    ) -> Result<()> {
        if event.occurrences.is_some() {
            return elements.skip(Code::AggregateEvent, at, b"");
        }
        let Some((ts, end)) = self.times(event) else {
            return elements.skip(Code::TimestampRange, at, b"");
        };
        let dur = match end {
            Some(end) => end - ts,
            None => {
                elements.issue(Code::EndOverflow, at, b"");
                NO_TIME
            }
        };
        if event.duration_ps < 0 && end.is_some() {
            elements.issue(Code::NegativeDuration, at, b"");
        }
        let plane = self.plane;
        let entry = plane.names.get(event.name);
        if entry.is_none() {
            elements.issue(Code::MissingEntry, at, event.name.to_string().as_bytes());
        }
        let name_text = entry.map_or("", |entry| &entry.text);
        plane.stats.resolve(&event.stats, &mut self.names);
        let values = values(plane.stats, &self.names, event);
        let mut e = TypedElement {
            ts,
            dur,
            track: self.track,
            name: entry.map_or(NO_TEXT, |entry| entry.name),
            long_name: name_text,
            offset: at,
            ..TypedElement::default()
        };
        let (class, cat) = self.class(name_text, &values, entry);
        e.class = class;
        if event.duration_ps == 0 && self.is_mark(class) {
            (e.ph, e.dur) = (b'i', NO_TIME);
        }
        if class.is_launch() || class.is_device() {
            e.link = values.correlation.filter(|&id| is_real_id(id)).unwrap_or(NO_LINK);
        }
        if class == Class::Op {
            e.flags |= IS_OP;
        }
        let cat_id = elements.short_text(cat);
        e.cat = cat_id;
        self.args(event, entry, &values, class, at, elements);
        if self.kind == LineKind::Counters {
            return self.counter(e, &values, elements);
        }
        let args = std::mem::take(&mut self.args);
        e.args = if args.len() > 2 { args.bytes() } else { b"" };
        let (class, name) = (e.class, e.name);
        let ord = elements.push(e)?;
        self.args = args;
        self.links(event, &values, ord, (ts, at), elements)?;
        self.step(name_text, &values, ord, (ts, end.unwrap_or(ts)), name, elements);
        if matches!(plane.kind, PlaneKind::Tpu(_)) {
            match self.kind {
                LineKind::Modules if values.consumer.is_some() => {
                    runs.runs.push((ts, end.unwrap_or(ts), ord));
                }
                LineKind::Operators if class.is_device() => runs.operators.push((ts, ord)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the start and the end of an event, ns; the end is `None` beyond 64 bits. Both are
    /// rounded down, so that events that touch or enclose each other still do.
    fn times(&self, event: &Event<'_>) -> Option<(i64, Option<i64>)> {
        let ts = self.timestamp_ns.checked_add(event.offset_ps.div_euclid(1000))?;
        if ts == NO_TIME {
            return None;
        }
        let end = i128::from(event.offset_ps) + i128::from(event.duration_ps);
        let end = i128::from(self.timestamp_ns) + end.div_euclid(1000);
        let end = i64::try_from(end).ok().filter(|end| end.checked_sub(ts).is_some());
        Some((ts, end))
    }

    fn class<'c>(
        &'c self,
        name: &str,
        values: &Values<'_>,
        entry: Option<&EventName>,
    ) -> (Class, &'c str) {
        match &self.kind {
            LineKind::Thread => match name {
                "MemoryAllocation" | "MemoryDeallocation" if values.addr.is_some() => {
                    (Class::Memory, "cpu_instant_event")
                }
                _ if values.correlation.is_some() => {
                    (Class::of(b"cuda_runtime", name.as_bytes(), b'X'), "cuda_runtime")
                }
                _ if name.starts_with('$') => (Class::Other, "python_function"),
                _ if values.step.is_some() => (Class::Step, "user_annotation"),
                _ if values.is_root => (Class::Other, "user_annotation"),
                _ => (Class::Op, "cpu_op"),
            },
            LineKind::Stream(_) => {
                let (kernel, copy, fill) =
                    (values.kernel.is_some(), values.copy.is_some(), values.fill.is_some());
                of_stream(name, kernel, copy, fill)
            }
            LineKind::Operators if entry.is_some_and(|e| e.is_control_flow) => {
                (Class::Other, "hlo")
            }
            LineKind::Operators if entry.is_some_and(|e| e.is_copy) => (Class::Memcpy, "hlo"),
            LineKind::Operators => (Class::Operation, "hlo"),
            LineKind::Modules => (Class::Other, "xla_module"),
            LineKind::Steps => (Class::Other, "step"),
            LineKind::Counters => (Class::Other, "counter"),
            LineKind::Other(cat) => (Class::Other, cat),
        }
    }

    /// Whether an event of no duration is a mark and not a span.
    fn is_mark(&self, class: Class) -> bool {
        self.kind == LineKind::Thread && !class.is_launch()
    }

    /// Adds a value of a counter. Its other values become members of the element.
    fn counter(
        &mut self,
        e: TypedElement<'_>,
        values: &Values<'_>,
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let mut value = JsonText::default();
        value.open(b'{');
        if let Some(counter) = values.counter {
            value.key("value");
            self.plane.stats.write(&counter, &mut value);
        }
        value.close(b'}');
        let mut members = JsonText::default();
        if self.args.len() > 2 {
            members.key("stats");
            members.ready(self.args.bytes());
        }
        let name = if e.name == NO_TEXT { elements.short_text(self.line_name) } else { e.name };
        let name = if name == INLINE_TEXT { elements.short_text(e.long_name) } else { name };
        let track = Track::Counter { pid: Id::Int(self.plane.no), name, id: NO_TEXT };
        let track = elements.track(track);
        let e = TypedElement {
            ph: b'C',
            dur: NO_TIME,
            track,
            args: value.bytes(),
            members: members.bytes(),
            ..e
        };
        elements.push(e)?;
        Ok(())
    }

    /// Adds the flows that an event starts, continues or ends.
    fn links(
        &self,
        event: &Event<'_>,
        values: &Values<'_>,
        ord: u32,
        (ts, at): (i64, u64),
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let point = |ph: u8, id: i64, cat: TextId, name: TextId| FlowPoint {
            id,
            ts,
            offset: at,
            cat,
            name,
            ord,
            slice: ord,
            ph: ph.into(),
            is_text: SIGNED,
        };
        if event.stats.is_empty() {
            return Ok(());
        }
        if let Some(id) = values.producer {
            let name = elements.short_text(&format!("context type {}", values.producer_type));
            let cat = elements.short_text("async");
            elements.flow(point(b's', id, cat, name))?;
            if elements.facts.runs.starts.len() < MAX_STARTS {
                elements.facts.runs.starts.insert(ord, self.track);
            }
        }
        if let Some(id) = values.consumer {
            let name = elements.short_text(&format!("context type {}", values.consumer_type));
            let cat = elements.short_text("async");
            elements.flow(point(b'f', id, cat, name))?;
        }
        if let Some(flow) = values.flow {
            let name = elements.short_text(&format!("category {}", flow >> 58));
            let cat = elements.short_text("flow");
            let ph = match flow & 3 {
                1 => b'f',
                2 => b's',
                _ => b't',
            };
            elements.flow(point(ph, ((flow >> 2) & ((1 << 56) - 1)) as i64, cat, name))?;
        }
        Ok(())
    }

    /// Adds a step: an annotation of the host, or an event of a device's line of steps.
    fn step(
        &self,
        name: &str,
        values: &Values<'_>,
        ord: u32,
        (ts, end): (i64, i64),
        name_id: TextId,
        elements: &mut TypedElements<'_>,
    ) {
        let is_host = self.kind == LineKind::Thread;
        let number = match &self.kind {
            LineKind::Thread => values.step,
            LineKind::Steps => values.step.or_else(|| name.trim().parse().ok()),
            _ => None,
        };
        let Some(number) = number else { return };
        let name = match name_id {
            INLINE_TEXT => elements.short_text(name),
            id => id,
        };
        let pid = Id::Int(self.plane.no);
        let step = Step { number, ord, name, pid, track: self.track, ts, end };
        if is_host {
            elements.step(step);
        } else {
            elements.facts.device_steps.push(step);
        }
    }
}

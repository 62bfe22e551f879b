//! The events of a line.

use super::details::{KernelDetails, copied_bytes};
use super::lines::{LineKind, PlaneKind, of_stream};
use super::metadata::EventNames;
use super::stats::{Slot, Stat, StatNames, StatValue};
use crate::arrange::{FlowPoint, SIGNED};
use crate::error::Result;
use crate::issues::Code;
use crate::trace::*;
use crate::typed::{JsonText, TypedElement, TypedElements};
use crate::wire::{Failure, Fault, Fields, Stream};

/// Maximum length of an event that is read, bytes.
const MAX_EVENT: u64 = 256 << 20;

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

/// Runs of programs on a TPU, and the operators that belong to them.
#[derive(Default)]
pub struct Runs {
    /// Start, end and position of each run in the event list.
    runs: Vec<(i64, i64, u32)>,
    /// Start and position of each operator.
    operators: Vec<(i64, u32)>,
}

impl Runs {
    /// Assigns the operators to the runs that enclose them.
    pub fn finish(mut self, elements: &mut TypedElements<'_>) {
        self.runs.sort_unstable();
        for (ts, ord) in self.operators {
            let after = self.runs.partition_point(|run| run.0 <= ts);
            if let Some(&(_, end, run)) = self.runs[..after].last()
                && ts < end
            {
                elements.facts.runs.work.push((ord, run));
            }
        }
    }
}

/// An event as it is written.
struct Event<'a> {
    name: i64,
    offset_ps: i64,
    duration_ps: i64,
    occurrences: Option<i64>,
    stats: Vec<Stat<'a>>,
}

/// Values of an event that links and columns need.
#[derive(Default)]
struct Values<'a> {
    correlation: Option<i64>,
    run_id: Option<i64>,
    step: Option<i64>,
    is_root: bool,
    producer: Option<i64>,
    producer_type: i64,
    consumer: Option<i64>,
    consumer_type: i64,
    flow: Option<u64>,
    kernel: Option<&'a str>,
    copy: Option<&'a str>,
    fill: Option<&'a str>,
    counter: Option<StatValue<'a>>,
    allocator: Option<&'a str>,
    addr: Option<i64>,
    allocation_bytes: Option<i64>,
    bytes_allocated: Option<i64>,
    bytes_reserved: Option<i64>,
    device_index: Option<i64>,
    /// Whether a name that args use for derived values occurs.
    has_derived: bool,
}

/// A value that is derived from the values of an event.
enum Derived<'a> {
    Int(Option<i64>),
    Text(&'a str),
    Sizes([i64; 3]),
}

/// Reads the events of a line.
pub struct LineReader<'a> {
    plane: &'a PlaneTables<'a>,
    track: u32,
    timestamp_ns: i64,
    kind: LineKind,
    line_name: &'a str,
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
        Self { plane, track, timestamp_ns, kind, line_name, args: JsonText::default() }
    }

    /// Reads all events of a line.
    pub fn read(
        mut self,
        stream: &mut Stream<'_>,
        elements: &mut TypedElements<'_>,
        runs: &mut Runs,
    ) -> Result<(), Failure> {
        let mut spare: Vec<Stat<'static>> = Vec::new();
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
            let mut unknown = None;
            match Event::read(bytes, std::mem::take(&mut spare), &mut unknown) {
                Ok(event) => {
                    if let Some(number) = unknown {
                        note_unknown(elements, number, part.at);
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
        let values = self.values(event);
        let mut e = TypedElement {
            ts,
            dur,
            track: self.track,
            name: entry.map_or(NO_TEXT, |entry| entry.name),
            long_name: name_text,
            offset: at,
            ..TypedElement::default()
        };
        let is_control_flow = entry.is_some_and(|entry| entry.is_control_flow);
        let (class, cat) = self.class(name_text, &values, is_control_flow);
        e.class = class;
        if class == Class::Memory || (event.duration_ps == 0 && self.is_mark(class)) {
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

    fn values<'e>(&self, event: &'e Event<'e>) -> Values<'e>
    where
        'a: 'e,
    {
        let mut v = Values::default();
        let names = self.plane.stats;
        for stat in &event.stats {
            let Some(name) = names.get(stat.id) else { continue };
            match name.slot {
                Slot::Other | Slot::HloCategory => {}
                Slot::Correlation => v.correlation = stat.int(),
                Slot::RunId => v.run_id = stat.int(),
                Slot::StepNum => v.step = stat.int(),
                Slot::Root => v.is_root = true,
                Slot::Producer => v.producer = bits(stat),
                Slot::ProducerType => v.producer_type = bits(stat).unwrap_or(0),
                Slot::Consumer => v.consumer = bits(stat),
                Slot::ConsumerType => v.consumer_type = bits(stat).unwrap_or(0),
                Slot::Flow => v.flow = bits(stat).map(|id| id as u64),
                Slot::KernelDetails => v.kernel = names.text_of(&stat.value),
                Slot::MemcpyDetails => v.copy = names.text_of(&stat.value),
                Slot::MemsetDetails => v.fill = names.text_of(&stat.value),
                Slot::CounterValue => v.counter = Some(stat.value),
                Slot::Allocator => v.allocator = names.text_of(&stat.value),
                Slot::Addr => v.addr = bits(stat),
                Slot::AllocationBytes => v.allocation_bytes = stat.int(),
                Slot::BytesAllocated => v.bytes_allocated = stat.int(),
                Slot::BytesReserved => v.bytes_reserved = stat.int(),
                Slot::DeviceIndex => v.device_index = stat.int(),
                Slot::Derived => v.has_derived = true,
            }
        }
        v
    }

    fn class<'c>(
        &'c self,
        name: &str,
        values: &Values<'_>,
        is_control_flow: bool,
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
            LineKind::Operators if is_control_flow => (Class::Other, "hlo"),
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

    /// Writes the args: the values of the event, those of its name, and those from which columns
    /// are filled.
    fn args(
        &mut self,
        event: &Event<'_>,
        entry: Option<&super::metadata::EventName>,
        values: &Values<'_>,
        class: Class,
        at: u64,
        elements: &mut TypedElements<'_>,
    ) {
        let (plane, out) = (self.plane, &mut self.args);
        out.clear();
        out.open(b'{');
        let mut is_complete = plane.stats.members(&event.stats, out, |_, _| {});
        if let Some(entry) = entry {
            let same = |id: i64| plane.stats.get(id).map(|name| name.same);
            let present = |name: u32| event.stats.iter().any(|stat| same(stat.id) == Some(name));
            plane.names.write(entry, present, out);
        }
        let own = |key: &str| {
            values.has_derived
                && event
                    .stats
                    .iter()
                    .any(|s| plane.stats.get(s.id).is_some_and(|name| *name.name == *key))
        };
        let mut put = |key: &str, value: Derived<'_>| {
            if own(key) {
                return;
            }
            match value {
                Derived::Int(None) => {}
                Derived::Int(Some(value)) => {
                    out.key(key);
                    out.int(value);
                }
                Derived::Text(value) => {
                    out.key(key);
                    out.text(value);
                }
                Derived::Sizes(sizes) => {
                    out.key(key);
                    out.open(b'[');
                    sizes.iter().for_each(|n| out.int(*n));
                    out.close(b']');
                }
            }
        };
        if class.is_launch() || class.is_device() {
            put("correlation", Derived::Int(values.correlation));
        }
        put("External id", Derived::Int(values.run_id));
        if class.is_device() {
            put("device", Derived::Int(plane.kind.device()));
            if let LineKind::Stream(stream) = self.kind {
                put("stream", Derived::Int(stream));
            }
        }
        if class == Class::Memory {
            let (kind, device) = memory_device(values.allocator, values.device_index);
            let is_free = entry.is_some_and(|entry| *entry.text == *"MemoryDeallocation");
            let sign = if is_free { -1 } else { 1 };
            let bytes = values.allocation_bytes.and_then(|n| n.checked_mul(sign));
            put("Action", Derived::Text(if is_free { "free" } else { "alloc" }));
            for (key, value) in [
                ("Bytes", bytes),
                ("Addr", values.addr),
                ("Device Type", kind),
                ("Device Id", device),
                ("Total Allocated", values.bytes_allocated),
                ("Total Reserved", values.bytes_reserved),
            ] {
                put(key, Derived::Int(value));
            }
        }
        let mut is_odd = false;
        if let Some(details) = values.kernel.filter(|_| class.is_device()) {
            let details = KernelDetails::read(details);
            is_odd = details.is_odd;
            put("registers per thread", Derived::Int(details.registers));
            put("shared memory", Derived::Int(details.shared_memory));
            for (key, sizes) in [("grid", details.grid), ("block", details.block)] {
                if let Some(sizes) = sizes {
                    put(key, Derived::Sizes(sizes));
                }
            }
        } else if let Some(details) = values.copy.or(values.fill).filter(|_| class.is_device()) {
            put("bytes", Derived::Int(copied_bytes(details)));
        }
        if self.kind != LineKind::Counters {
            // Times that are not on whole nanoseconds are kept exactly.
            if event.offset_ps.rem_euclid(1000) != 0 && !own("start_ps") {
                out.key("start_ps");
                out.wide(i128::from(self.timestamp_ns) * 1000 + i128::from(event.offset_ps));
            }
            if event.duration_ps.rem_euclid(1000) != 0 && !own("dur_ps") {
                out.key("dur_ps");
                out.int(event.duration_ps);
            }
        }
        out.close(b'}');
        if is_odd {
            elements.issue(Code::KernelDetails, at, values.kernel.unwrap_or("").as_bytes());
        }
        is_complete &= event.stats.iter().all(|s| plane.stats.get(s.id).is_some());
        if !is_complete {
            elements.issue(Code::MissingEntry, at, b"");
        }
        let is_invalid = |s: &Stat<'_>| matches!(s.value, StatValue::Text(bytes) if std::str::from_utf8(bytes).is_err());
        if event.stats.iter().any(is_invalid) {
            elements.issue(Code::InvalidUtf8, at, b"");
        }
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
            elements.facts.runs.starts.insert(ord, self.track);
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

/// Returns the 64 bits of an integer.
fn bits(stat: &Stat<'_>) -> Option<i64> {
    match stat.value {
        StatValue::Int(value) => Some(value),
        StatValue::Uint(value) => Some(value as i64),
        _ => None,
    }
}

/// Returns the type and number of the device whose memory an allocator manages. The types are those
/// of PyTorch: 0 for the host, 1 for GPUs, 9 for devices of XLA. A TPU has no allocator with a name,
/// but a number (`index`).
fn memory_device(allocator: Option<&str>, index: Option<i64>) -> (Option<i64>, Option<i64>) {
    let Some(name) = allocator else { return (index.map(|_| 9), index) };
    if let Some(rest) = name.strip_prefix("GPU_") {
        let digits = rest.split('_').next().unwrap_or_default();
        return (Some(1), digits.parse().ok());
    }
    let lower = name.to_ascii_lowercase();
    (["cpu", "host"].iter().any(|word| lower.contains(word)).then_some(0), None)
}

/// Counts a field that is not read.
fn note_unknown(elements: &mut TypedElements<'_>, number: u32, at: u64) {
    elements.issue(Code::UnknownField, at, format!("field {number}").as_bytes());
}

/// Returns the memory of a list for another use.
fn emptied(mut stats: Vec<Stat<'_>>) -> Vec<Stat<'static>> {
    stats.clear();
    stats.into_iter().map(|_| Stat { id: 0, value: StatValue::None }).collect()
}

impl<'a> Event<'a> {
    fn read(
        bytes: &'a [u8],
        stats: Vec<Stat<'a>>,
        unknown: &mut Option<u32>,
    ) -> Result<Self, Fault> {
        let mut event = Self { name: 0, offset_ps: 0, duration_ps: 0, occurrences: None, stats };
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => event.name = field.int()?,
                2 => event.offset_ps = field.int()?,
                3 => event.duration_ps = field.int()?,
                4 => {
                    let stat = Stat::read(field.bytes()?).map_err(|f| f.within(field.start()))?;
                    event.stats.push(stat.0);
                    *unknown = stat.1.or(*unknown);
                }
                5 => event.occurrences = Some(field.int()?),
                other => *unknown = Some(other),
            }
        }
        Ok(event)
    }
}

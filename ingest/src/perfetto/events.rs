//! Writes track events as elements.

use std::collections::BTreeMap;

use super::annotations::{Plain, Writer};
use super::sequence::{Sequence, frame_text};
use super::track_event::{Legacy, TrackEvent, gpu_category};
use super::tracks::{Counter, Resolved, TrackTable};
use rustc_hash::FxHashMap;

use crate::arrange::{FlowPoint, UNSIGNED};
use crate::error::Result;
use crate::issues::Code;
use crate::trace::*;
use crate::typed::{JsonText, TypedElement, TypedElements};
use crate::wire::{Fault, Fields, text};

/// An event in the file.
pub struct Place<'a> {
    /// The message.
    pub payload: &'a [u8],
    /// Offset of its packet.
    pub at: u64,
    /// Time of its packet, ns.
    pub ts: i64,
    /// Number of its sequence.
    pub sequence: usize,
}

/// Values of annotations from which columns are filled.
#[derive(Debug, Default)]
struct Captured {
    correlation: Option<i64>,
    /// The correlation as rocprofv3 names it.
    corr_id: Option<i64>,
    external_id: Option<i64>,
    stream: Option<i64>,
    vgprs: Option<i64>,
    accum_vgprs: Option<i64>,
    shared_memory: Option<i64>,
    copied: Option<i64>,
    device: Option<i64>,
    /// Which of the derived values the annotations hold themselves.
    has: [bool; 6],
    text: Option<String>,
}

/// Names of derived values, in the order of [`Captured::has`].
const DERIVED: [&str; 6] =
    ["correlation", "stream", "device", "bytes", "registers per thread", "shared memory"];

impl Captured {
    fn take(&mut self, name: &str, value: Plain<'_>) {
        if let Some(at) = DERIVED.iter().position(|derived| *derived == name) {
            self.has[at] = true;
        }
        if let Plain::Text(value) = value {
            // Agents are named by kind and number: `GPU-0`.
            let device = || value.strip_prefix("GPU")?.trim_start_matches(['-', ' ']).parse().ok();
            if name == "agent" {
                self.device = device();
            }
            if self.text.is_none() {
                self.text = Some(value.to_owned());
            }
            return;
        }
        let Plain::Int(value) = value else { return };
        match name {
            "correlation" => self.correlation = Some(value),
            "corr_id" => self.corr_id = Some(value),
            "External id" | "external id" => self.external_id = Some(value),
            "stream_ID" => self.stream = Some(value),
            "VGPR_Count" => self.vgprs = Some(value),
            "Accum_VGPR_Count" => self.accum_vgprs = Some(value),
            "LDS_Block_Size" => self.shared_memory = Some(value),
            "copy_bytes" => self.copied = Some(value),
            _ => {}
        }
    }
}

/// Where an event belongs, and how it is written.
struct Target {
    ph: u8,
    dur: i64,
    track: u32,
    pid: Option<i64>,
    tid: Option<i64>,
    stream: Option<i64>,
    link: i64,
    flags: u16,
}

/// Writes track events.
#[derive(Default)]
pub struct EventWriter {
    args: JsonText,
    members: JsonText,
    category: String,
    /// Number of occurrences of fields that are not read.
    unknown: BTreeMap<u32, u64>,
    first_unknown: Option<(u64, u64)>,
    /// Running sums of counters whose values are differences, by sequence and track.
    sums: FxHashMap<(usize, u64), Number>,
}

impl EventWriter {
    /// Writes an event and its extra counters.
    pub fn event(
        &mut self,
        place: &Place<'_>,
        sequence: &mut Sequence,
        tracks: &mut TrackTable,
        elements: &mut TypedElements<'_>,
        mut monotonic: impl FnMut(i64) -> Option<i64>,
    ) -> Result<()> {
        let at = place.at;
        let mut event = TrackEvent::default();
        if event.read(place.payload).is_err() {
            return elements.skip(Code::BadMessage, at, b"");
        }
        for number in &event.unknown {
            self.first_unknown.get_or_insert((elements.count(), at));
            *self.unknown.entry(*number).or_default() += 1;
        }
        let Some(ts) = own_time(&event, sequence, place.ts, &mut monotonic) else {
            return elements.skip(Code::TimestampRange, at, b"");
        };
        let mut is_missing = false;
        let name = event_name(&event, sequence, &mut is_missing);
        self.categories(&event, sequence, &mut is_missing);
        let mut captured = Captured::default();
        if self.args(&event, sequence, &mut captured, &mut is_missing, at, elements).is_err() {
            return elements.skip(Code::BadMessage, at, b"");
        }
        let uuid = event.track.or(sequence.defaults.track);
        let legacy = event.legacy.clone().unwrap_or_default();
        let phase = event.phase();
        let is_counter = phase == Some(b'C');
        let by_thread = thread_of(&event, uuid, &legacy, sequence);
        let resolved = match by_thread {
            Some((pid, Some(tid))) => of_thread(tracks.use_thread(pid, tid, elements)),
            Some((pid, None)) => {
                of_thread(elements.track(Track::Thread { pid: Id::Int(pid), tid: Id::None }))
            }
            None => {
                let is_counter = is_counter && event.kind == 4;
                tracks.resolve(uuid.unwrap_or(0), is_counter, &name, elements)
            }
        };
        let pid = by_thread.map(|(pid, _)| pid).or(resolved.pid);
        let target = self.target(&event, &legacy, resolved, pid, (ts, at), &name, elements);
        if event.kind == 4 && is_counter {
            let value =
                self.counter_value(&event, resolved.counter, (place.sequence, uuid.unwrap_or(0)));
            if value.is_none() {
                elements.issue(Code::CounterValue, at, b"");
            }
            self.counter(value, &target, (ts, at), &name, elements)?;
        } else {
            if is_missing {
                elements.issue(Code::MissingEntry, at, b"");
            }
            self.write(&event, &legacy, target, (ts, at), &name, &captured, elements)?;
        }
        self.extra_counters(&event, sequence, place.sequence, tracks, (ts, at), elements)
    }

    /// Joins the categories of an event.
    fn categories(&mut self, event: &TrackEvent<'_>, sequence: &Sequence, is_missing: &mut bool) {
        self.category.clear();
        for iid in &event.category_iids {
            if !self.category.is_empty() {
                self.category.push(',');
            }
            match sequence.categories.get(iid) {
                Some(name) => self.category.push_str(name),
                None => {
                    *is_missing = true;
                    self.category.push_str(&format!("unknown({iid})"));
                }
            }
        }
        for category in &event.categories {
            if !self.category.is_empty() {
                self.category.push(',');
            }
            self.category.push_str(&text(category));
        }
    }

    /// Writes the annotations and the other values of an event, without the last bracket.
    fn args(
        &mut self,
        event: &TrackEvent<'_>,
        sequence: &Sequence,
        captured: &mut Captured,
        is_missing: &mut bool,
        at: u64,
        elements: &mut TypedElements<'_>,
    ) -> Result<(), Fault> {
        let out = &mut self.args;
        out.clear();
        out.open(b'{');
        let mut writer = Writer { sequence, is_missing: false, is_invalid: false };
        for annotation in &event.annotations {
            writer.member(annotation, out, &mut |name, value| captured.take(name, value))?;
        }
        *is_missing |= writer.is_missing;
        if writer.is_invalid {
            elements.issue(Code::InvalidUtf8, at, b"");
        }
        if let Some(id) = event.correlation {
            out.key("correlation_id");
            out.uint(id);
        }
        let by_iid = event.correlation_iid.map(|iid| sequence.correlations.get(&iid));
        *is_missing |= by_iid == Some(None);
        let by_iid = by_iid.flatten().map(|id| std::borrow::Cow::Borrowed(&**id));
        if let Some(id) = event.correlation_text.map(text).or(by_iid) {
            out.key("correlation_id");
            out.text(&id);
        }
        let stack = match (event.stack, event.stack_iid) {
            (Some(message), _) => Some(inline_stack(message)?),
            (None, Some(iid)) => {
                let stack = sequence.stack_text(iid);
                *is_missing |= stack.is_none();
                stack
            }
            _ => None,
        };
        if let Some(stack) = stack {
            out.key("Call stack");
            out.text(&stack);
        }
        let inline = event.location.map(location).transpose()?;
        let by_iid = event.location_iid.map(|iid| sequence.locations.get(&iid));
        *is_missing |= by_iid == Some(None);
        if let Some((file, function, line)) = inline.as_ref().or(by_iid.flatten()) {
            out.key("source_location");
            out.text(&frame_text(function, file, *line));
        }
        if let Some(message) = event.log {
            let mut fields = Fields::of(message);
            while let Some(field) = fields.next()? {
                if field.number == 2 {
                    let body = sequence.log_texts.get(&field.uint()?);
                    *is_missing |= body.is_none();
                    out.key("log_message");
                    out.text(body.map_or("", |body| body));
                }
            }
        }
        if event.kind == 5 {
            out.key("track_event_type");
            out.text("TYPE_STATE");
        }
        Ok(())
    }

    /// Determines the track and the phase of an event.
    #[allow(clippy::too_many_arguments, reason = "the parts of one event")]
    fn target(
        &mut self,
        event: &TrackEvent<'_>,
        legacy: &Legacy<'_>,
        resolved: Resolved,
        pid: Option<i64>,
        (_, at): (i64, u64),
        name: &str,
        elements: &mut TypedElements<'_>,
    ) -> Target {
        let mut target = Target {
            ph: event.phase().unwrap_or(b'i'),
            dur: NO_TIME,
            track: resolved.track,
            pid: resolved.pid,
            tid: resolved.tid,
            stream: resolved.stream,
            link: NO_LINK,
            flags: 0,
        };
        if event.phase().is_none() && event.kind != 5 {
            elements.issue(Code::UnknownPhase, at, b"");
        }
        let process = pid.map_or(Id::None, Id::Int);
        match (target.ph, legacy.phase) {
            (b'X', _) => {
                target.dur = match legacy.duration_us.checked_mul(1000) {
                    Some(dur) => dur,
                    None => {
                        elements.issue(Code::EndOverflow, at, b"");
                        NO_TIME
                    }
                };
                if legacy.duration_us < 0 {
                    elements.issue(Code::NegativeDuration, at, b"");
                }
            }
            (b'b' | b'e' | b'n' | b'S' | b'T' | b'p' | b'F', phase) => {
                target.ph = match phase {
                    b'S' => b'b',
                    b'F' => b'e',
                    b'T' | b'p' => b'n',
                    other => other,
                };
                if target.ph != phase {
                    self.args.key("legacy_event.phase");
                    self.args.text(&char::from(phase).to_string());
                }
                let Some(id) = legacy.id() else {
                    elements.issue(Code::AsyncNoId, at, b"");
                    return target;
                };
                let is_local = legacy.unscoped_id.or(legacy.global_id).is_none();
                let is_old = matches!(phase, b'S' | b'T' | b'p' | b'F');
                let scope = match legacy.id_scope {
                    Some(scope) => format!("{}:{}", self.category, text(scope)),
                    None if is_old => name.to_owned(),
                    None => self.category.clone(),
                };
                let cat = elements.short_text(&scope);
                let id = elements.short_text(&id.to_string());
                let pid = if is_local { process } else { Id::None };
                target.track = elements.track(Track::Async { pid, cat, id });
                let facts = elements.facts.tracks.entry(target.track).or_default();
                if facts.name.is_none() && !name.is_empty() {
                    facts.name = Some(name.to_owned());
                }
                (target.pid, target.tid) = (None, None);
            }
            (b'i' | b'I', b'i' | b'I') if matches!(legacy.instant_scope, 1 | 2) => {
                let of_process = legacy.instant_scope == 2;
                let (pid, name) = match of_process {
                    true => (process, "process instants"),
                    false => (Id::None, "global instants"),
                };
                let id = elements.short_text(name);
                target.track = elements.track(Track::Async { pid, cat: NO_TEXT, id });
                let facts = elements.facts.tracks.entry(target.track).or_default();
                facts.name = Some(name.to_owned());
                (target.pid, target.tid) = (pid.number(), None);
            }
            (b's' | b't' | b'f', _) => {
                match legacy.id().map(i64::try_from) {
                    Some(Ok(id)) => target.link = id,
                    Some(Err(_)) => {
                        let id = legacy.id().unwrap_or(0).to_string();
                        target.link = elements.short_text(&id).into();
                        target.flags |= TEXT_LINK;
                    }
                    None => elements.issue(Code::FlowNoId, at, b""),
                }
                if legacy.binds_enclosing {
                    target.flags |= BINDS_ENCLOSING;
                }
            }
            (0x21..0x7f, _) => {}
            _ => {
                elements.issue(Code::UnknownPhase, at, b"");
                target.ph = b'i';
            }
        }
        target
    }

    /// Writes an event that is not the value of a counter.
    #[allow(clippy::too_many_arguments, reason = "the parts of one event")]
    fn write(
        &mut self,
        event: &TrackEvent<'_>,
        legacy: &Legacy<'_>,
        target: Target,
        (ts, at): (i64, u64),
        name: &str,
        captured: &Captured,
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let is_named = matches!(target.ph, b'E' | b'e') || !name.is_empty();
        if !is_named {
            elements.issue(Code::NoName, at, b"");
        }
        let (mut track, mut target) = (target.track, target);
        if target.ph == b'M' {
            self.metadata(name, captured, track, elements);
        }
        if target.ph == b'C' {
            // A counter of the older form has a series for each annotation.
            let pid = target.pid.map_or(Id::None, Id::Int);
            let id = elements.short_text(name);
            track = elements.track(Track::Counter { pid, name: id, id: NO_TEXT });
            (target.pid, target.tid) = (None, None);
        }
        let category = std::mem::take(&mut self.category);
        let own = gpu_category(&category, name).filter(|_| !matches!(target.ph, b'C'));
        let (cat, class) = match own {
            Some((cat, class)) => {
                self.args.key("category");
                self.args.text(&category);
                (cat, class)
            }
            None => (&*category, Class::of(category.as_bytes(), name.as_bytes(), target.ph)),
        };
        // A metadata or flow element is no work.
        let is_span = matches!(target.ph, b'B' | b'X' | b'i');
        let class = if is_span { class } else { Class::Other };
        let mut flags = target.flags;
        if matches!(cat, "cpu_op" | "Operator") {
            flags |= IS_OP;
        }
        let mut link = target.link;
        if class.is_launch() || class.is_device() {
            link = captured.correlation.filter(|&id| is_real_id(id)).unwrap_or(NO_LINK);
            self.derived(captured, class, target.stream);
        }
        if class != Class::Other && link == NO_LINK && own.is_none() {
            if let Some(id) = captured.external_id.filter(|&id| is_real_id(id))
                && (class.is_launch() || class.is_device())
            {
                (link, flags) = (id, flags | SHARES_ID);
            }
        }
        self.args.close(b'}');
        let is_end = matches!(target.ph, b'E' | b'e');
        let has_flows = !(event.flows.is_empty() && event.last_flows.is_empty());
        if is_end && has_flows {
            flags |= FLOW_IN;
        }
        self.members(&target, legacy);
        let cat_id = if cat.is_empty() { NO_TEXT } else { elements.short_text(cat) };
        let args = std::mem::take(&mut self.args);
        let e = TypedElement {
            ph: target.ph,
            class,
            ts,
            dur: target.dur,
            track,
            name: if name.is_empty() { NO_TEXT } else { elements.text(name) },
            long_name: name,
            cat: cat_id,
            link,
            flags,
            offset: at,
            args: if args.len() > 2 { args.bytes() } else { b"" },
            members: self.members.bytes(),
        };
        let ord = elements.push(e)?;
        (self.args, self.category) = (args, category);
        self.flows(event, legacy, is_end, ord, (ts, at), elements)
    }

    /// Writes the values from which columns are filled.
    fn derived(&mut self, captured: &Captured, class: Class, stream: Option<i64>) {
        let registers = match (captured.vgprs, captured.accum_vgprs) {
            (Some(a), b) => a.checked_add(b.unwrap_or(0)),
            (None, b) => b,
        };
        let is_device = class.is_device();
        let values = [
            captured.corr_id,
            captured.stream.or(stream).filter(|_| is_device),
            captured.device.filter(|_| is_device),
            captured.copied.filter(|_| is_device),
            registers.filter(|_| is_device),
            captured.shared_memory.filter(|_| is_device),
        ];
        for ((key, value), has) in DERIVED.iter().zip(values).zip(captured.has) {
            if let Some(value) = value
                && !has
            {
                self.args.key(key);
                self.args.int(value);
            }
        }
    }

    /// Writes the members of an element other than its args.
    fn members(&mut self, target: &Target, legacy: &Legacy<'_>) {
        let members = &mut self.members;
        members.clear();
        for (key, value) in [("pid", target.pid), ("tid", target.tid)] {
            if let Some(value) = value {
                members.key(key);
                members.int(value);
            }
        }
        if let Some(id) = legacy.id().filter(|_| legacy.phase != 0) {
            members.key("id");
            members.uint(id);
        }
    }

    /// Sets the name of a process or thread.
    fn metadata(
        &self,
        name: &str,
        captured: &Captured,
        track: u32,
        elements: &mut TypedElements<'_>,
    ) {
        let Some(value) = &captured.text else { return };
        let Some((pid, tid)) = elements.thread_of(track) else { return };
        match name {
            "process_name" => elements.meta(MetaKind::ProcessName, pid, Id::None, value),
            "thread_name" => elements.meta(MetaKind::ThreadName, pid, tid, value),
            _ => {}
        }
    }

    /// Adds the flows of an event.
    fn flows(
        &self,
        event: &TrackEvent<'_>,
        legacy: &Legacy<'_>,
        is_end: bool,
        ord: u32,
        (ts, at): (i64, u64),
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let bound = legacy.bind_id.zip(match legacy.flow_direction {
            1 => Some(b'f'),
            2 => Some(b's'),
            3 => Some(b't'),
            _ => None,
        });
        if event.flows.is_empty() && event.last_flows.is_empty() && bound.is_none() {
            return Ok(());
        }
        let cat = elements.short_text("flow");
        let flows = event.flows.iter().map(|id| (*id, b't'));
        let last = event.last_flows.iter().map(|id| (*id, b'F'));
        for (id, ph) in flows.chain(last).chain(bound) {
            let point = FlowPoint {
                id: id as i64,
                ts,
                offset: at,
                cat,
                name: NO_TEXT,
                ord,
                slice: ord,
                ph: ph.into(),
                is_text: UNSIGNED,
            };
            if is_end {
                elements.flow_at_end(point);
            } else {
                elements.flow(point)?;
            }
        }
        Ok(())
    }

    /// Writes the value of a counter.
    fn counter(
        &mut self,
        value: Option<Number>,
        target: &Target,
        (ts, at): (i64, u64),
        name: &str,
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let members = &mut self.members;
        members.clear();
        self.args.close(b'}');
        if self.args.len() > 2 {
            members.key("annotations");
            members.ready(self.args.bytes());
        }
        let mut args = JsonText::default();
        args.open(b'{');
        match value {
            Some(Number::Int(value)) => {
                args.key("value");
                args.int(value);
            }
            Some(Number::Double(value)) => {
                args.key("value");
                args.double(value);
            }
            None => {}
        }
        args.close(b'}');
        let own = elements.facts.tracks.get(&target.track).and_then(|facts| facts.name.clone());
        let shown = own.unwrap_or_else(|| name.to_owned());
        let cat =
            if self.category.is_empty() { NO_TEXT } else { elements.short_text(&self.category) };
        let e = TypedElement {
            ph: b'C',
            ts,
            track: target.track,
            name: if shown.is_empty() { NO_TEXT } else { elements.text(&shown) },
            long_name: &shown,
            cat,
            offset: at,
            args: args.bytes(),
            members: members.bytes(),
            ..TypedElement::default()
        };
        elements.push(e)?;
        Ok(())
    }

    /// Writes the extra counters of an event.
    fn extra_counters(
        &mut self,
        event: &TrackEvent<'_>,
        sequence: &Sequence,
        no: usize,
        tracks: &mut TrackTable,
        (ts, at): (i64, u64),
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let or = |own: &[u64], default: &[u64]| {
            if own.is_empty() { default.to_vec() } else { own.to_vec() }
        };
        let ints = event.extra_values.iter().map(|value| Number::Int(*value));
        let doubles = event.extra_doubles.iter().map(|value| Number::Double(*value));
        if event.extra_values.is_empty() && event.extra_doubles.is_empty() {
            return Ok(());
        }
        let of_ints = or(&event.extra_tracks, &sequence.defaults.counters);
        let of_doubles = or(&event.extra_double_tracks, &sequence.defaults.double_counters);
        let ints = ints.enumerate().map(|(i, value)| (of_ints.get(i).copied(), value));
        let doubles = doubles.enumerate().map(|(i, value)| (of_doubles.get(i).copied(), value));
        for (uuid, value) in ints.chain(doubles) {
            let Some(uuid) = uuid else {
                elements.skip(Code::BadMessage, at, b"")?;
                continue;
            };
            let resolved = tracks.resolve(uuid, true, "", elements);
            let value = self.scaled(value, resolved.counter, (no, uuid));
            let target = Target {
                ph: b'C',
                dur: NO_TIME,
                track: resolved.track,
                pid: None,
                tid: None,
                stream: None,
                link: NO_LINK,
                flags: 0,
            };
            self.args.clear();
            self.args.open(b'{');
            self.category.clear();
            self.counter(Some(value), &target, (ts, at), "", elements)?;
        }
        Ok(())
    }

    fn counter_value(
        &mut self,
        event: &TrackEvent<'_>,
        counter: Counter,
        key: (usize, u64),
    ) -> Option<Number> {
        let value = match (event.counter, event.double_counter) {
            (Some(value), _) => Number::Int(value),
            (None, value) => Number::Double(value?),
        };
        Some(self.scaled(value, counter, key))
    }

    /// Multiplies a value, or adds it to the sum of its sequence and counter.
    fn scaled(&mut self, value: Number, counter: Counter, key: (usize, u64)) -> Number {
        let value = match value {
            value if counter.multiplier <= 1 => value,
            Number::Int(value) => match value.checked_mul(counter.multiplier) {
                Some(value) => Number::Int(value),
                None => Number::Double(value as f64 * counter.multiplier as f64),
            },
            Number::Double(value) => Number::Double(value * counter.multiplier as f64),
        };
        if !counter.is_incremental {
            return value;
        }
        let sum = self.sums.entry(key).or_insert(Number::Int(0));
        *sum = match (*sum, value) {
            (Number::Int(sum), Number::Int(value)) => match sum.checked_add(value) {
                Some(sum) => Number::Int(sum),
                None => Number::Double(sum as f64 + value as f64),
            },
            (sum, value) => Number::Double(sum.double() + value.double()),
        };
        *sum
    }

    /// Counts the fields that were not read.
    pub fn finish(self, elements: &mut TypedElements<'_>) {
        let Some((ord, at)) = self.first_unknown else { return };
        let count = self.unknown.values().sum();
        elements.issues.add_many(Code::UnknownField, count, Some(ord), Some(at), b"");
        let list: Vec<String> =
            self.unknown.iter().map(|(number, count)| format!("{number}: {count}")).collect();
        elements.issues.detail(Code::UnknownField, format!("track events: {}", list.join(", ")));
    }
}

/// A value of a counter.
#[derive(Debug, Clone, Copy)]
enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    fn double(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Double(value) => value,
        }
    }
}

/// Returns the time of an event, which may state its own, ns; `None` beyond 64 bits.
fn own_time(
    event: &TrackEvent<'_>,
    sequence: &mut Sequence,
    ts: i64,
    monotonic: &mut impl FnMut(i64) -> Option<i64>,
) -> Option<i64> {
    let own = match (event.time_delta_us, event.time_us) {
        (Some(delta), _) => {
            let last = sequence.event_time.unwrap_or(0);
            let now = last.checked_add(delta.checked_mul(1000)?)?;
            sequence.event_time = Some(now);
            now
        }
        (None, Some(us)) => us.checked_mul(1000)?,
        _ => return Some(ts),
    };
    Some(monotonic(own).unwrap_or(own))
}

/// Returns the name of an event.
fn event_name<'s>(
    event: &TrackEvent<'s>,
    sequence: &'s Sequence,
    is_missing: &mut bool,
) -> std::borrow::Cow<'s, str> {
    let legacy = event.legacy.as_ref().map_or(0, |legacy| legacy.name_iid);
    let iid = if event.name_iid != 0 { event.name_iid } else { legacy };
    if iid == 0 {
        return text(event.name.unwrap_or_default());
    }
    match sequence.event_names.get(&iid) {
        Some(name) => std::borrow::Cow::Borrowed(name),
        None => {
            *is_missing = true;
            text(event.name.unwrap_or_default())
        }
    }
}

/// Returns the process and thread of an event that names no track, if its sequence or the event
/// itself names them.
fn thread_of(
    event: &TrackEvent<'_>,
    uuid: Option<u64>,
    legacy: &Legacy<'_>,
    sequence: &Sequence,
) -> Option<(i64, Option<i64>)> {
    if uuid.unwrap_or(0) != 0 {
        return None;
    }
    let may_fall_back = event.track.is_none() || event.kind == 0;
    let falls_back = (may_fall_back && sequence.thread.is_some())
        || legacy.pid.is_some()
        || (legacy.tid.is_some() && sequence.thread.is_some());
    if !falls_back {
        return None;
    }
    let of_sequence = sequence.thread;
    let pid = legacy.pid.or(of_sequence.map(|(pid, _)| pid))?;
    let own = of_sequence.filter(|_| legacy.pid.is_none()).map(|(_, tid)| tid);
    Some((pid, legacy.tid.or(own)))
}

fn of_thread(track: u32) -> Resolved {
    Resolved {
        track,
        pid: None,
        tid: None,
        stream: None,
        counter: Counter::default(),
        is_nameless: false,
    }
}

/// Returns a call stack that is written in full, outermost function first.
fn inline_stack(message: &[u8]) -> Result<String, Fault> {
    let mut frames = Vec::new();
    let mut fields = Fields::of(message);
    while let Some(field) = fields.next()? {
        if field.number != 1 {
            continue;
        }
        let within = |f: Fault| f.within(field.start());
        let (mut function, mut file, mut line) = (Default::default(), Default::default(), 0);
        let mut inner = Fields::of(field.bytes()?);
        while let Some(field) = inner.next().map_err(within)? {
            match field.number {
                1 => function = text(field.bytes().map_err(within)?),
                2 => file = text(field.bytes().map_err(within)?),
                3 => line = field.uint().map_err(within)?,
                _ => {}
            }
        }
        frames.push(frame_text(&function, &file, line));
    }
    Ok(frames.join(";"))
}

/// Reads a place in source code: file, function, line.
fn location(message: &[u8]) -> Result<(String, String, u64), Fault> {
    let mut location = (String::new(), String::new(), 0);
    let mut fields = Fields::of(message);
    while let Some(field) = fields.next()? {
        match field.number {
            2 => location.0 = text(field.bytes()?).into_owned(),
            3 => location.1 = text(field.bytes()?).into_owned(),
            4 => location.2 = field.uint()?,
            _ => {}
        }
    }
    Ok(location)
}

//! Writes track events as elements.

mod args;
mod counters;
mod target;

use rustc_hash::FxHashMap;

use super::sequence::Sequence;
use super::track_event::{Legacy, TrackEvent, gpu_category};
use super::tracks::{Counter, Resolved, TrackTable};
use crate::arrange::{FlowPoint, UNSIGNED};
use crate::error::Result;
use crate::issues::Code;
use crate::trace::*;
use crate::typed::{JsonText, TypedElement, TypedElements};
use crate::wire::UnknownFields;
use crate::wire::text;

use args::Captured;
use counters::Number;
use target::{own_time, thread_of};

/// An event in the file.
pub struct Place<'a> {
    /// The message.
    pub payload: &'a [u8],
    /// Offset of its packet.
    pub at: u64,
    /// Time of its packet, ns.
    pub ts: Option<i64>,
    /// Number of its sequence.
    pub sequence: usize,
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
    /// Fields that are not read.
    unknown: UnknownFields,
    /// Running sums of counters whose values are differences, by sequence and track, with how often
    /// the state of the sequence had been cleared.
    sums: FxHashMap<(usize, u64), (u64, Number)>,
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
            elements.issue(Code::UnknownField, at, b"");
            self.unknown.add(("track events", *number));
        }
        let Some(ts) = own_time(&event, sequence, place.ts, &mut monotonic) else {
            let has_time = event.time_delta_us.is_some() || event.time_us.is_some();
            let code = if has_time || place.ts.is_some() {
                Code::TimestampRange
            } else {
                Code::NoTimestamp
            };
            return elements.skip(code, at, b"");
        };
        let mut is_missing = false;
        let name = event_name(&event, sequence, &mut is_missing);
        self.categories(&event, sequence, &mut is_missing);
        let is_metadata = event.legacy.as_ref().is_some_and(|legacy| legacy.phase == b'M');
        let mut captured = Captured { wants_text: is_metadata, ..Captured::default() };
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
            let key = (place.sequence, uuid.unwrap_or(0));
            let value = self.counter_value(&event, resolved.counter, key, sequence.cleared);
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
        if (class.is_launch() || class.is_device())
            && link == NO_LINK
            && own.is_none()
            && let Some(id) = captured.external_id.filter(|&id| is_real_id(id))
        {
            (link, flags) = (id, flags | SHARES_ID);
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

    /// Lists the fields that were not read, with those of `unknown`.
    pub fn finish(self, mut unknown: UnknownFields, elements: &mut TypedElements<'_>) {
        unknown.merge(self.unknown);
        unknown.list(&mut elements.issues);
    }
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

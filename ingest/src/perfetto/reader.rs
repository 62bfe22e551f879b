//! The two passes over the packets.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::clocks::{self, Clocks, MONOTONIC};
use super::events::{EventWriter, Place};
use super::gpu::GpuStages;
use super::kinds::{Group, kind};
use super::packets::Packet;
use super::sequence::Sequence;
use super::tracks::{Descriptor, TrackTable, names, process_tree};
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::trace::Reading;
use crate::typed::{JsonText, TypedElements};
use crate::wire::UnknownFields;
use crate::wire::{Fault, Fields};

/// The packet needs the state of its sequence.
const NEEDS_STATE: u64 = 2;
/// The state of the sequence was cleared before the packet.
const CLEARED: u64 = 1;

/// Maximum number of kinds of packets that are counted.
const MAX_KINDS: usize = 1_000;
/// Memory in bytes of a sequence without names.
const SEQUENCE_MEMORY: usize = 1_200;

/// Reads packets in the order of the file.
pub struct Reader<'e, 'a> {
    elements: &'e mut TypedElements<'a>,
    reading: &'e Reading<'e>,
    budget: usize,
    clocks: Clocks,
    tracks: TrackTable,
    gpu: GpuStages,
    sequences: Vec<Sequence>,
    /// Memory of the names and texts of all sequences, bytes.
    interned: usize,
    by_id: FxHashMap<u64, usize>,
    last: Option<(u64, usize)>,
    /// The latest time of a packet, ns.
    latest: i64,
    /// Number of packets of each kind.
    counts: BTreeMap<u32, u64>,
    writer: EventWriter,
    lost: u64,
}

impl<'e, 'a> Reader<'e, 'a> {
    /// Creates a reader.
    pub fn new(
        elements: &'e mut TypedElements<'a>,
        reading: &'e Reading<'e>,
        budget: usize,
    ) -> Self {
        Self {
            elements,
            reading,
            budget,
            clocks: Clocks::default(),
            tracks: TrackTable::default(),
            gpu: GpuStages::default(),
            sequences: Vec::new(),
            interned: 0,
            by_id: FxHashMap::default(),
            last: None,
            latest: 0,
            counts: BTreeMap::new(),
            writer: EventWriter::default(),
            lost: 0,
        }
    }

    /// Notes what a packet states about the whole trace (first pass).
    pub fn announce(&mut self, bytes: &[u8], at: u64) -> Result<()> {
        let Ok(packet) = Packet::read(bytes, at) else { return Ok(()) };
        match packet.kind {
            2 => {
                let _ = process_tree(packet.payload, self.elements);
            }
            6 => {
                if let Ok((list, primary)) = clocks::read(packet.payload, packet.sequence) {
                    self.clocks.add(&list, primary);
                }
            }
            60 => {
                if let Ok(descriptor) = Descriptor::read(packet.payload) {
                    names(&descriptor, self.elements);
                    self.tracks.announce(descriptor);
                }
            }
            _ => {}
        }
        if self.tracks.memory + self.clocks.memory > self.budget {
            return self.too_large(at);
        }
        Ok(())
    }

    /// Ends the first pass.
    pub fn announced(&mut self) {
        self.clocks.finish();
    }

    fn too_large<T>(&self, at: u64) -> Result<T> {
        let reason = "its names and tracks need more memory than --memory-limit leaves for them; \
                      raise the limit";
        Err(IngestError::input_at(self.reading.name, reason, at))
    }

    /// Returns the number of a sequence.
    fn sequence(&mut self, id: u64) -> usize {
        if let Some((last, no)) = self.last
            && last == id
        {
            return no;
        }
        let next = self.sequences.len();
        let no = *self.by_id.entry(id).or_insert(next);
        if no == next {
            self.sequences.push(Sequence::default());
        }
        self.last = Some((id, no));
        no
    }

    /// Reads a packet (second pass).
    pub fn packet(&mut self, bytes: &[u8], at: u64) -> Result<()> {
        let packet = match Packet::read(bytes, at) {
            Ok(packet) => packet,
            Err(_) => return self.elements.skip(Code::BadMessage, at, b""),
        };
        // Numbers that are not known share a count, if there are many of them.
        let is_new = !self.counts.contains_key(&packet.kind);
        let counted = if is_new && self.counts.len() >= MAX_KINDS { u32::MAX } else { packet.kind };
        *self.counts.entry(counted).or_default() += 1;
        let no = self.sequence(packet.sequence);
        let memory =
            self.sequences.len() * SEQUENCE_MEMORY + self.tracks.memory + self.gpu.memory();
        if memory > self.budget {
            return self.too_large(at);
        }
        let before = self.sequences[no].memory;
        if !self.state(&packet, no) {
            self.elements.issues.add(Code::UnreadMessage, None, Some(at), b"");
        }
        self.interned = self.interned - before + self.sequences[no].memory;
        if self.interned > self.budget {
            return self.too_large(at);
        }
        if packet.kind == 6 {
            match clocks::read(packet.payload, packet.sequence) {
                Ok((list, _)) => self.clocks.pass(&list),
                Err(_) => self.elements.issues.add(Code::UnreadMessage, None, Some(at), b""),
            }
            return Ok(());
        }
        let is_event = matches!(packet.kind, 11 | 53);
        if packet.flags & NEEDS_STATE != 0 && !self.sequences[no].is_valid {
            if is_event {
                return self.elements.skip(Code::LostState, at, b"");
            }
            return self.other(&packet);
        }
        if is_event && packet.timestamp.is_none() {
            return match packet.kind {
                // It may have a time of its own.
                11 => self.track_event(&packet, no, None),
                _ => self.elements.skip(Code::NoTimestamp, at, b""),
            };
        }
        let Some(ts) = self.time(&packet, no) else {
            if !is_event {
                return self.other(&packet);
            }
            let is_out = packet.timestamp.is_some_and(|time| i64::try_from(time).is_err());
            let code = if is_out { Code::TimestampRange } else { Code::UnknownClock };
            return self.elements.skip(code, at, b"");
        };
        match packet.kind {
            11 => self.track_event(&packet, no, Some(ts)),
            53 => {
                let sequence = &self.sequences[no];
                self.gpu.stage(packet.payload, sequence, (ts, at), self.elements)
            }
            60 => {
                match Descriptor::read(packet.payload) {
                    Ok(descriptor) => {
                        if descriptor.thread.is_some() {
                            self.sequences[no].thread = descriptor.thread;
                        }
                        self.tracks.add(descriptor, self.elements);
                    }
                    Err(_) => self.elements.issues.add(Code::UnreadMessage, None, Some(at), b""),
                }
                Ok(())
            }
            44 => {
                if self.thread(packet.payload, no).is_err() {
                    self.elements.issues.add(Code::UnreadMessage, None, Some(at), b"");
                }
                Ok(())
            }
            43 => {
                if self.process(packet.payload).is_err() {
                    self.elements.issues.add(Code::UnreadMessage, None, Some(at), b"");
                }
                Ok(())
            }
            _ => self.other(&packet),
        }
    }

    /// Updates the state of a sequence. Returns whether all of it could be read.
    fn state(&mut self, packet: &Packet<'_>, no: usize) -> bool {
        let sequence = &mut self.sequences[no];
        if packet.flags & CLEARED != 0 {
            sequence.clear();
        } else if packet.dropped {
            sequence.is_valid = false;
            self.lost += 1;
            self.elements.issues.add(Code::PacketsLost, None, Some(packet.at), b"");
        }
        let mut is_read = true;
        if let Some(defaults) = packet.defaults {
            is_read &= sequence.defaults(defaults).is_ok();
        }
        if let Some(interned) = packet.interned {
            is_read &= sequence.intern(interned).is_ok();
        }
        is_read
    }

    /// Returns the time of a packet on the clock of the trace, ns.
    fn time(&mut self, packet: &Packet<'_>, no: usize) -> Option<i64> {
        let Some(time) = packet.timestamp else { return Some(self.latest) };
        let clock = packet.clock.or(self.sequences[no].defaults.clock).unwrap_or(0);
        let ts = match clock {
            0 => i64::try_from(time).ok()?,
            clock => self.clocks.convert(clocks::key(clock, packet.sequence), time)?,
        };
        self.latest = self.latest.max(ts);
        Some(ts)
    }

    fn track_event(&mut self, packet: &Packet<'_>, no: usize, ts: Option<i64>) -> Result<()> {
        let Self { elements, tracks, sequences, clocks, writer, .. } = self;
        let place = Place { payload: packet.payload, at: packet.at, ts, sequence: no };
        let monotonic = |ns: i64| {
            let time = u64::try_from(ns).ok()?;
            clocks.convert(MONOTONIC, time)
        };
        writer.event(&place, &mut sequences[no], tracks, elements, monotonic)
    }

    /// Reads the thread of a sequence.
    fn thread(&mut self, bytes: &[u8], no: usize) -> Result<(), Fault> {
        let (mut pid, mut tid, mut reference) = (0, 0, None);
        let mut name = None;
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => pid = i64::from(field.int()? as i32),
                2 => tid = field.int()?,
                5 => name = Some(crate::wire::text(field.bytes()?).into_owned()),
                6 => reference = field.int()?.checked_mul(1000),
                _ => {}
            }
        }
        let sequence = &mut self.sequences[no];
        sequence.thread = Some((pid, tid));
        sequence.event_time = reference.or(sequence.event_time);
        let descriptor =
            Descriptor { thread: Some((pid, tid)), thread_name: name, ..Descriptor::default() };
        names(&descriptor, self.elements);
        Ok(())
    }

    /// Reads the name of a process.
    fn process(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut descriptor = Descriptor::default();
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => descriptor.process = Some(i64::from(field.int()? as i32)),
                6 => {
                    let name = crate::wire::text(field.bytes()?).into_owned();
                    descriptor.process_name = Some(name);
                }
                _ => {}
            }
        }
        names(&descriptor, self.elements);
        Ok(())
    }

    /// Counts a packet that is not read as events.
    fn other(&mut self, packet: &Packet<'_>) -> Result<()> {
        if packet.kind == 0 {
            return Ok(());
        }
        let code = match kind(packet.kind).1 {
            Group::Control => return Ok(()),
            Group::Scheduler => Code::SchedulerPacket,
            Group::Android => Code::AndroidPacket,
            Group::Other => Code::OtherPacket,
        };
        self.elements.skip(code, packet.at, b"")
    }

    /// Completes the properties of the trace. `issues` and `unknown` are those of the packets.
    pub fn finish(self, issues: Issues, unknown: UnknownFields) {
        let elements = self.elements;
        elements.issues.merge(issues);
        for (code, group) in [
            (Code::SchedulerPacket, Group::Scheduler),
            (Code::AndroidPacket, Group::Android),
            (Code::OtherPacket, Group::Other),
        ] {
            if elements.issues.count(code) == 0 {
                continue;
            }
            let kinds: Vec<String> = self
                .counts
                .iter()
                .filter(|(number, _)| **number != 0 && kind(**number).1 == group)
                .map(|(number, count)| match kind(*number).0 {
                    "unknown" => format!("field {number}: {count}"),
                    name => format!("{name}: {count}"),
                })
                .collect();
            elements.issues.detail(code, kinds.join(", "));
        }
        self.writer.finish(unknown, elements);
        if self.clocks.backward > 0 {
            elements.issues.add_many(Code::ClockBack, self.clocks.backward, None, None, b"");
        }
        self.gpu.finish(elements);
        let facts = &mut elements.facts;
        facts.format = "perfetto";
        facts.ends_by_name = true;
        facts.base_time_ns = self.clocks.base_time();
        let mut json = JsonText::default();
        json.open(b'{');
        json.key("packets");
        json.open(b'{');
        for (number, count) in &self.counts {
            match (*number, kind(*number).0) {
                (0, _) => json.key("without_payload"),
                (number, "unknown") => json.key(&format!("field {number}")),
                (_, name) => json.key(name),
            }
            json.uint(*count);
        }
        json.close(b'}');
        json.key("sequences");
        json.uint(self.sequences.len() as u64);
        json.key("trace_clock");
        json.uint(self.clocks.of_trace());
        json.close(b'}');
        facts.metadata = json.take();
    }
}

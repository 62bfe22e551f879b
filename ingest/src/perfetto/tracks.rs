//! Tracks: what their descriptors state, and which track of ours each of them is.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::trace::{Id, MetaKind, NO_TEXT, Track};
use crate::typed::{TrackFacts, TypedElements};
use crate::wire::{Fault, Fields, text};

/// Maximum number of ancestors of a track.
const MAX_DEPTH: usize = 64;

/// How a counter's values are to be read.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Counter {
    /// Number by which values are multiplied.
    pub multiplier: i64,
    /// Whether values are differences.
    pub is_incremental: bool,
}

/// What descriptors state of a track.
#[derive(Debug, Default, Clone)]
pub struct Descriptor {
    /// Number of the track.
    pub uuid: u64,
    /// The track that it belongs to.
    pub parent: Option<u64>,
    /// Name.
    pub name: Option<String>,
    /// Process id, if it is the track of a process.
    pub process: Option<i64>,
    /// Name of the process.
    pub process_name: Option<String>,
    /// Labels of the process.
    pub process_labels: Option<String>,
    /// Process and thread id, if it is the track of a thread.
    pub thread: Option<(i64, i64)>,
    /// Name of the thread.
    pub thread_name: Option<String>,
    /// How values are to be read, if it is the track of a counter.
    pub counter: Option<Counter>,
    /// Order among tracks.
    pub rank: Option<i64>,
}

impl Descriptor {
    /// Reads a descriptor.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut d = Self::default();
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            let at = |f: Fault| f.within(field.start());
            match field.number {
                1 => d.uuid = field.uint()?,
                5 => d.parent = Some(field.uint()?),
                2 | 10 | 13 => d.name = Some(text(field.bytes()?).into_owned()),
                3 => d.process(field.bytes()?).map_err(at)?,
                4 => d.thread(field.bytes()?).map_err(at)?,
                8 => d.counter = Some(counter(field.bytes()?).map_err(at)?),
                12 => d.rank = Some(field.int()?),
                _ => {}
            }
        }
        Ok(d)
    }

    fn process(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut fields = Fields::of(bytes);
        let mut labels = String::new();
        while let Some(field) = fields.next()? {
            match field.number {
                1 => self.process = Some(i64::from(field.int()? as i32)),
                6 => self.process_name = Some(text(field.bytes()?).into_owned()),
                8 => {
                    if !labels.is_empty() {
                        labels.push_str(", ");
                    }
                    labels.push_str(&text(field.bytes()?));
                }
                _ => {}
            }
        }
        if !labels.is_empty() {
            self.process_labels = Some(labels);
        }
        Ok(())
    }

    fn thread(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut pid, mut tid) = (0, 0);
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => pid = i64::from(field.int()? as i32),
                2 => tid = field.int()?,
                5 => self.thread_name = Some(text(field.bytes()?).into_owned()),
                _ => {}
            }
        }
        self.thread = Some((pid, tid));
        Ok(())
    }

    /// Takes over what a later descriptor of the same track states.
    fn update(&mut self, later: Self) {
        self.parent = later.parent.or(self.parent);
        self.name = later.name.or(self.name.take());
        self.process = self.process.or(later.process);
        self.process_name = later.process_name.or(self.process_name.take());
        self.process_labels = later.process_labels.or(self.process_labels.take());
        self.thread = self.thread.or(later.thread);
        self.thread_name = later.thread_name.or(self.thread_name.take());
        self.counter = self.counter.or(later.counter);
        self.rank = later.rank.or(self.rank);
    }
}

fn counter(bytes: &[u8]) -> Result<Counter, Fault> {
    let mut counter = Counter::default();
    let mut fields = Fields::of(bytes);
    while let Some(field) = fields.next()? {
        match field.number {
            4 => counter.multiplier = field.int()?,
            5 => counter.is_incremental = field.uint()? != 0,
            _ => {}
        }
    }
    Ok(counter)
}

/// A track of ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// Number of the track.
    pub track: u32,
    /// Process, for tracks that are not a thread's own.
    pub pid: Option<i64>,
    /// Thread, for tracks that belong to a thread but are not its own.
    pub tid: Option<i64>,
    /// Stream that the name of the track states.
    pub stream: Option<i64>,
    /// How values of the counter are to be read.
    pub counter: Counter,
    /// Whether the track has no name yet.
    pub is_nameless: bool,
}

/// All tracks of a trace.
#[derive(Default)]
pub struct TrackTable {
    /// Descriptors in the order of the file, up to the current packet.
    known: FxHashMap<u64, Descriptor>,
    /// The first descriptor of each track in the whole file.
    first: FxHashMap<u64, Descriptor>,
    resolved: FxHashMap<(u64, bool), Resolved>,
    /// Threads that are tracks of ours, with the track of the file that is the thread itself.
    threads: FxHashMap<(i64, i64), Option<u64>>,
    counters: FxHashSet<(Option<i64>, u32)>,
    /// Approximate memory, bytes.
    pub memory: usize,
}

impl TrackTable {
    /// Notes a descriptor before events are read.
    pub fn announce(&mut self, descriptor: Descriptor) {
        let entry = self.first.entry(descriptor.uuid);
        if let std::collections::hash_map::Entry::Vacant(_) = &entry {
            self.memory += 600;
        }
        entry.or_default().announce(descriptor);
    }

    /// Adds a descriptor in the order of the file.
    pub fn add(&mut self, descriptor: Descriptor, elements: &mut TypedElements<'_>) {
        if self.names_thread(&descriptor) {
            names(&descriptor, elements);
        } else {
            names(&Descriptor { thread_name: None, ..descriptor.clone() }, elements);
        }
        self.known.entry(descriptor.uuid).or_default().update(descriptor);
    }

    fn get(&self, uuid: u64) -> Option<&Descriptor> {
        self.known.get(&uuid).or_else(|| self.first.get(&uuid))
    }

    /// Whether a track is the thread itself, which the first track of a thread is.
    fn is_thread(&mut self, uuid: u64, thread: (i64, i64)) -> bool {
        let is_new = !self.threads.contains_key(&thread);
        self.threads.entry(thread).or_insert(Some(uuid));
        is_new
    }

    /// Whether the thread takes its name from this descriptor. Where ids are used again, another
    /// track of the same ids is another thread, which has its own name.
    fn names_thread(&self, descriptor: &Descriptor) -> bool {
        let own = descriptor.thread.and_then(|thread| self.threads.get(&thread).copied().flatten());
        own.is_none_or(|own| {
            own == descriptor.uuid || self.get(own).is_none_or(|own| own.thread_name.is_none())
        })
    }

    /// Returns the process and the thread that a track belongs to.
    fn owner(&self, uuid: u64) -> (Option<i64>, Option<i64>) {
        let mut at = Some(uuid);
        for _ in 0..MAX_DEPTH {
            let Some(descriptor) = at.and_then(|uuid| self.get(uuid)) else { break };
            if let Some((pid, tid)) = descriptor.thread {
                return (Some(pid), Some(tid));
            }
            if let Some(pid) = descriptor.process {
                return (Some(pid), None);
            }
            at = descriptor.parent;
        }
        (None, None)
    }

    /// Returns the track of ours for a track of the file. `name` is that of its first event.
    pub fn resolve(
        &mut self,
        uuid: u64,
        is_counter: bool,
        name: &str,
        elements: &mut TypedElements<'_>,
    ) -> Resolved {
        if let Some(resolved) = self.resolved.get(&(uuid, is_counter)) {
            let resolved = *resolved;
            if resolved.is_nameless && !name.is_empty() {
                self.set_name(uuid, is_counter, name, elements);
            }
            return resolved;
        }
        let descriptor = self.get(uuid).cloned().unwrap_or_default();
        let (pid, tid) = self.owner(uuid);
        self.memory += 400;
        let own_name = descriptor.name.clone().filter(|name| !name.is_empty());
        let own_name = own_name.or_else(|| (uuid == 0).then(|| "Default Track".to_owned()));
        let process = pid.map_or(Id::None, Id::Int);
        let stream = own_name.as_deref().and_then(stream_number);
        if is_counter {
            let shown = own_name.clone().unwrap_or_else(|| name.to_owned());
            let id = elements.short_text(&shown);
            let is_new = self.counters.insert((pid, id)) && tid.is_none();
            let id_text = if is_new { NO_TEXT } else { elements.short_text(&format!("{uuid}")) };
            let track = elements.track(Track::Counter { pid: process, name: id, id: id_text });
            let facts = TrackFacts { name: Some(shown), tid, ..TrackFacts::default() };
            elements.facts.tracks.entry(track).or_insert(facts);
            let resolved = Resolved {
                track,
                pid: None,
                tid: None,
                stream: None,
                counter: descriptor.counter.unwrap_or_default(),
                is_nameless: false,
            };
            self.resolved.insert((uuid, true), resolved);
            return resolved;
        }
        let resolved = match descriptor.thread {
            // The first track of a thread is the thread itself.
            Some((pid, tid)) if self.is_thread(uuid, (pid, tid)) => {
                let track = thread(pid, tid, elements);
                names(&descriptor, elements);
                Resolved {
                    track,
                    pid: None,
                    tid: None,
                    stream: None,
                    counter: Counter::default(),
                    is_nameless: false,
                }
            }
            _ => {
                let id = elements.short_text(&format!("track {uuid}"));
                let track = elements.track(Track::Async { pid: process, cat: NO_TEXT, id });
                let own_name = own_name
                    .or_else(|| descriptor.thread_name.clone())
                    .or_else(|| descriptor.process_name.clone())
                    .or_else(|| (!name.is_empty()).then(|| name.to_owned()));
                let is_nameless = own_name.is_none();
                let facts = TrackFacts {
                    name: own_name,
                    tid,
                    sort_index: descriptor.rank,
                    ..TrackFacts::default()
                };
                elements.facts.tracks.insert(track, facts);
                Resolved { track, pid, tid, stream, counter: Counter::default(), is_nameless }
            }
        };
        self.resolved.insert((uuid, false), resolved);
        resolved
    }

    /// Names a track that has no name after one of its events.
    fn set_name(
        &mut self,
        uuid: u64,
        is_counter: bool,
        name: &str,
        elements: &mut TypedElements<'_>,
    ) {
        if let Some(resolved) = self.resolved.get_mut(&(uuid, is_counter)) {
            resolved.is_nameless = false;
            let facts = elements.facts.tracks.entry(resolved.track).or_default();
            facts.name = Some(name.to_owned());
        }
    }

    /// Marks the track of a thread as used, for events that name their thread.
    pub fn use_thread(&mut self, pid: i64, tid: i64, elements: &TypedElements<'_>) -> u32 {
        self.threads.entry((pid, tid)).or_default();
        thread(pid, tid, elements)
    }
}

impl Descriptor {
    /// Takes over what a descriptor states that the first one lacks.
    fn announce(&mut self, later: Self) {
        let first = std::mem::take(self);
        *self = later;
        self.update(first);
    }
}

fn thread(pid: i64, tid: i64, elements: &TypedElements<'_>) -> u32 {
    elements.track(Track::Thread { pid: Id::Int(pid), tid: Id::Int(tid) })
}

/// Sets the names of the process and the thread of a descriptor.
pub fn names(d: &Descriptor, elements: &mut TypedElements<'_>) {
    if let (Some(pid), Some(name)) = (d.process, &d.process_name) {
        elements.meta(MetaKind::ProcessName, Id::Int(pid), Id::None, name);
    }
    if let (Some(pid), Some(labels)) = (d.process, &d.process_labels) {
        elements.meta(MetaKind::ProcessLabels, Id::Int(pid), Id::None, labels);
    }
    if let (Some((pid, tid)), Some(name)) = (d.thread, &d.thread_name) {
        elements.meta(MetaKind::ThreadName, Id::Int(pid), Id::Int(tid), name);
    }
}

/// Returns the number of a stream or queue that the name of a track states, as rocprofv3 writes it:
/// `STREAM [1]`, `COMPUTE GPU [0] QUEUE [2] (GPU)`.
fn stream_number(name: &str) -> Option<i64> {
    let (_, rest) = name.split_once("STREAM [").or_else(|| name.split_once("QUEUE ["))?;
    rest.split(']').next()?.trim().parse().ok()
}

/// Reads the names of processes and threads from a process tree.
pub fn process_tree(bytes: &[u8], elements: &mut TypedElements<'_>) -> Result<(), Fault> {
    let mut fields = Fields::of(bytes);
    while let Some(field) = fields.next()? {
        let within = |f: Fault| f.within(field.start());
        match field.number {
            1 => {
                let (mut pid, mut name) = (0, None);
                let mut fields = Fields::of(field.bytes()?);
                while let Some(field) = fields.next().map_err(within)? {
                    match field.number {
                        1 => pid = i64::from(field.int().map_err(within)? as i32),
                        // The command comes first, then its arguments.
                        3 if name.is_none() => name = Some(field.bytes().map_err(within)?),
                        _ => {}
                    }
                }
                if let Some(name) = name {
                    elements.meta(MetaKind::ProcessName, Id::Int(pid), Id::None, &text(name));
                }
            }
            2 => {
                let (mut pid, mut tid, mut name) = (0, 0, None);
                let mut fields = Fields::of(field.bytes()?);
                while let Some(field) = fields.next().map_err(within)? {
                    match field.number {
                        1 => tid = i64::from(field.int().map_err(within)? as i32),
                        2 => name = Some(field.bytes().map_err(within)?),
                        3 => pid = i64::from(field.int().map_err(within)? as i32),
                        _ => {}
                    }
                }
                if let Some(name) = name {
                    elements.meta(MetaKind::ThreadName, Id::Int(pid), Id::Int(tid), &text(name));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tracks_state_their_stream() {
        assert_eq!(stream_number("STREAM [1]"), Some(1));
        assert_eq!(stream_number("COMPUTE GPU [0] QUEUE [12] (GPU)"), Some(12));
        assert_eq!(stream_number("THREAD 7 (12)"), None);
    }

    #[test]
    fn a_later_descriptor_names_the_track_again() {
        let one = Descriptor::read(b"\x08\x01\x12\x01a\x22\x04\x08\x05\x10\x06").expect("one");
        assert_eq!((one.uuid, one.thread), (1, Some((5, 6))));
        let mut both = one.clone();
        both.update(Descriptor::read(b"\x08\x01\x12\x01b").expect("two"));
        assert_eq!((both.name.as_deref(), both.thread), (Some("b"), Some((5, 6))));
    }
}

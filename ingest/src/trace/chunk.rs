//! The result of the first reading of a chunk of the event list.

use super::event_record::EventRecord;
use super::intern::{Id, TrackNo};
use super::meta::Metas;
use super::times::WorkTimes;
use crate::issues::{Code, Issues};

/// Maximum length of an element that is read, in bytes.
pub const MAX_ELEMENT: usize = 256 << 20;
/// Maximum length of args that are kept, in bytes.
pub const MAX_ARGS: usize = 64 << 20;
/// Maximum length of a name that is kept, in bytes.
pub const MAX_NAME: usize = 1 << 20;
/// Number of bytes of an element that are used for the example of an issue.
const EXAMPLE_BYTES: usize = 200;

/// How a chunk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All bytes were read.
    Cut {
        /// Whether a comma must come before the next element.
        after_element: bool,
    },
    /// The list was closed. Holds the position after its closing bracket.
    Closed(u64),
    /// The element that begins at this position does not end within the chunk.
    Incomplete(u64),
}

/// A `ProfilerStep#N` annotation.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The N in the name of the annotation.
    pub number: i64,
    /// Position in the event list.
    pub ord: u32,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// Process.
    pub pid: Id,
    /// Track number.
    pub track: TrackNo,
    /// Start, ns.
    pub ts: i64,
    /// End, ns.
    pub end: i64,
}

/// The content of a chunk. Positions in the event list are relative to the start of the chunk.
pub struct Chunk {
    /// The way in which the chunk ended.
    pub end: End,
    /// Number of elements, including skipped ones.
    pub elements: u32,
    /// Elements whose end is known.
    pub records: Vec<EventRecord>,
    /// Begin and end events that are to be paired.
    pub pairs: Vec<EventRecord>,
    /// Properties of processes and threads.
    pub metas: Metas,
    /// The steps in the chunk.
    pub steps: Vec<Step>,
    /// Number of launches of device work.
    pub launches: usize,
    /// Start and end of the chunk's work.
    pub times: WorkTimes,
    /// Issues that were found.
    pub issues: Issues,
}

impl Chunk {
    /// Converts all positions from relative to the chunk to relative to the event list.
    pub fn rebase(&mut self, base: u32) {
        for record in self.records.iter_mut().chain(&mut self.pairs) {
            record.ord += base;
        }
        for step in &mut self.steps {
            step.ord += base;
        }
        for meta in self.metas.values_mut() {
            meta.ord += base;
        }
        self.times.rebase(base);
        self.issues.rebase(base as u64);
    }

    /// Counts an issue of the next element, whose text is `text` and begins at `offset`.
    pub fn issue(&mut self, code: Code, offset: u64, text: &[u8]) {
        let example = &text[..text.len().min(EXAMPLE_BYTES)];
        self.issues.add(code, Some(self.elements.into()), Some(offset), example);
    }
}

//! First reading of a chunk of the event list. Each element becomes an [`EventRecord`] or is
//! counted as an issue.

use super::element::Element;
use super::event_fields::EventFields;
use super::event_record::EventRecord;
use super::intern::{Id, Local, TrackNo};
use super::meta::Metas;
use super::resync::resume;
use super::times::WorkTimes;
use crate::issues::{Code, Issues};
use crate::json::{Bad, Cursor};

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

/// Reads the elements in `bytes`, which begin at `offset` of the text. `after_element` states
/// whether a comma must come first. `records` is an empty list whose memory is reused.
pub fn read(
    bytes: &[u8],
    offset: u64,
    local: &mut Local<'_>,
    after_element: bool,
    mut records: Vec<EventRecord>,
) -> Chunk {
    records.reserve(bytes.len() / 250);
    let chunk = Chunk {
        end: End::Cut { after_element: false },
        elements: 0,
        records,
        pairs: Vec::new(),
        metas: Metas::default(),
        steps: Vec::new(),
        times: WorkTimes::default(),
        issues: Issues::default(),
    };
    let mut reader = ChunkReader { bytes, offset, local, chunk };
    reader.chunk.end = reader.run(after_element);
    reader.chunk
}

struct ChunkReader<'a, 'l, 't> {
    bytes: &'a [u8],
    offset: u64,
    local: &'l mut Local<'t>,
    chunk: Chunk,
}

impl ChunkReader<'_, '_, '_> {
    fn run(&mut self, mut after_element: bool) -> End {
        let mut c = Cursor::new(self.bytes, 0);
        loop {
            let Ok(token) = c.next_token() else { return End::Cut { after_element } };
            let start = c.pos;
            match token {
                b',' => {
                    if !after_element {
                        self.issue(Code::ExtraComma, start);
                    }
                    after_element = false;
                    c.pos += 1;
                    continue;
                }
                b']' => return End::Closed(self.offset + start as u64 + 1),
                _ if after_element => self.issue(Code::MissingComma, start),
                _ => {}
            }
            let outcome = match token {
                b'{' => EventFields::read(&mut c).map(|fields| {
                    if c.pos - start <= MAX_ELEMENT {
                        self.element(&fields, start);
                    }
                }),
                // No value begins with these characters, so stepping over one would make no
                // progress.
                b'}' | b':' => Err(Bad::Syntax(start)),
                _ => c.value().map(|_| self.issue(Code::NotAnObject, start)),
            };
            let outcome = match outcome {
                Err(Bad::End) if self.bytes.len() - start <= MAX_ELEMENT => {
                    return End::Incomplete(self.offset + start as u64);
                }
                Ok(()) if c.pos - start > MAX_ELEMENT => Err(Code::EventTooLarge),
                Ok(()) => Ok(()),
                Err(Bad::End) => Err(Code::EventTooLarge),
                Err(Bad::Deep) => Err(Code::TooDeep),
                Err(Bad::Syntax(_)) => Err(Code::MalformedEvent),
            };
            after_element = outcome.is_ok();
            if let Err(code) = outcome {
                self.issue(code, start);
            }
            self.chunk.elements += 1;
            if outcome.is_err() {
                match resume(self.bytes, start + 1) {
                    Some(next) => c.pos = next,
                    None => return End::Cut { after_element: false },
                }
            }
        }
    }

    fn issue(&mut self, code: Code, start: usize) {
        self.chunk.issue(code, self.offset + start as u64, &self.bytes[start..]);
    }

    #[inline]
    fn element(&mut self, fields: &EventFields<'_>, start: usize) {
        let mut element = Element {
            fields,
            text: &self.bytes[start..],
            start,
            offset: self.offset + start as u64,
            chunk: &mut self.chunk,
            local: self.local,
        };
        element.read();
    }
}

//! First reading of a chunk of the event list. Each element becomes an [`EventRecord`] or is
//! counted as an issue.

use super::chunk::{Chunk, End, MAX_ELEMENT};
use super::element::Element;
use super::event_fields::EventFields;
use super::event_record::EventRecord;
use super::intern::Local;
use super::meta::Metas;
use super::resync::resume;
use super::times::WorkTimes;
use crate::issues::{Code, Issues};
use crate::json::{Bad, Cursor};

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
        launches: 0,
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
                b'{' => EventFields::read_like(&mut c, &mut self.local.shapes).map(|fields| {
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

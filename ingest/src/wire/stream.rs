//! The fields of a message that is too large for memory.

use super::fields::varint;
use super::{Bad, Failure, Fault};
use crate::error::Result;
use crate::source::{Content, Mapping};

/// Number of bytes that are mapped at a time.
const WINDOW: u64 = 4 << 20;
/// Maximum length of the key and the length of a field.
const MAX_HEAD: u64 = 20;

/// A field of a message in a content. The bytes of its value are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The number of the field.
    pub number: u32,
    /// Offset of the field's key.
    pub at: u64,
    /// Offset of the first byte of the value.
    pub start: u64,
    /// Offset after the value.
    pub end: u64,
    /// The value of a varint field; `None` for a field of bytes.
    pub varint: Option<u64>,
    /// Whether the field has bytes: a text, bytes or a message.
    pub has_bytes: bool,
    /// Whether the content ends within the value.
    pub is_cut: bool,
}

impl Part {
    /// Fails if the field has no bytes.
    pub fn must_have_bytes(&self) -> Result<Self, Fault> {
        if self.has_bytes {
            Ok(*self)
        } else {
            Err(Fault { bad: Bad::Kind(self.number), at: self.at })
        }
    }

    /// Returns the value of a varint field, or fails.
    pub fn uint(&self) -> Result<u64, Fault> {
        self.varint.ok_or(Fault { bad: Bad::Kind(self.number), at: self.at })
    }

    /// Number of bytes of the value.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Reads the fields of a message in a complete content, in the order in which they are written.
pub struct Stream<'a> {
    content: &'a Content,
    window: Mapping,
    /// Offset of the window.
    base: u64,
    /// Offset of the next field.
    at: u64,
    /// End of the message.
    end: u64,
    /// Whether the content ends within the message, so that its last field may be cut.
    may_be_cut: bool,
}

impl<'a> Stream<'a> {
    /// Creates a reader of the message in a range of the content, which must exist.
    pub fn of(content: &'a Content, start: u64, end: u64) -> Result<Self> {
        let window = content.map(0, 0)?;
        Ok(Self { content, window, base: start, at: start, end, may_be_cut: false })
    }

    /// The same reader of a message that is cut if `may_be_cut`. A value that its end cuts becomes a
    /// part that is cut, and a cut key ends the message.
    pub fn cut(mut self, may_be_cut: bool) -> Self {
        self.may_be_cut = may_be_cut;
        self
    }

    /// Returns the offset of the next field.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Moves to a part of the content, which must lie within the message of this reader.
    pub fn seek(&mut self, start: u64, end: u64) {
        (self.at, self.end) = (start, end);
    }

    /// Returns the bytes of a range, which must exist. Maps a window that starts there if the
    /// range is not mapped yet.
    #[inline]
    pub fn bytes(&mut self, start: u64, end: u64) -> Result<&[u8]> {
        if start < self.base || end > self.base + self.window.len() as u64 {
            self.slide(start, end)?;
        }
        let from = (start - self.base) as usize;
        Ok(self.window.get(from..from + (end - start) as usize).unwrap_or(&[]))
    }

    #[cold]
    fn slide(&mut self, start: u64, end: u64) -> Result<()> {
        let (len, _) = self.content.wait(u64::MAX)?;
        let until = len.min(end.max(start.saturating_add(WINDOW)));
        self.window = self.content.map(start.min(until), until)?;
        self.base = start;
        Ok(())
    }

    /// Returns the next field, or `None` after the last one.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Part>, Failure> {
        let (at, limit) = (self.at, self.end);
        if at >= limit {
            return Ok(None);
        }
        let may_be_cut = self.may_be_cut;
        let head = self.bytes(at, limit.min(at + MAX_HEAD))?;
        let fault = |bad| Failure::Wire(Fault { bad, at });
        // At the end of a content that is cut, a varint may miss its last bytes.
        let is_cut_head = may_be_cut && (head.len() as u64) < MAX_HEAD;
        let read = |n: &mut usize| match varint(head, n) {
            Ok(value) => Ok(Some(value)),
            Err(Fault { bad: Bad::Ends { .. }, .. }) if is_cut_head => Ok(None),
            Err(f) => Err(fault(f.bad)),
        };
        let mut n = 0;
        let Some(key) = read(&mut n)? else {
            self.at = limit;
            return Ok(None);
        };
        let number = (key >> 3) as u32;
        if number == 0 || key >> 35 != 0 {
            return Err(fault(Bad::Number));
        }
        let mut part = Part {
            number,
            at,
            start: at + n as u64,
            end: at + n as u64,
            varint: None,
            has_bytes: false,
            is_cut: false,
        };
        let len = match key & 7 {
            0 => {
                let Some(value) = read(&mut n)? else {
                    self.at = limit;
                    return Ok(None);
                };
                part.varint = Some(value);
                part.start = at + n as u64;
                0
            }
            1 => 8,
            2 => {
                let Some(len) = read(&mut n)? else {
                    self.at = limit;
                    return Ok(None);
                };
                part.has_bytes = true;
                part.start = at + n as u64;
                len
            }
            5 => 4,
            other => return Err(fault(Bad::WireType(other as u8))),
        };
        let left = limit.saturating_sub(part.start);
        if len > left && self.may_be_cut && part.has_bytes {
            (part.end, part.is_cut) = (limit, true);
            self.at = limit;
            return Ok(Some(part));
        }
        if len > left && may_be_cut {
            self.at = limit;
            return Ok(None);
        }
        if len > left {
            return Err(fault(Bad::Ends { wanted: len, left }));
        }
        part.end = part.start + len;
        self.at = part.end;
        Ok(Some(part))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn content(bytes: &[u8]) -> Content {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        Content::of_copy(file, std::path::Path::new("test"), Default::default()).expect("content")
    }

    #[test]
    fn parts_are_found_without_reading_their_bytes() {
        let long = vec![7u8; 9 << 20];
        let mut bytes = b"\x0a\x80\x80\xc0\x04".to_vec();
        bytes.extend_from_slice(&long);
        bytes.extend_from_slice(b"\x10\x05\x1a\x02hi");
        let content = content(&bytes);
        let mut stream = Stream::of(&content, 0, bytes.len() as u64).expect("a stream");
        let mut next = || stream.next().ok().flatten();
        let first = next().expect("a part");
        assert_eq!((first.number, first.start, first.len()), (1, 5, 9 << 20));
        assert_eq!(next().map(|p| p.varint), Some(Some(5)));
        let last = next().expect("a part");
        assert_eq!(next(), None);
        assert_eq!(stream.bytes(last.start, last.end).expect("bytes"), b"hi");
        assert_eq!(stream.bytes(5, 7).expect("bytes"), [7, 7]);
    }

    #[test]
    fn the_last_part_of_a_cut_message_is_cut() {
        let bytes = b"\x08\x01\x12\x05abc";
        for len in 3..=7 {
            let content = content(&bytes[..len]);
            let mut stream = Stream::of(&content, 0, len as u64).expect("a stream").cut(true);
            assert!(matches!(stream.next(), Ok(Some(_))));
            let last = stream.next().ok().flatten().map(|p| (p.start, p.end, p.is_cut));
            // The key alone tells nothing.
            assert_eq!(last, (len > 3).then_some((4, len as u64, true)), "{len}");
            assert!(matches!(stream.next(), Ok(None)));
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_a_fault() {
        let content = content(b"\x08\x01\x12\x05abc");
        let mut stream = Stream::of(&content, 0, 7).expect("a stream");
        assert!(stream.next().is_ok());
        match stream.next() {
            Err(Failure::Wire(fault)) => {
                assert_eq!(fault, Fault { bad: Bad::Ends { wanted: 5, left: 3 }, at: 2 });
            }
            _ => panic!("a fault is expected"),
        }
    }
}

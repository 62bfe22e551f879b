//! Converts typed events to the records of [`crate::trace`], and their args to text.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use super::args::{Args, push_text};
use crate::arrange::Sorter;
use crate::build::BuildOptions;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::source::Content;
use crate::trace::*;

/// Number of bytes of text that are written at a time.
const BUFFER: usize = 1 << 20;
/// Number of records that are passed on at a time.
const BATCH: usize = 1 << 14;
/// Maximum length of the property of a process or thread, in bytes.
const MAX_META: usize = 16 << 10;

/// The time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// A start and a duration in ns.
    Whole(i64, i64),
    /// A start in ns; the end is missing.
    Open(i64),
    /// An instant in ns.
    At(i64),
}

/// An input whose events were converted.
pub struct TypedRead {
    /// The args of all events, and the values of the trace.
    pub content: Content,
    /// What is known of the whole trace.
    pub document: Document,
    /// Interned texts.
    pub texts: Texts,
    /// Tracks.
    pub tracks: Tracks,
    /// The records of events.
    pub records: Sorter,
    /// The records of begin and end events; empty, because readers give whole spans.
    pub pairs: Sorter,
}

/// Receives the events of an input in the order of the input.
pub struct TypedWriter<'a> {
    name: &'a str,
    scratch: &'a Path,
    progress: &'a Progress,
    texts: Texts,
    tracks: Tracks,
    by_track: FxHashMap<Track, u32>,
    records: Sorter,
    pairs: Sorter,
    batch: Vec<EventRecord>,
    document: Document,
    file: File,
    text: Vec<u8>,
    /// Offset of the first byte of `text` in the file.
    base: u64,
}

impl<'a> TypedWriter<'a> {
    /// Creates a writer for an input of `format`, which has `bytes` bytes. `name` is the name of
    /// the input in messages, and `scratch` a folder for temporary files.
    pub fn new(
        name: &'a str,
        format: &'static str,
        bytes: u64,
        scratch: &'a Path,
        options: &BuildOptions,
        progress: &'a Progress,
    ) -> Result<Self> {
        let sorter = |order, budget| Sorter::new(order, scratch, budget, options.threads);
        Ok(Self {
            name,
            scratch,
            progress,
            texts: Texts::default(),
            tracks: Tracks::default(),
            by_track: FxHashMap::default(),
            records: sorter(EventRecord::row_order, options.memory_limit / 4),
            pairs: sorter(EventRecord::pairing_order, options.memory_limit / 8),
            batch: Vec::with_capacity(BATCH),
            document: Document::converted(format, bytes),
            file: tempfile::tempfile_in(scratch).map_err(|e| IngestError::io(scratch, e))?,
            text: Vec::with_capacity(BUFFER + (BUFFER >> 2)),
            base: 0,
        })
    }

    /// Returns the id of a text.
    pub fn intern(&self, text: &str) -> TextId {
        self.texts.intern(text)
    }

    /// Returns the id of a text that distinguishes tracks.
    pub fn intern_always(&self, text: &str) -> TextId {
        self.texts.intern_always(text)
    }

    /// Returns the number of a track.
    pub fn track(&mut self, track: Track) -> u32 {
        match self.by_track.get(&track) {
            Some(&no) => no,
            None => {
                let no = self.tracks.intern(track);
                self.by_track.insert(track, no);
                no
            }
        }
    }

    /// Returns the number of elements so far, which is the position of the next one.
    pub fn elements(&self) -> u64 {
        self.document.elements
    }

    /// Sets a property of a process or thread.
    pub fn property(&mut self, kind: MetaKind, pid: Id, tid: Id, value: &str) {
        let value = value[..value.floor_char_boundary(MAX_META)].to_owned();
        let ord = self.document.elements as u32;
        self.document.metas.insert((kind, pid, tid), Meta { ord, value });
    }

    /// Counts an issue of the next element, or of none if `is_of_element` is not set.
    pub fn issue(&mut self, code: Code, is_of_element: bool, example: &[u8]) {
        let id = is_of_element.then_some(self.document.elements);
        // The order of issues is that of their places.
        let at = self.base + self.text.len() as u64;
        self.document.issues.add(code, id, Some(at), example);
    }

    /// Sets the detail of an issue.
    pub fn detail(&mut self, code: Code, detail: String) {
        self.document.issues.detail(code, detail);
    }

    /// Counts an element that has no row.
    pub fn skip(&mut self, code: Code, example: &[u8]) -> Result<()> {
        self.issue(code, true, example);
        self.count()
    }

    /// Returns the times of an element with a start and an end. An element without a usable start is
    /// counted as skipped.
    pub fn times(&mut self, start: Option<i64>, end: Option<i64>) -> Result<Option<Times>> {
        let Some(start) = start else {
            self.skip(Code::NoTimestamp, b"")?;
            return Ok(None);
        };
        if start == NO_TIME {
            self.skip(Code::TimestampRange, b"")?;
            return Ok(None);
        }
        let Some(end) = end else { return Ok(Some(Times::Open(start))) };
        match end.checked_sub(start).filter(|dur| *dur != NO_TIME) {
            Some(dur) => {
                if dur < 0 {
                    self.issue(Code::NegativeDuration, true, b"");
                }
                Ok(Some(Times::Whole(start, dur)))
            }
            None => {
                self.issue(Code::EndOverflow, true, b"");
                Ok(Some(Times::At(start)))
            }
        }
    }

    /// Adds an event. `record` has its phase, category, name, track, class, link and flags; its
    /// times, its position and the place of its args are set here. `name` is the text of its name,
    /// for names that are too long to be interned.
    pub fn push(
        &mut self,
        mut record: EventRecord,
        times: Times,
        name: &str,
        args: &Args,
    ) -> Result<()> {
        (record.ts, record.dur) = match times {
            Times::Whole(ts, dur) => (ts, dur),
            Times::Open(ts) => {
                record.ph = b'B';
                record.flags |= OPEN;
                self.issue(Code::UnmatchedBegin, true, b"");
                (ts, NO_TIME)
            }
            Times::At(ts) => (ts, NO_TIME),
        };
        record.ord = self.document.elements as u32;
        record.offset = self.base + self.text.len() as u64;
        if record.name == INLINE_TEXT {
            self.text.extend_from_slice(b"{\"name\":");
            push_text(&mut self.text, name);
            self.text.extend_from_slice(b",\"args\":");
        } else {
            self.text.push(b'\n');
        }
        record.args = 0;
        if !args.is_empty() {
            record.args = (self.base + self.text.len() as u64 - record.offset) as u32;
            self.text.push(b'{');
            self.text.extend_from_slice(args.members());
            self.text.push(b'}');
        } else if record.name == INLINE_TEXT {
            self.text.extend_from_slice(b"null");
        }
        if record.name == INLINE_TEXT {
            self.text.push(b'}');
        }
        if self.text.len() >= BUFFER {
            self.flush_text()?;
        }
        let document = &mut self.document;
        document.launches += usize::from(record.class().is_launch());
        if !matches!(record.ph, b'M' | b's' | b't' | b'f') {
            let end = record.ts.saturating_add(record.dur.max(0));
            document.times.note(record.ts, end, record.ord, record.offset);
        }
        let no = record.track as usize;
        if no >= document.on_track.len() {
            document.on_track.resize(no + 1, false);
        }
        document.on_track[no] = true;
        self.batch.push(record);
        if self.batch.len() == BATCH {
            self.flush_records()?;
        }
        self.count()
    }

    /// Adds a step that the event before this call is.
    pub fn step(&mut self, number: i64, pid: Id, name: TextId) {
        let Some(record) = self.batch.last() else { return };
        let step = Step {
            number,
            ord: record.ord,
            name,
            pid,
            track: record.track,
            ts: record.ts,
            end: record.end(),
        };
        self.document.steps.push(step);
    }

    /// Adds a value of the whole trace, as a top-level key of a JSON trace would.
    pub fn value(&mut self, key: &str, json: &[u8]) -> Result<()> {
        let start = self.base + self.text.len() as u64;
        self.text.extend_from_slice(json);
        let end = self.base + self.text.len() as u64;
        self.document.top.push(TopLevel { key: key.as_bytes().to_vec(), start, end });
        if self.text.len() >= BUFFER { self.flush_text() } else { Ok(()) }
    }

    fn count(&mut self) -> Result<()> {
        self.document.elements += 1;
        if self.document.elements >= u64::from(u32::MAX) {
            return Err(IngestError::input(
                self.name,
                "more than 4,294,967,294 events in one trace are not supported; split it",
            ));
        }
        Ok(())
    }

    fn flush_text(&mut self) -> Result<()> {
        self.file.write_all(&self.text).map_err(|e| IngestError::io(self.scratch, e))?;
        self.base += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    fn flush_records(&mut self) -> Result<()> {
        self.progress.go_on()?;
        self.progress.elements.store(self.document.elements, Ordering::Relaxed);
        // A step refers to the record before it, so the last one stays.
        let last = self.batch.pop();
        self.records.push(&self.batch)?;
        self.batch.clear();
        self.batch.extend(last);
        Ok(())
    }

    /// Completes the input. `issues` are those of unpacking it. Fails if there are elements and
    /// each of them was skipped.
    pub fn finish(mut self, issues: Issues) -> Result<TypedRead> {
        self.document.issues.merge(issues);
        let (elements, skipped) = (self.document.elements, self.document.issues.skipped());
        if elements == 0 {
            self.document.issues.add(Code::EmptyTrace, None, None, b"");
        } else if skipped >= elements {
            let reason = format!(
                "none of its {elements} records can be placed in time ({})",
                self.document.issues.summary()
            );
            return Err(IngestError::input(self.name, reason));
        }
        self.flush_text()?;
        self.records.push(&self.batch)?;
        self.document.text_bytes = self.base;
        let content = Content::of_copy(self.file, self.scratch, Issues::default())?;
        Ok(TypedRead {
            content,
            document: self.document,
            texts: self.texts,
            tracks: self.tracks,
            records: self.records,
            pairs: self.pairs,
        })
    }
}

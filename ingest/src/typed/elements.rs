//! The elements of a binary format, one after the other.

use std::path::Path;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use super::spool::Spool;
use super::{Typed, TypedFacts};
use crate::arrange::{FlowPoint, NO_ROW, Runs};
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::trace::*;

/// Number of records that are passed on at a time.
const BATCH: usize = 4096;
/// Maximum number of texts whose ids are cached.
const MAX_CACHED: usize = 1 << 18;

/// An element.
pub struct TypedElement<'e> {
    /// Phase of the Chrome trace format.
    pub ph: u8,
    /// Class.
    pub class: Class,
    /// Start, ns.
    pub ts: i64,
    /// Duration of a complete event, ns; [`NO_TIME`] if there is none.
    pub dur: i64,
    /// Track number.
    pub track: u32,
    /// Name, as the id of an interned text.
    pub name: TextId,
    /// The text of the name, for names that are too long to be interned.
    pub long_name: &'e str,
    /// Category, as the id of an interned text.
    pub cat: TextId,
    /// Correlation of launches and device work, id of flow elements, or [`NO_LINK`].
    pub link: i64,
    /// Flags of [`EventRecord`].
    pub flags: u16,
    /// Offset of the element in the input.
    pub offset: u64,
    /// Args, a JSON object; empty if there are none.
    pub args: &'e [u8],
    /// Other members of the element as JSON (`"id":7`), without brackets.
    pub members: &'e [u8],
}

impl Default for TypedElement<'_> {
    fn default() -> Self {
        Self {
            ph: b'X',
            class: Class::Other,
            ts: 0,
            dur: NO_TIME,
            track: 0,
            name: NO_TEXT,
            long_name: "",
            cat: NO_TEXT,
            link: NO_LINK,
            flags: 0,
            offset: 0,
            args: b"",
            members: b"",
        }
    }
}

/// Collects the elements of an input.
pub struct TypedElements<'a> {
    /// Issues of elements and of the input, with offsets in the input.
    pub issues: Issues,
    /// Properties of the trace.
    pub facts: TypedFacts,
    reading: &'a Reading<'a>,
    records: &'a mut dyn RecordSink,
    pairs: &'a mut dyn RecordSink,
    document: Document,
    spool: Spool,
    flow_points: Runs<FlowPoint>,
    end_points: Vec<FlowPoint>,
    text_ids: FxHashMap<Box<str>, TextId>,
    batch: Vec<EventRecord>,
    pair_batch: Vec<EventRecord>,
    buffer: Vec<u8>,
    /// Offset of the last element's text in the spool.
    last_place: u64,
}

impl<'a> TypedElements<'a> {
    /// Creates an empty list. Temporary files are in `folder`; flows take about `budget` bytes of
    /// memory.
    pub fn new(
        reading: &'a Reading<'a>,
        records: &'a mut dyn RecordSink,
        pairs: &'a mut dyn RecordSink,
        folder: &Path,
        budget: usize,
    ) -> Result<Self> {
        Ok(Self {
            issues: Issues::default(),
            facts: TypedFacts::default(),
            reading,
            records,
            pairs,
            document: Document::empty(),
            spool: Spool::new(folder)?,
            flow_points: Runs::new(FlowPoint::order, folder, budget),
            end_points: Vec::new(),
            text_ids: FxHashMap::default(),
            batch: Vec::with_capacity(BATCH),
            pair_batch: Vec::new(),
            buffer: Vec::new(),
            last_place: 0,
        })
    }

    /// Number of elements so far, which is the position of the next one.
    pub fn count(&self) -> u64 {
        self.document.elements
    }

    /// Returns the id of a text, or [`INLINE_TEXT`] if it is too long to be interned.
    #[inline]
    pub fn text(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.text_ids.get(text) {
            return id;
        }
        let id = self.reading.texts.intern(text);
        if id != INLINE_TEXT && self.text_ids.len() < MAX_CACHED {
            self.text_ids.insert(text.into(), id);
        }
        id
    }

    /// Returns the id of a text that must be interned, because it distinguishes tracks.
    pub fn short_text(&mut self, text: &str) -> TextId {
        match self.text(text) {
            INLINE_TEXT => {
                self.reading.texts.intern_always(&text[..text.floor_char_boundary(1024)])
            }
            id => id,
        }
    }

    /// Returns the number of a track.
    pub fn track(&self, track: Track) -> u32 {
        self.reading.tracks.intern(track)
    }

    /// Returns the process and thread of a track of a thread.
    pub fn thread_of(&self, track: u32) -> Option<(Id, Id)> {
        match self.reading.tracks.get(track)? {
            Track::Thread { pid, tid } => Some((pid, tid)),
            _ => None,
        }
    }

    /// Sets a property of a process or thread.
    pub fn meta(&mut self, kind: MetaKind, pid: Id, tid: Id, value: &str) {
        let value = value[..value.floor_char_boundary(MAX_META)].to_owned();
        let ord = self.document.elements as u32;
        self.document.metas.insert((kind, pid, tid), Meta { ord, value });
    }

    /// Adds an element and returns its position in the event list.
    pub fn push(&mut self, e: TypedElement<'_>) -> Result<u32> {
        let ord = self.next()?;
        let mut record = EventRecord {
            ts: e.ts,
            dur: e.dur,
            offset: 0,
            link: e.link,
            ord,
            track: e.track,
            name: e.name,
            cat: e.cat,
            args: 0,
            ph: e.ph,
            class: e.class.code(),
            flags: e.flags,
        };
        self.spool(&e, &mut record)?;
        let document = &mut self.document;
        document.launches += usize::from(e.class.is_launch());
        if e.ts != NO_TIME && is_work(e.ph) {
            let end = e.ts.saturating_add(e.dur.max(0));
            document.times.note(e.ts, end, ord, record.offset);
        }
        let no = e.track as usize;
        if no >= document.on_track.len() {
            document.on_track.resize(no + 1, false);
        }
        document.on_track[no] = true;
        let (batch, sink) = match e.ph {
            b'B' | b'E' | b'b' | b'e' => (&mut self.pair_batch, &mut self.pairs),
            _ => (&mut self.batch, &mut self.records),
        };
        batch.push(record);
        if batch.len() >= BATCH {
            sink.push(batch)?;
            batch.clear();
        }
        Ok(ord)
    }

    /// Writes the text of an element to the spool.
    fn spool(&mut self, e: &TypedElement<'_>, record: &mut EventRecord) -> Result<()> {
        let text = &mut self.buffer;
        text.clear();
        text.push(b'{');
        if e.name == INLINE_TEXT {
            let name = &e.long_name[..e.long_name.floor_char_boundary(MAX_NAME)];
            if name.len() < e.long_name.len() {
                self.issues.add(Code::StringCut, Some(record.ord.into()), Some(e.offset), b"");
            }
            let mut json = super::JsonText::default();
            json.key("name");
            json.text(name);
            text.extend_from_slice(json.bytes());
        }
        if !e.members.is_empty() {
            if text.len() > 1 {
                text.push(b',');
            }
            text.extend_from_slice(e.members);
            record.flags |= WHOLE;
        }
        if !e.args.is_empty() {
            if text.len() > 1 {
                text.push(b',');
            }
            text.extend_from_slice(b"\"args\":");
            record.args = text.len() as u32;
            text.extend_from_slice(e.args);
        }
        text.push(b'}');
        if e.args.len() > MAX_ARGS {
            record.flags |= LONG_ARGS;
            self.issues.add(Code::ArgsCut, Some(record.ord.into()), Some(e.offset), b"");
        }
        record.offset = self.spool.push(e.offset, text)?;
        self.last_place = record.offset;
        Ok(())
    }

    fn next(&mut self) -> Result<u32> {
        let ord = self.document.elements;
        if ord >= u64::from(u32::MAX) - 1 {
            return Err(IngestError::input(
                self.reading.name,
                "more than 4,294,967,294 events in one trace are not supported; split it",
            ));
        }
        self.document.elements += 1;
        if ord.is_multiple_of(1 << 16) {
            self.reading.progress.go_on()?;
            self.reading.progress.elements.store(ord, Ordering::Relaxed);
        }
        Ok(ord as u32)
    }

    /// Counts an element that has no row.
    pub fn skip(&mut self, code: Code, offset: u64, example: &[u8]) -> Result<()> {
        let ord = self.next()?;
        self.issues.add(code, Some(ord.into()), Some(offset), example);
        Ok(())
    }

    /// Counts an issue of the next element.
    pub fn issue(&mut self, code: Code, offset: u64, example: &[u8]) {
        self.issues.add(code, Some(self.document.elements), Some(offset), example);
    }

    /// Adds a start (`s`), step (`t`) or end (`f`, or `F` for the last one) of a flow to the event
    /// that was added last.
    pub fn flow(&mut self, point: FlowPoint) -> Result<()> {
        self.flow_points.push(FlowPoint { offset: self.last_place, ..point })
    }

    /// Adds a point of a flow to the end event that was added last. The begin event becomes its
    /// event.
    pub fn flow_at_end(&mut self, point: FlowPoint) {
        self.end_points.push(FlowPoint { offset: self.last_place, slice: NO_ROW, ..point });
    }

    /// Adds a step.
    pub fn step(&mut self, step: Step) {
        self.document.steps.push(step);
    }

    /// Completes the list.
    pub fn finish(self) -> Result<Typed> {
        self.records.push(&self.batch)?;
        self.pairs.push(&self.pair_batch)?;
        let mut document = self.document;
        document.text_bytes = self.spool.len();
        self.reading.progress.elements.store(document.elements, Ordering::Relaxed);
        Ok(Typed {
            document,
            spool: self.spool.finish()?,
            facts: self.facts,
            flow_points: self.flow_points,
            end_points: self.end_points,
            issues: self.issues,
        })
    }
}

//! Reads the document that contains the event list.

use std::sync::atomic::Ordering;

use super::chunk::{Chunk, Step};
use super::event_list::{ChunkSink, ListEnd, read_list};
use super::event_record::EventRecord;
use super::meta::{Meta, Metas};
use super::reading::{Reading, STRETCH, TAIL};
use super::times::WorkTimes;
use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json::{Bad, Cursor};
use crate::source::refuse_by_content;

/// Maximum number of top-level keys that are read.
const MAX_KEYS: usize = 10_000;
/// Maximum length of a top-level key that is read, in bytes.
const MAX_KEY_BYTES: u64 = 1 << 20;

/// Receives the records of elements in file order.
pub trait RecordSink {
    /// Adds records.
    fn push(&mut self, records: &[EventRecord]) -> Result<()>;
}

/// The form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An object with `traceEvents`.
    Object,
    /// A bare list of events.
    Array,
    /// An object with MLLM's `memory_blobs` or `op_blobs`.
    Blobs,
}

/// A top-level key and the position of its value.
#[derive(Debug, Clone)]
pub struct TopLevel {
    /// The key, still escaped.
    pub key: Vec<u8>,
    /// Offset of the first byte of the value.
    pub start: u64,
    /// Offset of the byte after the value.
    pub end: u64,
}

/// Properties of an input that was converted from another format than JSON.
#[derive(Debug, Clone, Copy)]
pub struct Converted {
    /// The value of `traces.format`.
    pub format: &'static str,
    /// Length of the input in bytes after unpacking.
    pub bytes: u64,
}

/// The results of reading a document, other than the records of elements.
pub struct Document {
    /// Set if the text was converted from another format.
    pub converted: Option<Converted>,
    /// The form of the document.
    pub form: Form,
    /// Top-level keys other than the event list, in order.
    pub top: Vec<TopLevel>,
    /// Number of elements in the event list, including skipped ones.
    pub elements: u64,
    /// Length of the text in bytes.
    pub text_bytes: u64,
    /// Names and sort orders of processes and threads.
    pub metas: Metas,
    /// Whether a track has elements, by track number. Chunks that were read from a wrong position
    /// may have registered tracks without elements.
    pub on_track: Vec<bool>,
    /// Steps, in file order.
    pub steps: Vec<Step>,
    /// Number of launches of device work.
    pub launches: usize,
    /// Start and end of the trace's work.
    pub times: WorkTimes,
    /// Issues that were found.
    pub issues: Issues,
}

impl Document {
    /// Creates a document without elements and top-level keys.
    pub fn empty() -> Self {
        Self {
            converted: None,
            form: Form::Object,
            top: Vec::new(),
            elements: 0,
            text_bytes: 0,
            metas: Metas::default(),
            on_track: Vec::new(),
            steps: Vec::new(),
            launches: 0,
            times: WorkTimes::default(),
            issues: Issues::default(),
        }
    }

    /// Creates the empty document of an input of `bytes` bytes that is converted from `format`.
    pub fn converted(format: &'static str, bytes: u64) -> Self {
        Self { converted: Some(Converted { format, bytes }), ..Self::empty() }
    }

    /// Length of the input in bytes after unpacking.
    pub fn input_bytes(&self) -> u64 {
        self.converted.map_or(self.text_bytes, |converted| converted.bytes)
    }
}

/// Reads a document. The records of begin and end events are added to `pairs`, all other records to
/// `records`.
pub fn read_document(
    reading: &Reading<'_>,
    records: &mut dyn RecordSink,
    pairs: &mut dyn RecordSink,
) -> Result<Document> {
    let document = Document::empty();
    let mut reader = DocumentReader { r: reading, document, records, pairs, lists: 0 };
    let outcome = reader.run();
    if outcome.is_err() {
        reading.content.abandon();
    }
    outcome?;
    let mut document = reader.document;
    document.text_bytes = reading.content.wait(u64::MAX)?.0;
    document.issues.merge(reading.content.issues());
    if document.form != Form::Blobs {
        refuse_if_no_events(reading, &mut document)?;
    }
    Ok(document)
}

fn refuse_if_no_events(reading: &Reading<'_>, document: &mut Document) -> Result<()> {
    let skipped = document.issues.skipped();
    if document.elements > 0 && skipped >= document.elements {
        let none = match document.elements {
            1 => "the only element of its list is not a trace event".to_owned(),
            all => format!("none of the {all} elements of its list is a trace event"),
        };
        let reason = format!("{none} ({})", document.issues.summary());
        return Err(IngestError::not_a_trace(reading.name, reason, 0));
    }
    if document.elements == 0 && document.form == Form::Object {
        if document.issues.count(Code::TruncatedInput)
            + document.issues.count(Code::DamagedCompression)
            > 0
        {
            return Err(IngestError::input_at(
                reading.name,
                "the input ends before any event",
                document.text_bytes,
            ));
        }
        document.issues.add(Code::EmptyTrace, None, None, b"");
    }
    Ok(())
}

/// The state while a document is being read.
struct DocumentReader<'a, 'r> {
    r: &'a Reading<'a>,
    document: Document,
    records: &'r mut dyn RecordSink,
    pairs: &'r mut dyn RecordSink,
    lists: usize,
}

impl ChunkSink for DocumentReader<'_, '_> {
    fn accept(&mut self, mut chunk: Chunk) -> Result<Vec<EventRecord>> {
        let document = &mut self.document;
        let base = document.elements;
        if base + chunk.elements as u64 >= u32::MAX as u64 {
            return Err(IngestError::input(
                self.r.name,
                "more than 4,294,967,294 events in one trace are not supported; split it",
            ));
        }
        chunk.rebase(base as u32);
        document.elements += chunk.elements as u64;
        self.r.progress.elements.store(document.elements, Ordering::Relaxed);
        document.issues.merge(chunk.issues);
        document.launches += chunk.launches;
        document.steps.append(&mut chunk.steps);
        for (property, meta) in chunk.metas {
            let old = document
                .metas
                .entry(property)
                .or_insert_with(|| Meta { ord: meta.ord, value: String::new() });
            if meta.ord >= old.ord {
                *old = meta;
            }
        }
        document.times.merge(&chunk.times);
        for record in chunk.records.iter().chain(&chunk.pairs) {
            let no = record.track as usize;
            if no >= document.on_track.len() {
                document.on_track.resize(no + 1, false);
            }
            document.on_track[no] = true;
        }
        self.records.push(&chunk.records)?;
        self.pairs.push(&chunk.pairs)?;
        chunk.records.clear();
        Ok(chunk.records)
    }

    fn issue(&mut self, code: Code, at: u64, example: &[u8]) {
        let id = self.document.elements;
        self.document.issues.add(code, Some(id), Some(at), example);
        self.document.elements += u64::from(code.skips());
    }
}

impl DocumentReader<'_, '_> {
    fn refuse<T>(&self, reason: impl Into<String>, at: u64) -> Result<T> {
        Err(IngestError::input_at(self.r.name, reason, at))
    }

    fn other<T>(&self, reason: impl Into<String>, at: u64) -> Result<T> {
        Err(IngestError::not_a_trace(self.r.name, reason, at))
    }

    fn run(&mut self) -> Result<()> {
        let (len, _) = self.r.content.wait(TAIL)?;
        let head = self.r.content.map(0, len.min(TAIL))?;
        if len == 0 {
            return self.refuse("the file is empty", 0);
        }
        if let Some((reason, at)) = refuse_by_content(&head) {
            return self.other(reason, at);
        }
        let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        match self.next_token(start)? {
            Some((at, b'{')) => self.object(at + 1),
            Some((at, b'[')) => self.array(at + 1),
            Some((at, _)) => self.other(
                "a trace is a JSON object with `traceEvents` or a list of events; this is neither",
                at,
            ),
            None => self.refuse("there is no JSON value in the file", start),
        }
    }

    /// Returns the next byte that is not white space, and its position.
    fn next_token(&self, mut at: u64) -> Result<Option<(u64, u8)>> {
        loop {
            let (len, _) = self.r.content.wait(at + 1)?;
            if at >= len {
                return Ok(None);
            }
            let window = self.r.content.map(at, len.min(at + STRETCH))?;
            match window.iter().position(|b| !matches!(b, b' ' | b'\n' | b'\t' | b'\r')) {
                Some(i) => return Ok(Some((at + i as u64, window[i]))),
                None => at += window.len() as u64,
            }
        }
    }

    /// Returns the end of the value that begins at `at`, or an error of the cursor, for instance if
    /// the text ends within the value.
    fn value_end(&self, at: u64) -> Result<Result<u64, Bad>> {
        let mut want = TAIL;
        loop {
            let (len, done) = self.r.content.wait(at + want)?;
            let window = self.r.content.map(at, len.min(at + want))?;
            let mut c = Cursor::new(&window, 0);
            match c.value() {
                Ok(_) => return Ok(Ok(at + c.pos as u64)),
                Err(Bad::End) if !(done && at + want >= len) => want *= 4,
                Err(bad) => return Ok(Err(bad)),
            }
        }
    }

    fn array(&mut self, at: u64) -> Result<()> {
        self.document.form = Form::Array;
        match self.next_token(at)? {
            None | Some((_, b'{' | b']')) => {}
            Some((at, _)) => return self.other("a list, but not of trace events", at),
        }
        match read_list(self.r, at, self)? {
            ListEnd::Closed(end) => self.trailing(end),
            ListEnd::Eof { cut: None, .. } => Ok(()),
            ListEnd::Eof { cut: Some(from), len } => self.truncated(from, len),
        }
    }

    fn truncated(&mut self, from: u64, len: u64) -> Result<()> {
        self.document.issues.add(Code::TruncatedInput, None, Some(from), b"");
        let lost = len - from;
        let were = if lost == 1 { "was" } else { "were" };
        self.document.issues.detail(
            Code::TruncatedInput,
            format!("{} after the last whole element {were} lost", counted(lost, "byte")),
        );
        Ok(())
    }

    fn trailing(&mut self, end: u64) -> Result<()> {
        if let Some((at, _)) = self.next_token(end)? {
            let (len, _) = self.r.content.wait(u64::MAX)?;
            let example = self.r.content.map(at, len.min(at + 60))?;
            self.document.issues.add(Code::TrailingData, None, Some(at), &example);
            self.document.issues.detail(
                Code::TrailingData,
                format!("{} after the document", counted(len - at, "byte")),
            );
        }
        Ok(())
    }

    fn object(&mut self, mut at: u64) -> Result<()> {
        let mut bad_list = None;
        loop {
            let Some((key_at, token)) = self.next_token(at)? else { return self.object_cut(at) };
            at = match token {
                b',' => {
                    at = key_at + 1;
                    continue;
                }
                b'}' => {
                    self.object_end(bad_list)?;
                    return self.trailing(key_at + 1);
                }
                b'"' => key_at,
                _ => return self.object_broken(key_at, "a key in quotes is expected"),
            };
            let key_end = match self.value_end(at)? {
                Ok(end) => end,
                Err(_) => return self.object_cut(at),
            };
            if key_end - at > MAX_KEY_BYTES || self.document.top.len() == MAX_KEYS {
                return self.too_much(at);
            }
            let key = self.r.content.map(at + 1, key_end - 1)?.to_vec();
            match self.next_token(key_end)? {
                Some((colon, b':')) => at = colon + 1,
                Some((other, _)) => {
                    return self.object_broken(other, "a colon is expected after a key");
                }
                None => return self.object_cut(key_end),
            }
            let Some((value, first)) = self.next_token(at)? else { return self.object_cut(at) };
            if key == b"traceEvents" && first == b'[' {
                self.lists += 1;
                if self.lists > 1 {
                    self.document.issues.add(Code::RepeatedEventList, None, Some(value), b"");
                }
                match read_list(self.r, value + 1, self)? {
                    ListEnd::Closed(end) => at = end,
                    ListEnd::Eof { cut, len } => return self.truncated(cut.unwrap_or(len), len),
                }
                continue;
            }
            if key == b"traceEvents" {
                let what = match first {
                    b'{' => "an object",
                    b'"' => "text",
                    b'n' => "null",
                    _ => "not a list",
                };
                bad_list = Some((what, value));
            }
            at = match self.value_end(value)? {
                Ok(end) => end,
                Err(Bad::End) => {
                    if matches!(&key[..], b"memory_blobs" | b"op_blobs") && first == b'[' {
                        let (len, _) = self.r.content.wait(u64::MAX)?;
                        self.document.top.push(TopLevel { key, start: value, end: len });
                    }
                    return self.object_cut(value);
                }
                Err(Bad::Deep) => {
                    return self.object_broken(value, "a value nests deeper than 512 levels");
                }
                Err(Bad::Syntax(i)) => {
                    return self.object_broken(value + i as u64, "this is not JSON");
                }
            };
            self.document.top.push(TopLevel { key, start: value, end: at });
        }
    }

    /// Handles a text that ends inside the top-level object.
    fn object_cut(&mut self, at: u64) -> Result<()> {
        let (len, _) = self.r.content.wait(u64::MAX)?;
        if self.lists == 0 && !self.has_blobs() {
            if self.document.top.is_empty() || len < STRETCH {
                return self.refuse("the input ends before any event", len);
            }
            return self.object_end(None);
        }
        if self.lists == 0 {
            self.document.form = Form::Blobs;
        }
        self.truncated(at.min(len), len)
    }

    /// Handles a top-level object with more keys or longer keys than any trace has. The content
    /// before this point is kept.
    fn too_much(&mut self, at: u64) -> Result<()> {
        if self.lists == 0 {
            let reason = "this is a JSON object with more than 10,000 keys or one longer than \
                          1 MiB before any `traceEvents`, not a trace";
            return self.other(reason, at);
        }
        self.object_broken(at, "there are more than 10,000 keys, or one is longer than 1 MiB")
    }

    /// Handles a top-level object that cannot be read any further. The content before this point is
    /// kept.
    fn object_broken(&mut self, at: u64, expected: &str) -> Result<()> {
        if self.lists == 0 {
            return self.refuse(format!("not JSON: {expected}"), at);
        }
        let (len, _) = self.r.content.wait(u64::MAX)?;
        let example = self.r.content.map(at, len.min(at + 60))?;
        self.document.issues.add(Code::TopLevelValue, None, Some(at), &example);
        self.document.issues.detail(
            Code::TopLevelValue,
            format!("{expected}; not read after the events: {}", counted(len - at, "byte")),
        );
        Ok(())
    }

    fn has(&self, key: &str) -> bool {
        self.document.top.iter().any(|t| t.key == key.as_bytes())
    }

    fn has_blobs(&self) -> bool {
        self.has("memory_blobs") || self.has("op_blobs")
    }

    fn object_end(&mut self, bad_list: Option<(&str, u64)>) -> Result<()> {
        if self.lists > 0 {
            if self.has_blobs() {
                self.document.issues.add(Code::MixedFormats, None, None, b"");
            }
            return Ok(());
        }
        if let Some((what, at)) = bad_list {
            return self.refuse(format!("`traceEvents` is {what}, not a list"), at);
        }
        if self.has_blobs() {
            self.document.form = Form::Blobs;
            return Ok(());
        }
        let what = if self.has("nodes") && self.has("schema") {
            "like a PyTorch execution trace, but its `nodes` are not a list of nodes"
        } else if self.has("nodes") && self.has("samples") {
            "a V8 CPU profile, not a trace"
        } else if self.has("segments") || self.has("device_traces") {
            "a PyTorch memory snapshot as JSON; give the pickle that it was made from"
        } else if self.has("rocprofiler-sdk-tool") {
            "rocprofiler-sdk output whose first key is not `rocprofiler-sdk-tool`; give the file as \
             rocprofv3 wrote it"
        } else if self.has("$schema") && self.has("shared") {
            "like a speedscope profile, but it has no `profiles`"
        } else if ["NvtxEvent", "CudaEvent", "TraceProcessEvent"].iter().any(|key| self.has(key)) {
            "JSON lines of Nsight Systems; export the report with `nsys export --type sqlite`"
        } else if self.has("ph") {
            "one event a line without a list around them; put them in `[` … `]`"
        } else if self.has("TraceEvents") {
            "an object with `TraceEvents`; the key must be `traceEvents`"
        } else {
            "a JSON object without `traceEvents` (or MLLM's `memory_blobs`), not a trace"
        };
        self.other(format!("this is {what}"), 0)
    }
}

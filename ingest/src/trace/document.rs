//! Reading the document around the event list, and the list itself on all cores.
//!
//! The list is divided at places that look like the start of an element. A stretch is trusted only when the stretch
//! before it was read to exactly that place, so a wrong guess costs time, never a row, and the result does not depend
//! on how the text was divided.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::chunk::{self, Chunk, End, MAX_ELEMENT, Meta, Metas, Step};
use super::frame::{find_element, find_last_element};
use super::intern::{Local, Texts, Tracks};
use super::key::Key;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json::{Bad, Cursor};
use crate::order::Sorter;
use crate::source::{Content, refuse_by_content};

const STRETCH: u64 = 4 << 20;
const TAIL: u64 = 64 << 10;

/// How far reading has come; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of text read.
    pub bytes: AtomicU64,
    /// Elements read.
    pub elements: AtomicU64,
    /// Rows written.
    pub rows: AtomicU64,
}

/// Where and with what a trace is read.
pub struct Reading<'a> {
    /// The input as messages name it.
    pub name: &'a str,
    /// Its text.
    pub content: &'a Content,
    /// Texts of the trace.
    pub texts: &'a Texts,
    /// Tracks of the trace.
    pub tracks: &'a Tracks,
    /// Number of decoding threads.
    pub threads: usize,
    /// Shared with whoever shows how far reading has come.
    pub progress: &'a Progress,
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

/// A top-level key and where its value lies.
#[derive(Debug, Clone)]
pub struct TopLevel {
    /// The key, still escaped.
    pub key: Vec<u8>,
    /// First byte of the value.
    pub start: u64,
    /// Byte after the value.
    pub end: u64,
}

/// What was read besides keys of elements.
pub struct Document {
    /// The form of the document.
    pub form: Form,
    /// Top-level keys other than the event list, in order.
    pub top: Vec<TopLevel>,
    /// Number of elements in the event list, skipped ones included.
    pub elements: u64,
    /// Length of the text in bytes.
    pub text_bytes: u64,
    /// Names and orders of processes and threads.
    pub metas: Metas,
    /// Steps, in file order.
    pub steps: Vec<Step>,
    /// Earliest start and latest end, ns.
    pub bounds: Option<(i64, i64)>,
    /// What was odd.
    pub issues: Issues,
}

/// Reads a document; keys of elements go to `keys`, begins and ends to `pairs`.
pub fn read_document(reading: &Reading<'_>, keys: &mut Sorter, pairs: &mut Sorter) -> Result<Document> {
    let document = Document {
        form: Form::Object,
        top: Vec::new(),
        elements: 0,
        text_bytes: 0,
        metas: Metas::default(),
        steps: Vec::new(),
        bounds: None,
        issues: Issues::default(),
    };
    let mut reader = Reader { r: reading, document, keys, pairs, lists: 0, spare: None };
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
        let reason = format!("none of the {} elements of its list is a trace event ({})", document.elements, document.issues.summary());
        return Err(IngestError::not_a_trace(reading.name, reason, 0));
    }
    if document.elements == 0 && document.form == Form::Object {
        if document.issues.count(Code::TruncatedInput) + document.issues.count(Code::DamagedCompression) > 0 {
            return Err(IngestError::input_at(reading.name, "the input ends before any event", document.text_bytes));
        }
        document.issues.add(Code::EmptyTrace, None, None, b"");
    }
    Ok(())
}

struct Reader<'a, 'r> {
    r: &'a Reading<'a>,
    document: Document,
    keys: &'r mut Sorter,
    pairs: &'r mut Sorter,
    lists: usize,
    /// Takes lists of keys whose memory can be used again.
    spare: Option<Sender<Vec<Key>>>,
}

impl Reader<'_, '_> {
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
            Some((at, _)) => self.other("a trace is a JSON object with `traceEvents` or a list of events; this is neither", at),
            None => self.refuse("there is no JSON value in the file", start),
        }
    }

    /// The next byte that is not white space, and where it is.
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

    /// The end of the value that begins at `at`; `None` if the text ends within it.
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
        match self.list(at)? {
            ListEnd::Closed(end) => self.trailing(end),
            ListEnd::Eof { cut: None, .. } => Ok(()),
            ListEnd::Eof { cut: Some(from), len } => self.truncated(from, len),
        }
    }

    fn truncated(&mut self, from: u64, len: u64) -> Result<()> {
        self.document.issues.add(Code::TruncatedInput, None, Some(from), b"");
        self.document.issues.detail(Code::TruncatedInput, format!("{} bytes after the last whole element were lost", len - from));
        Ok(())
    }

    fn trailing(&mut self, end: u64) -> Result<()> {
        if let Some((at, _)) = self.next_token(end)? {
            let (len, _) = self.r.content.wait(u64::MAX)?;
            let example = self.r.content.map(at, len.min(at + 60))?;
            self.document.issues.add(Code::TrailingData, None, Some(at), &example);
            self.document.issues.detail(Code::TrailingData, format!("{} bytes after the document", len - at));
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
            let key = self.r.content.map(at + 1, key_end - 1)?.to_vec();
            match self.next_token(key_end)? {
                Some((colon, b':')) => at = colon + 1,
                Some((other, _)) => return self.object_broken(other, "a colon is expected after a key"),
                None => return self.object_cut(key_end),
            }
            let Some((value, first)) = self.next_token(at)? else { return self.object_cut(at) };
            if key == b"traceEvents" && first == b'[' {
                self.lists += 1;
                if self.lists > 1 {
                    self.document.issues.add(Code::RepeatedEventList, None, Some(value), b"");
                }
                match self.list(value + 1)? {
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
                Err(Bad::Deep) => return self.object_broken(value, "a value nests deeper than 512 levels"),
                Err(Bad::Syntax(i)) => return self.object_broken(value + i as u64, "this is not JSON"),
            };
            self.document.top.push(TopLevel { key, start: value, end: at });
        }
    }

    /// The text ends within the top-level object.
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

    /// The text of the top-level object cannot be read on; what came before is kept.
    fn object_broken(&mut self, at: u64, expected: &str) -> Result<()> {
        if self.lists == 0 {
            return self.refuse(format!("not JSON: {expected}"), at);
        }
        let (len, _) = self.r.content.wait(u64::MAX)?;
        let example = self.r.content.map(at, len.min(at + 60))?;
        self.document.issues.add(Code::TopLevelValue, None, Some(at), &example);
        self.document.issues.detail(Code::TopLevelValue, format!("{expected}; {} bytes after the events were not read", len - at));
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
            "a PyTorch execution trace (ExecutionTraceObserver), not a profiler trace; give the profiler's trace of the same run"
        } else if self.has("nodes") && self.has("samples") {
            "a V8 CPU profile, not a trace"
        } else if self.has("segments") || self.has("device_traces") {
            "a PyTorch memory snapshot, not a trace; record with torch.profiler(profile_memory=True)"
        } else if self.has("rocprofiler-sdk-tool") {
            "rocprofiler-sdk output; export it as Chrome JSON or give the PyTorch profiler's trace"
        } else if self.has("$schema") && self.has("shared") {
            "a speedscope profile, not a trace"
        } else if self.has("ph") {
            "one event a line without a list around them; put them in `[` … `]`"
        } else if self.has("TraceEvents") {
            "an object with `TraceEvents`; the key must be `traceEvents`"
        } else {
            "a JSON object without `traceEvents` (or MLLM's `memory_blobs`), not a trace"
        };
        self.other(format!("this is {what}"), 0)
    }

    fn list(&mut self, start: u64) -> Result<ListEnd> {
        let (tasks, work) = bounded::<Task>(self.r.threads * 2);
        let (done, results) = unbounded();
        let (spare, spares) = unbounded();
        self.spare = Some(spare);
        let r = self.r;
        std::thread::scope(|scope| {
            for _ in 0..r.threads {
                let (work, done, spares) = (work.clone(), done.clone(), spares.clone());
                scope.spawn(move || decode(r, &work, &done, &spares));
            }
            drop((work, done));
            List { reader: self, tasks: Some(tasks), results, at: start, after_element: false, local: Local::new(r.texts, r.tracks) }.read(start)
        })
    }

    fn accept(&mut self, mut chunk: Chunk) -> Result<()> {
        let base = self.document.elements;
        if base + chunk.elements as u64 >= u32::MAX as u64 {
            return Err(IngestError::input(self.r.name, "more than 4,294,967,294 events in one trace are not supported; split it"));
        }
        chunk.rebase(base as u32);
        self.document.elements += chunk.elements as u64;
        self.r.progress.elements.store(self.document.elements, Ordering::Relaxed);
        self.document.issues.merge(chunk.issues);
        self.document.steps.append(&mut chunk.steps);
        for (property, meta) in chunk.metas {
            let old = self.document.metas.entry(property).or_insert_with(|| Meta { ord: meta.ord, value: String::new() });
            if meta.ord >= old.ord {
                *old = meta;
            }
        }
        if let Some((low, high)) = chunk.bounds {
            let (a, b) = self.document.bounds.unwrap_or((low, high));
            self.document.bounds = Some((a.min(low), b.max(high)));
        }
        self.keys.push(&chunk.keys)?;
        self.pairs.push(&chunk.pairs)?;
        chunk.keys.clear();
        if let Some(spare) = &self.spare {
            // Nobody may be left to use it.
            let _ = spare.send(chunk.keys);
        }
        Ok(())
    }
}

enum ListEnd {
    Closed(u64),
    Eof { cut: Option<u64>, len: u64 },
}

#[derive(Clone, Copy)]
struct Task {
    no: u64,
    start: u64,
    end: u64,
}

fn decode(r: &Reading<'_>, work: &Receiver<Task>, done: &Sender<(Task, Result<Chunk>)>, spares: &Receiver<Vec<Key>>) {
    let mut local = Local::new(r.texts, r.tracks);
    for task in work {
        let keys = spares.try_recv().unwrap_or_default();
        let chunk = r.content.map(task.start, task.end).map(|window| chunk::read(&window, task.start, &mut local, false, keys));
        if done.send((task, chunk)).is_err() {
            return;
        }
    }
}

/// The reading of one event list: hands out stretches and takes their results in order.
struct List<'a, 'b, 'r, 't> {
    reader: &'a mut Reader<'b, 'r>,
    tasks: Option<Sender<Task>>,
    results: Receiver<(Task, Result<Chunk>)>,
    at: u64,
    after_element: bool,
    local: Local<'t>,
}

impl List<'_, '_, '_, '_> {
    fn read(mut self, start: u64) -> Result<ListEnd> {
        let most = self.reader.r.threads as u64 * 2;
        let (mut sent, mut taken, mut next, mut all_sent) = (0u64, 0u64, start, false);
        let mut waiting: BTreeMap<u64, (Task, Result<Chunk>)> = BTreeMap::new();
        loop {
            while !all_sent && sent - taken < most {
                let end = self.boundary(next)?;
                all_sent = end.is_last;
                let task = Task { no: sent, start: next, end: end.at };
                if let Some(tasks) = &self.tasks {
                    let _ = tasks.send(task);
                }
                sent += 1;
                next = end.at;
            }
            if taken == sent {
                break;
            }
            while !waiting.contains_key(&taken) {
                let Ok(result) = self.results.recv() else {
                    return Err(IngestError::input(self.reader.r.name, "a decoding thread failed unexpectedly"));
                };
                waiting.insert(result.0.no, result);
            }
            let Some((task, chunk)) = waiting.remove(&taken) else { continue };
            taken += 1;
            if task.start != self.at || (task.no > 0 && !self.starts_with_brace()?) {
                // The text before was read to another place, or the cut is none between elements.
                if task.end > self.at
                    && let Some(end) = self.read_here(task.end)?
                {
                    return Ok(end);
                }
                continue;
            }
            if self.after_element {
                let id = self.reader.document.elements;
                self.reader.document.issues.add(Code::MissingComma, Some(id), Some(self.at), b"");
            }
            if let Some(end) = self.take(chunk?, task.end)? {
                return Ok(end);
            }
        }
        let (len, _) = self.reader.r.content.wait(u64::MAX)?;
        Ok(ListEnd::Eof { cut: None, len })
    }

    /// Accepts a stretch that was read from the right place up to `end`.
    fn take(&mut self, chunk: Chunk, end: u64) -> Result<Option<ListEnd>> {
        self.reader.r.progress.bytes.store(end, Ordering::Relaxed);
        match chunk.end {
            End::Cut { after_element } => {
                self.at = end;
                self.after_element = after_element;
                self.reader.accept(chunk)?;
                Ok(None)
            }
            End::Closed(at) => {
                self.reader.accept(chunk)?;
                Ok(Some(ListEnd::Closed(at)))
            }
            End::Incomplete(at) => {
                self.at = at;
                self.after_element = false;
                self.reader.accept(chunk)?;
                self.read_here(end)
            }
        }
    }

    fn starts_with_brace(&self) -> Result<bool> {
        Ok(self.reader.r.content.map(self.at, self.at + 1)?.first() == Some(&b'{'))
    }

    /// Reads from where the list stands to at least `end`, or as far as it takes to end an element.
    fn read_here(&mut self, end: u64) -> Result<Option<ListEnd>> {
        let mut end = end;
        loop {
            let window = self.reader.r.content.map(self.at, end)?;
            let chunk = chunk::read(&window, self.at, &mut self.local, self.after_element, Vec::new());
            let End::Incomplete(at) = chunk.end else { return self.take(chunk, end) };
            self.reader.accept(chunk)?;
            let (len, done) = self.reader.r.content.wait(end + 1)?;
            if done && end >= len {
                return self.last_element(at, len);
            }
            (self.at, self.after_element) = (at, false);
            let wider = (end - at).saturating_mul(2).clamp(STRETCH, MAX_ELEMENT as u64 + STRETCH);
            let (len, _) = self.reader.r.content.wait(at + wider)?;
            end = (at + wider).min(len).max(end);
        }
    }

    /// The element at `at` does not end within the text: cut short, or broken so that it seems to go on for ever.
    fn last_element(&mut self, at: u64, len: u64) -> Result<Option<ListEnd>> {
        let window = self.reader.r.content.map(at, len)?;
        let Some(next) = find_element(&window, 1) else { return Ok(Some(ListEnd::Eof { cut: Some(at), len })) };
        let id = self.reader.document.elements;
        self.reader.document.issues.add(Code::MalformedEvent, Some(id), Some(at), &window[..window.len().min(200)]);
        self.reader.document.elements += 1;
        (self.at, self.after_element) = (at + next as u64, false);
        drop(window);
        self.read_here(len)
    }

    /// Where the stretch that begins at `start` should end.
    fn boundary(&self, start: u64) -> Result<Boundary> {
        let content = &self.reader.r.content;
        let mut target = start + STRETCH;
        loop {
            let (len, done) = content.wait(target + TAIL)?;
            if done && len <= target + TAIL {
                return Ok(Boundary { at: len, is_last: true });
            }
            let tail = target.saturating_sub(TAIL).max(start);
            let window = content.map(tail, target)?;
            if let Some(i) = find_last_element(&window, 0) {
                return Ok(Boundary { at: tail + i as u64, is_last: false });
            }
            if target - start > 4 * STRETCH {
                // No element in sight: cut anywhere, what follows is put right when this is read.
                return Ok(Boundary { at: target, is_last: false });
            }
            target += STRETCH;
        }
    }
}

struct Boundary {
    at: u64,
    is_last: bool,
}

impl Drop for List<'_, '_, '_, '_> {
    fn drop(&mut self) {
        self.tasks = None;
    }
}

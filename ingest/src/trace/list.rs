//! Reading the event list on all cores.
//!
//! The list is divided at places that look like the start of an element. A stretch is trusted only
//! when the stretch before it was read to exactly that place, so a wrong guess costs time, never a
//! row, and the result does not depend on how the text was divided.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::chunk::{self, Chunk, End, MAX_ELEMENT};
use super::document::{Reader, Reading, STRETCH, TAIL};
use super::frame::{find_element, find_last_element};
use super::intern::Local;
use super::key::Key;
use super::meta::Meta;
use crate::error::{IngestError, Result};
use crate::issues::Code;

impl Reader<'_, '_> {
    /// Reads an event list whose first byte behind the bracket is at `start`.
    pub(super) fn list(&mut self, start: u64) -> Result<ListEnd> {
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
            List {
                reader: self,
                tasks: Some(tasks),
                results,
                at: start,
                after_element: false,
                local: Local::new(r.texts, r.tracks),
            }
            .read(start)
        })
    }

    fn accept(&mut self, mut chunk: Chunk) -> Result<()> {
        let base = self.document.elements;
        if base + chunk.elements as u64 >= u32::MAX as u64 {
            return Err(IngestError::input(
                self.r.name,
                "more than 4,294,967,294 events in one trace are not supported; split it",
            ));
        }
        chunk.rebase(base as u32);
        self.document.elements += chunk.elements as u64;
        self.r.progress.elements.store(self.document.elements, Ordering::Relaxed);
        self.document.issues.merge(chunk.issues);
        self.document.steps.append(&mut chunk.steps);
        for (property, meta) in chunk.metas {
            let old = self
                .document
                .metas
                .entry(property)
                .or_insert_with(|| Meta { ord: meta.ord, value: String::new() });
            if meta.ord >= old.ord {
                *old = meta;
            }
        }
        self.document.times.merge(&chunk.times);
        let on_track = &mut self.document.on_track;
        for key in chunk.keys.iter().chain(&chunk.pairs) {
            let no = key.track as usize;
            if no >= on_track.len() {
                on_track.resize(no + 1, false);
            }
            on_track[no] = true;
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

/// How an event list ended.
pub(super) enum ListEnd {
    /// The byte after its bracket.
    Closed(u64),
    /// The text ended; where the element begins that is cut, and the text's length.
    Eof { cut: Option<u64>, len: u64 },
}

#[derive(Clone, Copy)]
struct Task {
    no: u64,
    start: u64,
    end: u64,
}

fn decode(
    r: &Reading<'_>,
    work: &Receiver<Task>,
    done: &Sender<(Task, Result<Chunk>)>,
    spares: &Receiver<Vec<Key>>,
) {
    let mut local = Local::new(r.texts, r.tracks);
    for task in work {
        let keys = spares.try_recv().unwrap_or_default();
        let chunk = r
            .content
            .map(task.start, task.end)
            .map(|window| chunk::read(&window, task.start, &mut local, false, keys));
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
                    return Err(IngestError::input(
                        self.reader.r.name,
                        "a decoding thread failed unexpectedly",
                    ));
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
        self.reader.r.progress.go_on()?;
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
            let chunk =
                chunk::read(&window, self.at, &mut self.local, self.after_element, Vec::new());
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

    /// The element at `at` does not end within the text: cut short, or broken so that it seems to
    /// go on for ever.
    fn last_element(&mut self, at: u64, len: u64) -> Result<Option<ListEnd>> {
        let window = self.reader.r.content.map(at, len)?;
        let Some(next) = find_element(&window, 1) else {
            return Ok(Some(ListEnd::Eof { cut: Some(at), len }));
        };
        let id = self.reader.document.elements;
        self.reader.document.issues.add(
            Code::MalformedEvent,
            Some(id),
            Some(at),
            &window[..window.len().min(200)],
        );
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

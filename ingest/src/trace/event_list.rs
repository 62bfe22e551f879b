//! Reads the event list on all cores.
//!
//! The list is divided at positions that look like the start of an element. A chunk is used only if
//! the chunk before it ended at exactly that position. So a wrong guess costs time but never a row,
//! and the result does not depend on how the text was divided.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::chunk::{Chunk, End, MAX_ELEMENT};
use super::chunk_reader;
use super::event_record::EventRecord;
use super::intern::Local;
use super::reading::{Reading, STRETCH, TAIL};
use super::resync::{find_element, find_last_element};
use crate::error::{IngestError, Result};
use crate::issues::Code;
use crate::threads::join;

/// Receives the contents of an event list, in file order.
pub trait ChunkSink {
    /// Adds a chunk; returns its list of records, emptied, for reuse.
    fn accept(&mut self, chunk: Chunk) -> Result<Vec<EventRecord>>;

    /// Counts an issue of the next element, which begins at `at`. If the code skips elements, the
    /// issue takes the place of that element.
    fn issue(&mut self, code: Code, at: u64, example: &[u8]);
}

/// The way in which an event list ended.
pub enum ListEnd {
    /// The list was closed. Holds the position after its closing bracket.
    Closed(u64),
    /// The text ended. Holds the position of the element that was cut off, if any, and the length
    /// of the text.
    Eof { cut: Option<u64>, len: u64 },
}

/// Reads an event list whose first byte after the bracket is at `start`.
pub fn read_list(r: &Reading<'_>, start: u64, sink: &mut dyn ChunkSink) -> Result<ListEnd> {
    let (tasks, work) = bounded::<Task>(r.threads * 2);
    let (done, results) = unbounded();
    let (spare, spares) = unbounded();
    std::thread::scope(|scope| {
        let decoders = (0..r.threads).map(|_| {
            let (work, done, spares) = (work.clone(), done.clone(), spares.clone());
            scope.spawn(move || decode(r, &work, &done, &spares))
        });
        let decoders = decoders.collect();
        drop((work, done));
        let end = List {
            r,
            sink,
            tasks: Some(tasks),
            results,
            spare,
            at: start,
            after_element: false,
            local: Local::new(r.texts, r.tracks),
        }
        .read(start);
        join(decoders);
        end
    })
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
    spares: &Receiver<Vec<EventRecord>>,
) {
    let mut local = Local::new(r.texts, r.tracks);
    for task in work {
        let records = spares.try_recv().unwrap_or_default();
        let chunk = r
            .content
            .map(task.start, task.end)
            .map(|mapping| chunk_reader::read(&mapping, task.start, &mut local, false, records));
        if done.send((task, chunk)).is_err() {
            return;
        }
    }
}

/// The state of reading one event list: distributes chunks and collects their results in order.
struct List<'a, 's, 't> {
    r: &'a Reading<'a>,
    sink: &'s mut dyn ChunkSink,
    tasks: Option<Sender<Task>>,
    results: Receiver<(Task, Result<Chunk>)>,
    /// Returns lists of records to the decoding threads for reuse.
    spare: Sender<Vec<EventRecord>>,
    /// The position up to which the list was read.
    at: u64,
    /// Whether a comma must come before the next element.
    after_element: bool,
    local: Local<'t>,
}

impl List<'_, '_, '_> {
    fn read(mut self, start: u64) -> Result<ListEnd> {
        let max_ahead = self.r.threads as u64 * 2;
        let (mut sent, mut taken, mut next, mut all_sent) = (0u64, 0u64, start, false);
        let mut waiting: BTreeMap<u64, (Task, Result<Chunk>)> = BTreeMap::new();
        loop {
            while !all_sent && sent - taken < max_ahead {
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
                    let reason = "a decoding thread failed unexpectedly";
                    return Err(IngestError::input(self.r.name, reason));
                };
                waiting.insert(result.0.no, result);
            }
            let Some((task, chunk)) = waiting.remove(&taken) else { continue };
            taken += 1;
            if task.start != self.at || (task.no > 0 && !self.starts_with_brace()?) {
                // The previous chunk ended elsewhere, or this cut is not on an element boundary.
                if task.end > self.at
                    && let Some(end) = self.read_here(task.end)?
                {
                    return Ok(end);
                }
                continue;
            }
            if self.after_element {
                self.sink.issue(Code::MissingComma, self.at, b"");
            }
            if let Some(end) = self.take(chunk?, task.end)? {
                return Ok(end);
            }
        }
        let (len, _) = self.r.content.wait(u64::MAX)?;
        Ok(ListEnd::Eof { cut: None, len })
    }

    /// Accepts a chunk that was read from the right position up to `end`.
    fn take(&mut self, chunk: Chunk, end: u64) -> Result<Option<ListEnd>> {
        self.r.progress.go_on()?;
        self.r.progress.bytes.store(end, Ordering::Relaxed);
        let chunk_end = chunk.end;
        self.accept(chunk)?;
        match chunk_end {
            End::Cut { after_element } => {
                (self.at, self.after_element) = (end, after_element);
                Ok(None)
            }
            End::Closed(at) => Ok(Some(ListEnd::Closed(at))),
            End::Incomplete(at) => {
                (self.at, self.after_element) = (at, false);
                self.read_here(end)
            }
        }
    }

    fn accept(&mut self, chunk: Chunk) -> Result<()> {
        let records = self.sink.accept(chunk)?;
        // If the receivers are gone, the list is dropped.
        let _ = self.spare.send(records);
        Ok(())
    }

    fn starts_with_brace(&self) -> Result<bool> {
        Ok(self.r.content.map(self.at, self.at + 1)?.first() == Some(&b'{'))
    }

    /// Reads from the current position to at least `end`, and further if that is needed to complete
    /// an element.
    fn read_here(&mut self, end: u64) -> Result<Option<ListEnd>> {
        let mut end = end;
        loop {
            let mapping = self.r.content.map(self.at, end)?;
            let chunk = chunk_reader::read(
                &mapping,
                self.at,
                &mut self.local,
                self.after_element,
                Vec::new(),
            );
            let End::Incomplete(at) = chunk.end else { return self.take(chunk, end) };
            self.accept(chunk)?;
            let (len, done) = self.r.content.wait(end + 1)?;
            if done && end >= len {
                return self.last_element(at, len);
            }
            (self.at, self.after_element) = (at, false);
            let wider = (end - at).saturating_mul(2).clamp(STRETCH, MAX_ELEMENT as u64 + STRETCH);
            let (len, _) = self.r.content.wait(at + wider)?;
            end = (at + wider).min(len).max(end);
        }
    }

    /// Handles an element at `at` that does not end within the text. It is either cut off, or
    /// damaged so that it seems to have no end.
    fn last_element(&mut self, at: u64, len: u64) -> Result<Option<ListEnd>> {
        let mapping = self.r.content.map(at, len)?;
        let Some(next) = find_element(&mapping, 1) else {
            return Ok(Some(ListEnd::Eof { cut: Some(at), len }));
        };
        self.sink.issue(Code::MalformedEvent, at, &mapping[..mapping.len().min(200)]);
        (self.at, self.after_element) = (at + next as u64, false);
        drop(mapping);
        self.read_here(len)
    }

    /// Returns the position at which the chunk that begins at `start` should end.
    fn boundary(&self, start: u64) -> Result<Boundary> {
        let content = self.r.content;
        let mut target = start + STRETCH;
        loop {
            let (len, done) = content.wait(target + TAIL)?;
            if done && len <= target + TAIL {
                return Ok(Boundary { at: len, is_last: true });
            }
            let tail = target.saturating_sub(TAIL).max(start);
            let mapping = content.map(tail, target)?;
            if let Some(i) = find_last_element(&mapping, 0) {
                return Ok(Boundary { at: tail + i as u64, is_last: false });
            }
            if target - start > 4 * STRETCH {
                // No start of an element was found, so cut anywhere. This is corrected when the
                // next chunk is taken.
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

impl Drop for List<'_, '_, '_> {
    fn drop(&mut self) {
        // The decoding threads end when there are no more tasks.
        self.tasks = None;
    }
}

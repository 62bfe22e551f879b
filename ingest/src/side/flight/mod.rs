//! Dumps of PyTorch's flight recorder, the ring of the last collectives that each rank scheduled.
//!
//! A dump is a pickle or JSON with equal keys. Both become records of one form: the compact JSON of
//! an entry, and the text of its stack.

mod groups;
mod record;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Metadata, compact};
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json;
use crate::snapshot::{
    self, Dict, FlightPickle, Heap, List, Value, long_members, stack_text, top_members,
};
use crate::source::{Content, Ends, Walk};
use crate::trace::Progress;

pub use groups::{Group, groups, rank_after_word, rank_of_name, world_size};
pub use record::Record;

/// A dump that was read.
pub struct Dump {
    /// Records in the order of the file.
    pub records: Vec<Record>,
    /// Entries of the file: records and those that were skipped.
    pub elements: u64,
    /// All top-level keys but the entries.
    pub metadata: Metadata,
    /// Issues that were found.
    pub issues: Issues,
    /// Length of the unpacked dump in bytes.
    pub bytes: u64,
}

/// Collects records within a budget of memory.
struct Collector<'a> {
    name: &'a str,
    budget: usize,
    used: usize,
    progress: &'a Progress,
    dump: Dump,
}

impl<'a> Collector<'a> {
    fn new(name: &'a str, budget: usize, progress: &'a Progress) -> Self {
        let dump = Dump {
            records: Vec::new(),
            elements: 0,
            metadata: Metadata::default(),
            issues: Issues::default(),
            bytes: 0,
        };
        Self { name, budget, used: 0, progress, dump }
    }

    fn skip(&mut self, example: &[u8]) {
        self.dump.issues.add(Code::BadRecord, Some(self.dump.elements), None, example);
        self.dump.elements += 1;
    }

    fn record(&mut self, args: String, stack: Option<Rc<str>>) -> Result<()> {
        let record = Record::read(self.dump.elements, args, stack, &mut self.dump.issues);
        self.used += record.memory();
        self.dump.elements += 1;
        self.dump.records.push(record);
        if self.used > self.budget || self.dump.elements >= u64::from(u32::MAX) {
            return Err(IngestError::input(
                self.name,
                "its records need more memory than --memory-limit leaves for them; raise the limit",
            ));
        }
        if self.dump.elements.is_multiple_of(1024) {
            self.progress.go_on()?;
            let done = &self.progress.elements;
            done.store(self.dump.elements, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    }

    fn finish(mut self) -> Dump {
        if self.dump.elements == 0 {
            self.dump.issues.add(Code::EmptyTrace, None, None, b"");
        }
        self.dump
    }
}

/// Reads a dump from its pickle.
pub fn of_pickle(
    name: &str,
    pickle: FlightPickle,
    budget: usize,
    progress: &Progress,
) -> Result<Dump> {
    let FlightPickle { heap, top, issues, bytes } = pickle;
    let mut collector = Collector::new(name, budget, progress);
    collector.dump.issues = issues;
    collector.dump.bytes = bytes;
    let items = &heap.others[top as usize];
    let entries = items.iter().rev().find_map(|(key, value)| {
        let is_entries = key.unpack(&heap.scalars) == Some(Value::Text(snapshot::ENTRIES));
        is_entries.then(|| value.unpack(&heap.scalars)).flatten()
    });
    collector.dump.metadata.add_members(&top_members(&heap, items, &[snapshot::ENTRIES]));
    let codes = match entries {
        None | Some(Value::None) => &[][..],
        Some(Value::List(no)) => match heap.lists[no as usize] {
            List::Items(items) => &heap.items[items as usize][..],
            List::Empty => &[],
            List::Stack(_) => {
                let reason = "`entries` is a list of frames, not of records";
                return Err(IngestError::not_a_trace(name, reason, 0));
            }
        },
        Some(other) => {
            let reason = format!("`entries` is {}, not a list", other.kind());
            return Err(IngestError::not_a_trace(name, reason, 0));
        }
    };
    let mut stacks = FxHashMap::default();
    for code in codes {
        let record = match code.unpack(&heap.scalars) {
            Some(Value::Dict(no)) => match heap.dicts[no as usize] {
                Dict::Other(no) => Some(&heap.others[no as usize]),
                _ => None,
            },
            _ => None,
        };
        let Some(items) = record else {
            collector.skip(b"");
            continue;
        };
        let stack = items.iter().rev().find_map(|(key, value)| {
            let is_frames = key.unpack(&heap.scalars) == Some(Value::Text(snapshot::FRAMES));
            is_frames.then(|| stack_of(&heap, value.unpack(&heap.scalars), &mut stacks)).flatten()
        });
        let args = format!("{{{}}}", long_members(&heap, items, &[snapshot::FRAMES]));
        collector.record(args, stack)?;
    }
    Ok(collector.finish())
}

/// Returns the text of a list of frames; equal stacks share it.
fn stack_of(
    heap: &Heap,
    value: Option<Value>,
    known: &mut FxHashMap<u32, Rc<str>>,
) -> Option<Rc<str>> {
    let Some(Value::List(list)) = value else { return None };
    let stack = heap.stack(list)?;
    Some(known.entry(stack).or_insert_with(|| stack_text(heap, stack).into()).clone())
}

/// Reads a dump from its JSON.
pub fn of_json(name: &str, content: &Content, budget: usize, progress: &Progress) -> Result<Dump> {
    let mut walk = Walk::new(content)?;
    let mut collector = Collector::new(name, budget, progress);
    let end = walk.object(|walk, key| {
        if key != b"entries" {
            let raw = walk.value()?;
            collector.dump.metadata.add(key, raw, &mut collector.dump.issues);
            return Ok(());
        }
        walk.list(|walk| {
            let raw = walk.value()?;
            if raw.first() != Some(&b'{') {
                collector.skip(raw);
                return Ok(());
            }
            let id = collector.dump.elements;
            let (stack, without) = frames(raw);
            let args = compact(without.as_deref().unwrap_or(raw), &mut collector.dump.issues, id);
            Ok(collector.record(args, stack.map(Rc::from))?)
        })
    });
    ends(name, end, &mut walk, collector.dump.elements, &mut collector.dump.issues)?;
    drop(walk);
    collector.dump.issues.merge(content.issues());
    collector.dump.bytes = content.wait(u64::MAX)?.0;
    Ok(collector.finish())
}

/// Counts that a text was cut or goes on after its value. Fails if nothing was read before the cut, or
/// if the text is not JSON.
pub fn ends(
    name: &str,
    end: std::result::Result<(), Ends>,
    walk: &mut Walk<'_>,
    elements: u64,
    issues: &mut Issues,
) -> Result<()> {
    let at = walk.offset();
    match end {
        Ok(()) => {
            if walk.token().is_ok() {
                issues.add(Code::TrailingData, None, Some(walk.offset()), b"");
            }
            Ok(())
        }
        Err(Ends::Failed(error)) => Err(error),
        Err(Ends::Bad(what)) => Err(IngestError::input_at(name, what, at)),
        Err(Ends::Cut) if elements == 0 => {
            Err(IngestError::input_at(name, "the input ends before any whole element", at))
        }
        Err(Ends::Cut) => {
            issues.add(Code::TruncatedInput, None, Some(at), b"");
            Ok(())
        }
    }
}

/// Returns the text of the `frames` of an entry, and the entry without them.
fn frames(raw: &[u8]) -> (Option<String>, Option<Vec<u8>>) {
    let (mut list, mut others) = (None, Vec::new());
    let _ = json::Cursor::new(raw, 0).object(|key, value| match key {
        b"frames" => list = Some(value),
        _ => others.push((key, value)),
    });
    let Some(list) = list else { return (None, None) };
    let mut stack = String::new();
    for item in super::items(list).into_iter().rev() {
        let [mut name, mut file] = [None, None];
        let mut line: Option<i64> = None;
        let _ = json::Cursor::new(item, 0).object(|key, value| match key {
            b"name" => name = super::text(value),
            b"filename" => file = super::text(value),
            b"line" => line = json::int(value),
            _ => {}
        });
        if !stack.is_empty() {
            stack.push(';');
        }
        if let Some(file) = file.filter(|file| !file.is_empty() && file != "??") {
            super::frame(&format!("{file}({}): ", line.unwrap_or(0).max(0)), &mut stack);
        }
        super::frame(&name.unwrap_or_default(), &mut stack);
    }
    let mut without = vec![b'{'];
    for (key, value) in others {
        if without.len() > 1 {
            without.push(b',');
        }
        without.push(b'"');
        without.extend_from_slice(key);
        without.extend_from_slice(b"\":");
        without.extend_from_slice(value);
    }
    without.push(b'}');
    ((!stack.is_empty()).then_some(stack), Some(without))
}

#[cfg(test)]
mod tests {
    #[test]
    fn frames_become_a_stack_root_first() {
        let raw = br#"{"a":1,"frames":[{"name":"f;g","filename":"/x.py","line":3},
            {"name":"<module>","filename":"??","line":0}],"b":[2]}"#;
        let (stack, rest) = super::frames(raw);
        assert_eq!(stack.as_deref(), Some("<module>;/x.py(3): f:g"));
        assert_eq!(rest.as_deref(), Some(&b"{\"a\":1,\"b\":[2]}"[..]));
        assert_eq!(super::frames(b"{\"a\":1}"), (None, None));
    }
}

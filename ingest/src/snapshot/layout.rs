//! Finds the parts of a snapshot in the values of its pickle.

use rustc_hash::FxHashSet;

use super::heap::{Dict, Heap, List};
use super::keys;
use super::metadata;
use super::values::{Code, Value};

/// One list of entries.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The device's number; -1 for the host.
    pub device: i64,
    /// The list's items, as a number in [`Heap::items`].
    pub items: u32,
}

/// A list of segments.
#[derive(Debug, Clone, Copy)]
pub struct SegmentRef {
    /// A number in [`Heap::segments`].
    pub segment: u32,
    /// Whether it belongs to the host.
    pub is_host: bool,
}

/// The parts of a snapshot.
#[derive(Debug, Default)]
pub struct Layout {
    /// Segments in the order of the file.
    pub segments: Vec<SegmentRef>,
    /// Lists of entries in the order of the file: devices, then the host.
    pub traces: Vec<Trace>,
    /// The list of annotations, as a number in [`Heap::items`].
    pub annotations: Option<u32>,
    /// Other top-level keys as members of a JSON object, without braces.
    pub metadata: String,
    /// Segments that are not dicts with blocks.
    pub odd_segments: u64,
}

impl Layout {
    /// Whether there is neither a segment nor an entry nor an annotation.
    pub fn is_empty(&self, heap: &Heap) -> bool {
        let has_entries = |trace: &Trace| !heap.items[trace.items as usize].is_empty();
        self.segments.is_empty()
            && !self.traces.iter().any(has_entries)
            && self.annotations.is_none()
    }
}

/// Returns the top-level dict of a dump of the flight recorder, as a number in [`Heap::others`]. Dumps
/// without collectives have no `entries`, and a file that was cut may end before its `version`.
pub fn flight(heap: &Heap, top: Value) -> Option<u32> {
    let Value::Dict(no) = top else { return None };
    let Dict::Other(no) = heap.dicts[no as usize] else { return None };
    let has = |key: u32| {
        heap.others[no as usize]
            .iter()
            .any(|(k, _)| k.unpack(&heap.scalars) == Some(Value::Text(key)))
    };
    let is_snapshot = has(keys::SEGMENTS) || has(keys::DEVICE_TRACES);
    let (entries, version) = (has(keys::ENTRIES), has(keys::VERSION));
    (!is_snapshot && (version || entries) && (entries || has(keys::PG_CONFIG))).then_some(no)
}

/// Finds the parts. The error names the place and the type of a value that a snapshot cannot have.
pub fn find(heap: &Heap, top: Value) -> Result<Layout, String> {
    let mut finder = Finder { heap, seen: FxHashSet::default(), layout: Layout::default() };
    match top {
        Value::List(list) => {
            finder.segments("the top-level list", Value::List(list), false)?;
            if finder.layout.segments.is_empty() && finder.layout.odd_segments > 0 {
                return Err(
                    "its value is a list of dicts that are not segments; save each snapshot \
                            in a file of its own"
                        .to_owned(),
                );
            }
        }
        Value::Dict(no) => finder.top(no)?,
        other => return Err(format!("its value is {}, not a dict or a list", other.kind())),
    }
    Ok(finder.layout)
}

struct Finder<'a> {
    heap: &'a Heap,
    /// Lists that were read: each is read once, so that time stays linear.
    seen: FxHashSet<u32>,
    layout: Layout,
}

impl<'a> Finder<'a> {
    fn top(&mut self, no: u32) -> Result<(), String> {
        let heap = self.heap;
        let Dict::Other(no) = heap.dicts[no as usize] else {
            return Err("its value is a dict without `segments` and `device_traces`".to_owned());
        };
        let items = &heap.others[no as usize];
        let find = |key: u32| {
            let is = |code: &Code| code.unpack(&heap.scalars) == Some(Value::Text(key));
            items.iter().rev().find(|(k, _)| is(k)).and_then(|(_, v)| v.unpack(&heap.scalars))
        };
        let (segments, traces) = (find(keys::SEGMENTS), find(keys::DEVICE_TRACES));
        if segments.is_none() && traces.is_none() {
            return Err("its value is a dict without `segments` and `device_traces`".to_owned());
        }
        if let Some(value) = segments {
            self.segments("`segments`", value, false)?;
        }
        if let Some(value) = traces {
            for (device, code) in self.list("`device_traces`", value)?.iter().enumerate() {
                let path = format!("`device_traces[{device}]`");
                self.trace(&path, code.unpack(&heap.scalars), device as i64)?;
            }
        }
        if let Some(value) = find(keys::HOST_SEGMENTS) {
            self.segments("`host_segments`", value, true)?;
        }
        if let Some(value) = find(keys::HOST_TRACES) {
            self.host_traces(value)?;
        }
        if let Some(value) = find(keys::EXTERNAL_ANNOTATIONS) {
            let list = self.list("`external_annotations`", value)?;
            if !list.is_empty()
                && let Value::List(no) = value
                && let List::Items(items) = heap.lists[no as usize]
            {
                self.layout.annotations = Some(items);
            }
        }
        if traces.is_none() && self.layout.is_empty(heap) {
            return Err("its `segments` are empty and it has no `device_traces`".to_owned());
        }
        const READ: [u32; 5] = [
            keys::SEGMENTS,
            keys::DEVICE_TRACES,
            keys::HOST_SEGMENTS,
            keys::HOST_TRACES,
            keys::EXTERNAL_ANNOTATIONS,
        ];
        self.layout.metadata = metadata::top_members(heap, items, &READ);
        Ok(())
    }

    /// Returns the items of a list that was not read before.
    fn list(&mut self, path: &str, value: Value) -> Result<&'a [Code], String> {
        let Value::List(no) = value else {
            return Err(format!("{path} is {}, not a list", value.kind()));
        };
        match self.heap.lists[no as usize] {
            List::Empty => Ok(&[]),
            List::Stack(_) => Err(format!("{path} is a list of frames")),
            List::Items(items) => {
                if !self.seen.insert(no) {
                    return Err(format!("{path} is a list that occurs in another place too"));
                }
                Ok(&self.heap.items[items as usize])
            }
        }
    }

    fn segments(&mut self, path: &str, value: Value, is_host: bool) -> Result<(), String> {
        let heap = self.heap;
        for (at, code) in self.list(path, value)?.iter().enumerate() {
            let value = code.unpack(&heap.scalars).unwrap_or(Value::None);
            let Value::Dict(no) = value else {
                return Err(format!("{path}: item {at} is {}, not a dict", value.kind()));
            };
            let Dict::Segment(segment) = heap.dicts[no as usize] else {
                self.layout.odd_segments += 1;
                continue;
            };
            let blocks = heap.segments[segment as usize].blocks;
            let is_list_of_items =
                heap.lists.get(blocks as usize).is_some_and(|l| matches!(l, List::Items(_)));
            if is_list_of_items && !self.seen.insert(blocks) {
                return Err(format!("{path}: item {at} shares its blocks with another segment"));
            }
            self.layout.segments.push(SegmentRef { segment, is_host });
        }
        Ok(())
    }

    fn trace(&mut self, path: &str, value: Option<Value>, device: i64) -> Result<(), String> {
        let value = value.unwrap_or(Value::None);
        if self.list(path, value)?.is_empty() {
            return Ok(());
        }
        if let Value::List(no) = value
            && let List::Items(items) = self.heap.lists[no as usize]
        {
            self.layout.traces.push(Trace { device, items });
        }
        Ok(())
    }

    /// Reads the host's entries: a list of them, or a list of such lists.
    fn host_traces(&mut self, value: Value) -> Result<(), String> {
        let heap = self.heap;
        let items = match value {
            Value::List(no) => match heap.lists[no as usize] {
                List::Items(items) => &heap.items[items as usize][..],
                _ => &[],
            },
            _ => &[],
        };
        let of_lists = |code: &Code| matches!(code.unpack(&heap.scalars), Some(Value::List(_)));
        if items.is_empty() || !items.iter().all(of_lists) {
            return self.trace("`host_traces`", Some(value), -1);
        }
        for (at, code) in items.iter().enumerate() {
            let path = format!("`host_traces[{at}]`");
            self.trace(&path, code.unpack(&heap.scalars), -1)?;
        }
        Ok(())
    }
}

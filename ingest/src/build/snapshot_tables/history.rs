//! First pass over the entries: which allocation each of them concerns, and what is live after it.

use std::collections::BTreeMap;
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;

use crate::arrange::SpillVec;
use crate::error::Result;
use crate::issues::{Code as IssueCode, Issues};
use crate::snapshot::*;

/// What the first pass finds about an element.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Fact {
    /// Bytes live after it, less those live before the history.
    pub live: i64,
    /// Its allocation, or [`ABSENT`].
    pub allocation: i64,
}

/// What the first pass finds about a device.
#[derive(Debug, Default)]
pub struct DeviceFacts {
    /// The device's allocations.
    pub ledger: Ledger,
    /// Bytes of all its segments.
    pub reserved_at_end: i64,
}

/// The history of all devices.
pub struct History {
    /// Facts of all elements in order.
    pub facts: SpillVec<Fact>,
    /// The first element of each trace.
    pub starts: Vec<u64>,
    /// Whether the times of each trace never go back.
    pub in_order: Vec<bool>,
    /// Devices; -1 is the host.
    pub devices: BTreeMap<i64, DeviceFacts>,
    /// Number of elements.
    pub elements: u64,
    /// Earliest and latest time in ns.
    pub bounds: Option<(i64, i64)>,
    /// Actions by the numbers of their texts.
    pub actions: FxHashMap<u32, Action>,
}

/// Returns the time in ns of a number of µs.
pub fn time_ns(us: i64) -> Option<i64> {
    if us == ABSENT { None } else { us.checked_mul(1000) }
}

/// Extends bounds by a time.
pub fn extend(bounds: &mut Option<(i64, i64)>, ts: i64) {
    let (low, high) = bounds.unwrap_or((ts, ts));
    *bounds = Some((low.min(ts), high.max(ts)));
}

impl History {
    /// Reads all entries.
    pub fn read(
        snapshot: &Snapshot,
        scratch: &Path,
        budget: usize,
        issues: &mut Issues,
    ) -> Result<Self> {
        let heap = &snapshot.heap;
        let mut history = Self {
            facts: SpillVec::new(scratch, budget),
            starts: Vec::new(),
            in_order: Vec::new(),
            devices: BTreeMap::new(),
            elements: 0,
            bounds: None,
            actions: FxHashMap::default(),
        };
        for trace in &snapshot.layout.traces {
            history.starts.push(history.elements);
            let mut entries = Entries::new(heap);
            let (mut is_in_order, mut before) = (true, ABSENT);
            for code in &heap.items[trace.items as usize] {
                let event_id = history.elements;
                history.elements += 1;
                let Some((_, entry)) = entries.of(*code)? else {
                    issues.add(IssueCode::NotAnObject, Some(event_id), None, b"");
                    history.facts.push(Fact { live: 0, allocation: ABSENT })?;
                    continue;
                };
                let facts = history.devices.entry(trace.device).or_default();
                let mut allocation = None;
                if entry.flags & BAD_ADDRESS == 0 {
                    let action = *history
                        .actions
                        .entry(entry.action)
                        .or_insert_with(|| Action::of(heap.texts.get(entry.action)));
                    allocation = facts.ledger.take(&entry, action, event_id as i64);
                    is_in_order &= before <= entry.time_us;
                    before = entry.time_us;
                    if let Some(ts) = time_ns(entry.time_us) {
                        extend(&mut history.bounds, ts);
                    }
                }
                let allocation = allocation.unwrap_or(ABSENT);
                history.facts.push(Fact { live: facts.ledger.live, allocation })?;
            }
            history.in_order.push(is_in_order);
        }
        for segment in &snapshot.layout.segments {
            let s = &heap.segments[segment.segment as usize];
            let device = if segment.is_host { -1 } else { s.device };
            let facts = history.devices.entry(device).or_default();
            if s.total != ABSENT {
                facts.reserved_at_end = facts.reserved_at_end.saturating_add(s.total);
            }
        }
        for (device, facts) in &history.devices {
            let missing = facts.ledger.missing_frees;
            if missing > 0 {
                let example = format!("device {device}");
                issues.add_many(IssueCode::MissingFree, missing, None, None, example.as_bytes());
            }
        }
        Ok(history)
    }
}

const BATCH: usize = 4096;

/// Entries by their codes. Reading them in order is fast.
pub struct Entries<'a> {
    heap: &'a Heap,
    batch: Vec<Entry>,
    start: usize,
}

impl<'a> Entries<'a> {
    /// Creates a reader.
    pub fn new(heap: &'a Heap) -> Self {
        Self { heap, batch: Vec::new(), start: 0 }
    }

    /// Returns an entry with its number; `None` if the value is not an entry.
    pub fn of(&mut self, code: Code) -> Result<Option<(u32, Entry)>> {
        let Some(Value::Dict(no)) = code.unpack(&self.heap.scalars) else { return Ok(None) };
        let Dict::Entry(no) = self.heap.dicts[no as usize] else { return Ok(None) };
        let at = no as usize;
        if at < self.start || at >= self.start + self.batch.len() {
            let end = self.heap.entries.len().min(at + BATCH);
            self.heap.entries.read(at..end, &mut self.batch)?;
            self.start = at;
        }
        Ok(self.batch.get(at - self.start).map(|entry| (no, *entry)))
    }
}

//! Second pass over the entries: the rows of `events` and `memory`.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::Origin;
use super::super::small_tables::Counted;
use super::annotations::AnnotationRow;
use super::history::{Entries, Fact, History, time_ns};
use super::state::{number, pool_text};
use crate::encode::{Effort, RowGroups, TableRows};
use crate::error::Result;
use crate::issues::{Code as IssueCode, Issues};
use crate::rows::{EventColumns, MemoryRow};
use crate::schema;
use crate::snapshot::*;
use crate::store::TableFile;
use crate::trace::Progress;

/// Texts of stacks and args that are kept, in bytes.
const MAX_KEPT: usize = 32 << 20;
/// Elements between two looks at whether to stop.
const BATCH: usize = 4096;

/// Items of an entry that have no column.
#[derive(Default)]
struct Rest {
    json: String,
    pool: Option<String>,
}

/// Writes `events` and `memory`.
pub struct EntryWriter<'a> {
    snapshot: &'a Snapshot,
    trace_id: &'a str,
    events: RowGroups<EventColumns>,
    memory: TableRows<MemoryRow<'static>>,
    events_file: TableFile,
    memory_file: TableFile,
    row: i64,
    used: &'a mut Vec<bool>,
    stacks: FxHashMap<u32, String>,
    rests: FxHashMap<u32, Rest>,
    kept: usize,
    args: Vec<u8>,
    issues: Issues,
}

impl<'a> EntryWriter<'a> {
    /// Creates the files of both tables.
    pub fn new(
        snapshot: &'a Snapshot,
        origin: &'a Origin<'_>,
        folder: &Path,
        effort: Effort,
        used: &'a mut Vec<bool>,
    ) -> Result<Self> {
        Ok(Self {
            snapshot,
            trace_id: &origin.trace_id,
            events: RowGroups::new(EventColumns::new(effort), effort),
            memory: TableRows::new(effort),
            events_file: TableFile::create(folder, &schema::EVENTS)?,
            memory_file: TableFile::create(folder, &schema::MEMORY)?,
            row: 0,
            used,
            stacks: FxHashMap::default(),
            rests: FxHashMap::default(),
            kept: 0,
            args: Vec::new(),
            issues: Issues::default(),
        })
    }

    /// Writes the entries of a trace.
    pub fn trace(
        &mut self,
        no: usize,
        track_id: i64,
        history: &History,
        progress: &Progress,
    ) -> Result<()> {
        let snapshot = self.snapshot;
        let trace = &snapshot.layout.traces[no];
        let codes = &snapshot.heap.items[trace.items as usize][..];
        let start = history.starts[no] as usize;
        let mut entries = Entries::new(&snapshot.heap);
        let mut totals = Totals::new(snapshot, trace, history);
        let order = if history.in_order[no] { None } else { Some(order_by_time(snapshot, codes)?) };
        let mut facts: Vec<Fact> = Vec::new();
        for from in (0..codes.len()).step_by(BATCH) {
            progress.go_on()?;
            let to = codes.len().min(from + BATCH);
            history.facts.read(start + from..start + to, &mut facts)?;
            for (at, fact) in (from..to).zip(&facts) {
                let Some((number, entry)) = entries.of(codes[at])? else { continue };
                let event_id = (start + at) as i64;
                self.check(number, &entry, event_id);
                if entry.flags & BAD_ADDRESS != 0 {
                    continue;
                }
                let action = history.actions.get(&entry.action).copied();
                let action = action.unwrap_or(Action::Unknown);
                totals.take(&entry, action);
                let rest = self.rest(entry.rest);
                let stack = snapshot.heap.stack(entry.frames);
                self.memory_row(event_id, trace.device, &entry, action, fact, &totals, rest);
                if order.is_none() {
                    self.event_row(event_id, track_id, trace.device, &entry, stack)?;
                }
            }
            self.flush()?;
        }
        for at in order.iter().flatten() {
            let at = *at as usize;
            if let Some((_, entry)) = entries.of(codes[at])?
                && entry.flags & BAD_ADDRESS == 0
            {
                let stack = snapshot.heap.stack(entry.frames);
                let event_id = (start + at) as i64;
                self.event_row(event_id, track_id, trace.device, &entry, stack)?;
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        for group in self.events.take_groups() {
            self.events_file.write(group)?;
        }
        for group in self.memory.take_groups() {
            self.memory_file.write(group)?;
        }
        if self.kept > MAX_KEPT {
            self.stacks.clear();
            self.rests.clear();
            self.kept = 0;
        }
        Ok(())
    }

    /// Counts what is odd about an entry.
    fn check(&mut self, number: u32, entry: &Entry, event_id: i64) {
        let heap = &self.snapshot.heap;
        let id = Some(event_id as u64);
        let offset = || heap.faults.get(&number).copied();
        if entry.flags & BAD_ADDRESS != 0 {
            self.issues.add(IssueCode::SnapshotAddress, id, offset(), b"");
        } else if entry.flags & BAD_VALUE != 0 {
            self.issues.add(IssueCode::SnapshotValue, id, offset(), b"");
        }
        let has_odd_frames = entry.frames != NOTHING
            && matches!(heap.lists.get(entry.frames as usize), Some(List::Items(_)));
        if has_odd_frames {
            self.issues.add(IssueCode::SnapshotValue, id, offset(), b"frames");
        }
        let text = heap.texts.get(entry.action);
        if entry.flags & NO_ACTION != 0 || Action::of(text) == Action::Unknown {
            self.issues.add(IssueCode::UnknownAction, id, offset(), text);
        }
    }

    /// Makes the text of the items that have no column.
    fn rest(&mut self, no: u32) -> u32 {
        if no == NOTHING || self.rests.contains_key(&no) {
            return no;
        }
        let heap = &self.snapshot.heap;
        let items = heap.rests.get(no);
        let pool = items.iter().find_map(|(key, value)| {
            let is_pool = key.unpack(&heap.scalars) == Some(Value::Text(POOL_ID));
            is_pool.then(|| heap.pair(value.unpack(&heap.scalars)?)).flatten()
        });
        let rest = Rest { json: members(heap, items), pool: pool.map(pool_text) };
        self.kept += rest.json.len() + 64;
        self.rests.insert(no, rest);
        no
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one row")]
    fn memory_row(
        &mut self,
        event_id: i64,
        device: i64,
        entry: &Entry,
        action: Action,
        fact: &Fact,
        totals: &Totals,
        rest: u32,
    ) {
        let heap = &self.snapshot.heap;
        let written = heap.texts.text(entry.action);
        let has_addr = entry.flags & HAS_DEVICE_FREE == 0;
        let stack = heap.stack(entry.frames);
        if let Some(stack) = stack {
            self.used[stack as usize] = true;
        }
        self.memory.push(MemoryRow {
            trace_id: self.trace_id,
            event_id,
            ts_ns: time_ns(entry.time_us),
            action: action.text().or((entry.action != NOTHING).then_some(&*written)),
            addr: if has_addr { number(entry.addr) } else { None },
            bytes: number(entry.size).map(|size| action.sign() * size),
            device_type: Some(if device == -1 { "cpu" } else { "cuda" }),
            device: Some(device),
            total_allocated_bytes: totals.known.then(|| totals.initial.saturating_add(fact.live)),
            total_reserved_bytes: totals.known.then_some(totals.reserved),
            step: None,
            stream: number(entry.stream),
            stack_id: stack.map(i64::from),
            allocation_id: number(fact.allocation),
            pool: self.rests.get(&rest).and_then(|r| r.pool.as_deref()),
            category: None,
        });
    }

    fn event_row(
        &mut self,
        event_id: i64,
        track_id: i64,
        device: i64,
        entry: &Entry,
        stack: Option<u32>,
    ) -> Result<()> {
        let heap = &self.snapshot.heap;
        if let Some(stack) = stack
            && !self.stacks.contains_key(&stack)
        {
            let text = stack_text(heap, stack);
            self.kept += text.len() + 64;
            self.stacks.insert(stack, text);
        }
        let rest = self.rest(entry.rest);
        let rest = self.rests.get(&rest).map_or("", |rest| &rest.json[..]);
        write_args(&mut self.args, entry, rest);
        let (args, trace_id, row_no) = (&self.args, self.trace_id, self.row);
        let stack = stack.map(|no| (no, self.stacks.get(&no).map_or("", |text| &text[..])));
        self.row += 1;
        self.events.push(|columns, row, codec| {
            columns.trace_id.set(row, trace_id.as_bytes(), codec)?;
            columns.event_id.set(row, event_id);
            columns.track_id.set(row, track_id);
            columns.ph.set(row, b"i", codec)?;
            columns.cat.set(row, b"cuda_memory", codec)?;
            if entry.action != NOTHING {
                let name = heap.texts.get(entry.action);
                columns.name.set(row, String::from_utf8_lossy(name).as_bytes(), codec)?;
            }
            if let Some(ts) = time_ns(entry.time_us) {
                columns.ts_ns.set(row, ts);
            }
            columns.depth.set(row, 0);
            columns.pre.set(row, row_no);
            columns.post.set(row, row_no);
            columns.device.set(row, device);
            if let Some(stream) = number(entry.stream) {
                columns.stream.set(row, stream);
            }
            if let Some((no, text)) = stack {
                columns.call_stack.set_id(row, no, text.as_bytes(), codec)?;
            }
            columns.args.set(row, args, codec)
        })
    }

    /// Writes the annotations of a device, which are in the order of rows.
    pub fn annotations(
        &mut self,
        rows: &[AnnotationRow],
        track_id: i64,
        device: i64,
    ) -> Result<()> {
        let heap = &self.snapshot.heap;
        let first = self.row;
        for (at, a) in rows.iter().enumerate() {
            let rest = match a.rest {
                NOTHING => String::new(),
                no => format!("{{{}}}", members(heap, heap.rests.get(no))),
            };
            let (trace_id, pre) = (self.trace_id, first + at as i64);
            self.events.push(|columns, row, codec| {
                columns.trace_id.set(row, trace_id.as_bytes(), codec)?;
                columns.event_id.set(row, a.event_id);
                columns.track_id.set(row, track_id);
                columns.ph.set(row, a.ph.as_bytes(), codec)?;
                columns.cat.set(row, b"user_annotation", codec)?;
                if a.name != NOTHING {
                    columns.name.set(row, heap.texts.text(a.name).as_bytes(), codec)?;
                }
                let ints = [
                    (&mut columns.ts_ns, a.ts_ns),
                    (&mut columns.dur_ns, a.dur_ns),
                    (&mut columns.end_ns, a.ts_ns.zip(a.dur_ns).map(|(ts, dur)| ts + dur.max(0))),
                    (&mut columns.parent_id, a.parent_id),
                    (&mut columns.depth, a.depth),
                    (&mut columns.self_ns, a.self_ns),
                    (&mut columns.pre, Some(pre)),
                    (&mut columns.post, Some(first + a.last as i64)),
                    (&mut columns.device, number(device)),
                ];
                for (column, value) in ints {
                    if let Some(value) = value {
                        column.set(row, value);
                    }
                }
                if a.overlaps {
                    columns.overlaps.set(row);
                }
                if rest.is_empty() {
                    return Ok(());
                }
                columns.args.set(row, rest.as_bytes(), codec)
            })?;
            self.row += 1;
            self.flush()?;
        }
        Ok(())
    }

    /// Completes both files; returns the number of events.
    pub fn finish(mut self, counted: &mut Counted, issues: &mut Issues) -> Result<u64> {
        self.flush()?;
        for group in self.events.finish()? {
            self.events_file.write(group)?;
        }
        for group in self.memory.finish()? {
            self.memory_file.write(group)?;
        }
        let events = self.events_file.finish()?;
        counted.push((schema::EVENTS.name, events));
        counted.push((schema::MEMORY.name, self.memory_file.finish()?));
        issues.merge(self.issues);
        Ok(events)
    }
}

/// Totals of a device after each entry.
struct Totals {
    initial: i64,
    reserved: i64,
    /// Whether the history and the state are complete, so that totals are known.
    known: bool,
}

impl Totals {
    fn new(snapshot: &Snapshot, trace: &Trace, history: &History) -> Self {
        let facts = history.devices.get(&trace.device);
        Self {
            initial: facts.map_or(0, |f| f.ledger.initial_bytes),
            reserved: facts.map_or(0, |f| f.reserved_at_end.saturating_sub(f.ledger.reserved)),
            known: !snapshot.is_cut,
        }
    }

    fn take(&mut self, entry: &Entry, action: Action) {
        if action.changes_reserved() && entry.size != ABSENT {
            self.reserved = self.reserved.saturating_add(action.sign() * entry.size);
        }
    }
}

/// Returns the positions of a trace's entries in the order of time, those without a time first.
fn order_by_time(snapshot: &Snapshot, codes: &[Code]) -> Result<Vec<u32>> {
    let mut entries = Entries::new(&snapshot.heap);
    let mut times = Vec::with_capacity(codes.len());
    for code in codes {
        times.push(entries.of(*code)?.map_or(ABSENT, |(_, entry)| entry.time_us));
    }
    let mut order: Vec<u32> = (0..codes.len() as u32).collect();
    order.sort_by_key(|at| (times[*at as usize], *at));
    Ok(order)
}

/// Writes the args of an entry: its items without action, time and frames.
fn write_args(args: &mut Vec<u8>, entry: &Entry, rest: &str) {
    args.clear();
    args.push(b'{');
    let addr: &[u8] =
        if entry.flags & HAS_DEVICE_FREE != 0 { b"\"device_free\":" } else { b"\"addr\":" };
    let members: [(&[u8], i64); 3] =
        [(addr, entry.addr), (b"\"size\":", entry.size), (b"\"stream\":", entry.stream)];
    for (key, value) in members {
        if value != ABSENT {
            if args.len() > 1 {
                args.push(b',');
            }
            args.extend_from_slice(key);
            push_number(args, value);
        }
    }
    if !rest.is_empty() {
        if args.len() > 1 {
            args.push(b',');
        }
        args.extend_from_slice(rest.as_bytes());
    }
    args.push(b'}');
}

/// Appends the digits of a number.
fn push_number(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0u8; 20];
    let (mut at, mut rest) = (digits.len(), value.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

//! Encodes one row group of `events`, and the rows of other tables that come from its events.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::args::{Members, OwnArgs};
use super::context::{Context, Link, StepCursor};
use super::element::Element;
use super::event::EventRows;
use super::tables::{CounterRow, KernelRow, MemoryRow};
use super::{counters, kernel, memory};
use crate::arrange::Nest;
use crate::encode::{Effort, EncodedGroup, TableRows};
use crate::error::Result;
use crate::issues::Issues;
use crate::json::{self, Cursor, Oddities};
use crate::source::Reader;
use crate::trace::*;

const BATCH_ROWS: usize = 4096;

/// An encoded row group, with the data from its events for other tables.
pub struct Group {
    /// The rows of `events`.
    pub events: EncodedGroup,
    /// Rows of other tables.
    pub side: SideRows,
    /// Issues that were found.
    pub issues: Issues,
}

/// Rows of other tables, in the order of their events.
pub struct SideRows {
    /// Rows of `kernels`.
    pub kernels: Vec<EncodedGroup>,
    /// Rows of `memory`.
    pub memory: Vec<EncodedGroup>,
    /// Rows of `counters`.
    pub counters: Vec<EncodedGroup>,
    /// Device and stream of each track that has device work, by track number.
    pub streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    /// First start and number of operators of each `Module Hierarchy` text.
    pub hierarchies: FxHashMap<String, (i64, u64)>,
}

/// Builds row groups one after the other.
pub struct GroupBuilder<'a> {
    c: &'a Context<'a>,
    shapes: ElementShapes,
    events: EventRows,
    kernels: TableRows<KernelRow<'static>>,
    memory: TableRows<MemoryRow<'static>>,
    counters: TableRows<CounterRow<'static>>,
    steps: StepCursor,
    /// The place in the launches of the last one that was found.
    launch: usize,
    streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    hierarchies: FxHashMap<String, (i64, u64)>,
    issues: Issues,
}

impl<'a> GroupBuilder<'a> {
    /// Creates a builder for the row groups of a trace.
    pub fn new(c: &'a Context<'a>, effort: Effort) -> Self {
        Self {
            c,
            shapes: ElementShapes::default(),
            events: EventRows::new(effort),
            kernels: TableRows::new(effort),
            memory: TableRows::new(effort),
            counters: TableRows::new(effort),
            steps: StepCursor::default(),
            launch: 0,
            streams: FxHashMap::default(),
            hierarchies: FxHashMap::default(),
            issues: Issues::default(),
        }
    }

    /// Reads the rows of a range and encodes them.
    pub fn group(&mut self, range: Range<usize>) -> Result<Group> {
        let (mut records, mut nests) = (Vec::new(), Vec::new());
        let mut text = Reader::new(self.c.content, self.c.text_bytes)?;
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min(at + BATCH_ROWS);
            self.c.read(at..end, &mut records, &mut nests)?;
            for (record, nest) in records.iter().zip(&nests) {
                self.row(text.from(record.offset)?, record, nest)?;
            }
            at = end;
        }
        Ok(Group {
            events: self.events.finish(self.c.trace_id)?,
            side: SideRows {
                kernels: self.kernels.finish()?,
                memory: self.memory.finish()?,
                counters: self.counters.finish()?,
                streams: std::mem::take(&mut self.streams),
                hierarchies: std::mem::take(&mut self.hierarchies),
            },
            issues: std::mem::take(&mut self.issues),
        })
    }

    /// Appends the rows of the element at the start of `text`.
    fn row(&mut self, text: &[u8], record: &EventRecord, nest: &Nest) -> Result<()> {
        let shapes = &mut self.shapes;
        let read = || EventFields::read_like(&mut Cursor::new(text, 0), shapes).ok();
        let fields = record.has(WHOLE).then(read).flatten();
        let args = (record.args != 0).then(|| text.get(record.args as usize..)).flatten();
        let element = Element { record, args, fields: fields.as_ref(), text };
        let class = record.class();
        let link = class.is_device().then(|| self.c.link(record, &mut self.launch));
        let step = match &link {
            Some(link) => link.step,
            None => self.steps.step(self.c, record),
        };
        let link = link.filter(|_| record.ph == b'X' || record.is_span());
        let members = if link.is_some() {
            Members::Kernel(Default::default())
        } else if class == Class::Memory {
            Members::Memory(Default::default())
        } else if record.ph == b'C' {
            Members::Counter(Vec::new())
        } else {
            Members::None
        };
        let mut own = OwnArgs { members, module_hierarchy: None };
        self.events.push(self.c, &element, nest, step, &mut own, &mut self.issues)?;
        if let Some(text) = own.module_hierarchy {
            self.hierarchy(text, record);
        }
        self.side_rows(&element, own.members, link, step);
        Ok(())
    }

    /// Appends the rows of other tables.
    fn side_rows(
        &mut self,
        e: &Element<'_>,
        members: Members<'_>,
        link: Option<Link>,
        step: Option<i64>,
    ) {
        let (c, issues) = (self.c, &mut self.issues);
        match (members, link) {
            (Members::Kernel(args), Some(link)) => {
                let values = self.events.values();
                kernel::push(&mut self.kernels, c, e, values, *args, &link, issues);
                self.streams.entry(e.record.track).or_insert((values.device, values.stream));
            }
            (Members::Memory(args), _) => {
                memory::push(&mut self.memory, c, e, &args, step, issues);
            }
            (Members::Counter(series), _) => {
                counters::push(&mut self.counters, c, e, &series, issues);
            }
            _ => {}
        }
    }

    /// Counts an operator with a `Module Hierarchy`.
    fn hierarchy(&mut self, text: &[u8], record: &EventRecord) {
        let text = json::as_text(json::unquote(text), &mut Oddities::default());
        if !text.is_empty() {
            let entry = self.hierarchies.entry(text.into_owned()).or_insert((i64::MAX, 0));
            entry.0 = entry.0.min(record.ts);
            entry.1 += 1;
        }
    }
}

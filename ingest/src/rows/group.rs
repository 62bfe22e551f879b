//! Encoding one row group of `events`, and the rows of other tables that its events give.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::context::{Context, StepCursor};
use super::event::{Element, EventRows};
use super::{counters, kernel, memory};
use crate::encode::{Effort, EncodedGroup, TableRows};
use crate::error::Result;
use crate::issues::Issues;
use crate::json::{self, Cursor, Oddities};
use crate::order::Nest;
use crate::schema;
use crate::source::Reader;
use crate::trace::*;

const BATCH_ROWS: usize = 4096;

/// A row group, encoded, and what came with it.
pub struct Group {
    /// The rows of `events`.
    pub events: EncodedGroup,
    /// Rows of other tables.
    pub side: SideRows,
    /// What was odd.
    pub issues: Issues,
}

/// Rows of other tables, in the order of events.
pub struct SideRows {
    /// Rows of `kernels`.
    pub kernels: Vec<EncodedGroup>,
    /// Rows of `memory`.
    pub memory: Vec<EncodedGroup>,
    /// Rows of `counters`.
    pub counters: Vec<EncodedGroup>,
    /// Device and stream of tracks with device work, by track number.
    pub streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    /// `Module Hierarchy` texts: first start and number of operators.
    pub hierarchies: FxHashMap<String, (i64, u64)>,
}

/// Makes row groups, one after the other.
pub struct Maker<'a> {
    c: &'a Context<'a>,
    events: EventRows,
    kernels: TableRows,
    memory: TableRows,
    counters: TableRows,
    steps: StepCursor,
    streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    hierarchies: FxHashMap<String, (i64, u64)>,
    issues: Issues,
}

impl<'a> Maker<'a> {
    /// A maker of row groups of a trace.
    pub fn new(c: &'a Context<'a>, effort: Effort) -> Self {
        Self {
            c,
            events: EventRows::new(effort),
            kernels: TableRows::new(&schema::KERNELS, effort),
            memory: TableRows::new(&schema::MEMORY, effort),
            counters: TableRows::new(&schema::COUNTERS, effort),
            steps: StepCursor::default(),
            streams: FxHashMap::default(),
            hierarchies: FxHashMap::default(),
            issues: Issues::default(),
        }
    }

    /// Makes the rows of a range and encodes them.
    pub fn group(&mut self, range: Range<usize>) -> Result<Group> {
        let (mut keys, mut nests) = (Vec::new(), Vec::new());
        let mut text = Reader::new(self.c.content, self.c.text_bytes)?;
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min(at + BATCH_ROWS);
            self.c.read(at..end, &mut keys, &mut nests)?;
            for (key, nest) in keys.iter().zip(&nests) {
                self.row(text.from(key.offset)?, key, nest)?;
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

    /// Makes the row of the element at the start of `whole`.
    fn row(&mut self, whole: &[u8], key: &Key, nest: &Nest) -> Result<()> {
        let head = (key.has(WHOLE)).then(|| Head::read(&mut Cursor::new(whole, 0)).ok()).flatten();
        let args = (key.args != 0).then(|| whole.get(key.args as usize..)).flatten();
        let element = Element { key, args, head: head.as_ref(), text: whole };
        let class = key.class();
        let link = class.is_device().then(|| self.c.link(key));
        let step = match &link {
            Some(link) => link.step,
            None => self.steps.step(self.c, key),
        };
        self.events.push(self.c, &element, nest, step, &mut self.issues)?;
        let values = self.events.found();
        if let Some(link) = link.filter(|_| key.ph == b'X' || key.is_span()) {
            kernel::push(&mut self.kernels, self.c, &element, values, &link, &mut self.issues);
            self.streams.entry(key.track).or_insert((values.device, values.stream));
        } else if class == Class::Memory {
            memory::push(&mut self.memory, self.c, &element, step, &mut self.issues);
        } else if key.ph == b'C' {
            counters::push(&mut self.counters, self.c, &element, &mut self.issues);
        }
        if values.module_hierarchy.is_some() && args.is_some() {
            self.hierarchy(&element);
        }
        Ok(())
    }

    fn hierarchy(&mut self, e: &Element<'_>) {
        let mut found = None;
        let _ = Cursor::new(e.args.unwrap_or_default(), 0).object(|key, value| {
            if key == b"Module Hierarchy" && json::is_text(value) {
                found = Some(
                    json::as_text(json::unquote(value), &mut Oddities::default()).into_owned(),
                );
            }
        });
        if let Some(text) = found.filter(|t| !t.is_empty()) {
            let entry = self.hierarchies.entry(text).or_insert((i64::MAX, 0));
            entry.0 = entry.0.min(e.key.ts);
            entry.1 += 1;
        }
    }
}

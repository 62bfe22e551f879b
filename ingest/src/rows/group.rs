//! Encoding one row group of `events`, and the rows of other tables that its events give.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use rustc_hash::FxHashMap;

use super::columns::TableRows;
use super::context::{Context, StepCursor};
use super::event::{Element, EventRows};
use super::{counters, kernel, memory};
use crate::error::Result;
use crate::issues::Issues;
use crate::json::{self, Cursor, Oddities};
use crate::order::Nest;
use crate::schema;
use crate::source::Reader;
use crate::trace::*;

const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 64 << 20;

/// A row group, encoded, and what came with it.
pub struct Group {
    /// The columns of `events`.
    pub columns: Vec<ArrowColumnChunk>,
    /// Rows of other tables.
    pub side: SideRows,
    /// What was odd.
    pub issues: Issues,
}

/// Rows of other tables, in the order of events.
pub struct SideRows {
    /// Rows of `kernels`.
    pub kernels: Vec<RecordBatch>,
    /// Rows of `memory`.
    pub memory: Vec<RecordBatch>,
    /// Rows of `counters`.
    pub counters: Vec<RecordBatch>,
    /// Device and stream of tracks with device work, by track number.
    pub streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    /// `Module Hierarchy` texts: first start and number of operators.
    pub hierarchies: FxHashMap<String, (i64, u64)>,
}

/// Makes the rows of a range and encodes them.
pub fn encode_group(c: &Context<'_>, range: Range<usize>, mut writers: Vec<ArrowColumnWriter>) -> Result<Group> {
    let mut maker = Maker {
        c,
        events: EventRows::default(),
        steps: StepCursor::default(),
        kernels: TableRows::new(&schema::KERNELS),
        memory: TableRows::new(&schema::MEMORY),
        counters: TableRows::new(&schema::COUNTERS),
        streams: FxHashMap::default(),
        hierarchies: FxHashMap::default(),
        issues: Issues::default(),
    };
    let (mut keys, mut nests) = (Vec::new(), Vec::new());
    let mut text = Reader::new(c.content, c.text_bytes)?;
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + BATCH_ROWS);
        c.read(at..end, &mut keys, &mut nests)?;
        for (i, (key, nest)) in keys.iter().zip(&nests).enumerate() {
            maker.row(text.from(key.offset)?, key, nest, at + i);
            let (rows, bytes) = maker.events.size();
            if rows == BATCH_ROWS || bytes > BATCH_BYTES {
                maker.write(&mut writers)?;
            }
        }
        at = end;
    }
    maker.write(&mut writers)?;
    let columns: std::result::Result<Vec<_>, _> = writers.into_iter().map(ArrowColumnWriter::close).collect();
    Ok(Group {
        columns: columns?,
        side: SideRows {
            kernels: maker.kernels.finish_all()?,
            memory: maker.memory.finish_all()?,
            counters: maker.counters.finish_all()?,
            streams: maker.streams,
            hierarchies: maker.hierarchies,
        },
        issues: maker.issues,
    })
}

struct Maker<'a> {
    c: &'a Context<'a>,
    events: EventRows,
    steps: StepCursor,
    kernels: TableRows,
    memory: TableRows,
    counters: TableRows,
    streams: FxHashMap<u32, (Option<i64>, Option<i64>)>,
    hierarchies: FxHashMap<String, (i64, u64)>,
    issues: Issues,
}

impl Maker<'_> {
    /// Makes the row of the element at the start of `whole`.
    fn row(&mut self, whole: &[u8], key: &Key, nest: &Nest, row: usize) {
        let head = (key.has(WHOLE)).then(|| Head::read(&mut Cursor::new(whole, 0)).ok()).flatten();
        let args = (key.args != 0).then(|| whole.get(key.args as usize..)).flatten();
        let element = Element { key, args, head: head.as_ref(), text: whole };
        let class = key.class();
        let link = class.is_device().then(|| self.c.link(key));
        let step = match &link {
            Some(link) => link.step,
            None => self.steps.step(self.c, key),
        };
        let values = self.events.push(self.c, &element, nest, row, step, &mut self.issues);
        if let Some(link) = link.filter(|_| key.ph == b'X' || key.is_span()) {
            let name = self.name(&element);
            kernel::push(&mut self.kernels, self.c, &element, &values, &link, name.as_deref(), &mut self.issues);
            self.streams.entry(key.track).or_insert((values.device, values.stream));
        } else if class == Class::Memory {
            memory::push(&mut self.memory, self.c, &element, step, &mut self.issues);
        } else if key.ph == b'C' {
            let name = self.name(&element);
            counters::push(&mut self.counters, self.c, &element, name.as_deref(), &mut self.issues);
        }
        if values.module_hierarchy.is_some() && args.is_some() {
            self.hierarchy(&element);
        }
    }

    fn name(&self, e: &Element<'_>) -> Option<Arc<str>> {
        match e.key.name {
            NO_TEXT => None,
            INLINE_TEXT => {
                let head = Head::read(&mut Cursor::new(e.text, 0)).ok()?;
                Some(json::as_text(head.name_text(), &mut Oddities::default()).into())
            }
            id => Some(self.c.texts[id as usize].clone()),
        }
    }

    fn hierarchy(&mut self, e: &Element<'_>) {
        let mut found = None;
        let _ = Cursor::new(e.args.unwrap_or_default(), 0).object(|key, value| {
            if key == b"Module Hierarchy" && json::is_text(value) {
                found = Some(json::as_text(json::unquote(value), &mut Oddities::default()).into_owned());
            }
        });
        if let Some(text) = found.filter(|t| !t.is_empty()) {
            let entry = self.hierarchies.entry(text).or_insert((i64::MAX, 0));
            entry.0 = entry.0.min(e.key.ts);
            entry.1 += 1;
        }
    }

    fn write(&mut self, writers: &mut [ArrowColumnWriter]) -> Result<()> {
        self.kernels.part()?;
        self.memory.part()?;
        self.counters.part()?;
        if self.events.size().0 == 0 {
            return Ok(());
        }
        let arrays = self.events.finish(self.c.trace_id)?;
        let schema = schema::EVENTS.schema();
        for ((array, field), writer) in arrays.iter().zip(schema.fields()).zip(writers) {
            for leaf in compute_leaves(field, array)? {
                writer.write(&leaf)?;
            }
        }
        Ok(())
    }
}

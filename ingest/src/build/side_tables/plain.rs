//! Rows of `events` that do not nest, or whose nesting is given.

use std::path::Path;

use super::super::small_tables::Counted;
use crate::encode::{Effort, RowGroups};
use crate::error::Result;
use crate::rows::EventColumns;
use crate::schema;
use crate::store::TableFile;

/// An event as its reader knows it. The columns of Kineto and of devices are NULL.
#[derive(Default)]
pub struct PlainEvent<'e> {
    pub event_id: u64,
    pub track: i64,
    pub pid: Option<i64>,
    pub ph: &'static str,
    pub cat: &'static str,
    pub name: Option<&'e str>,
    pub ts: Option<i64>,
    pub dur: Option<i64>,
    pub sequence: Option<i64>,
    /// Frames joined by `;`, root first.
    pub stack: Option<&'e str>,
    /// Args as a JSON object; empty for none.
    pub args: &'e str,
    /// Place among enclosing events, if events nest.
    pub nest: Option<Nest>,
}

/// The place of an event among those that enclose it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nest {
    pub parent: Option<u64>,
    pub depth: i64,
    pub self_ns: Option<i64>,
    /// Position and last position of the columns `pre` and `post`.
    pub span: (i64, i64),
}

/// Writes `events`. Rows come in the order of the table.
pub struct PlainEvents<'a> {
    trace_id: &'a str,
    rows: RowGroups<EventColumns>,
    file: TableFile,
    row: i64,
    bounds: Option<(i64, i64)>,
}

impl<'a> PlainEvents<'a> {
    /// Creates the file.
    pub fn create(trace_id: &'a str, folder: &Path, effort: Effort) -> Result<Self> {
        Ok(Self {
            trace_id,
            rows: RowGroups::new(EventColumns::new(effort), effort),
            file: TableFile::create(folder, &schema::EVENTS)?,
            row: 0,
            bounds: None,
        })
    }

    /// Appends an event.
    pub fn push(&mut self, event: &PlainEvent<'_>) -> Result<()> {
        let (trace_id, at) = (self.trace_id, self.row);
        self.row += 1;
        let end = event.ts.zip(event.dur).and_then(|(ts, dur)| ts.checked_add(dur.max(0)));
        if let Some(ts) = event.ts {
            let (start, last) = self.bounds.unwrap_or((ts, ts));
            self.bounds = Some((start.min(ts), last.max(end.unwrap_or(ts))));
        }
        self.rows.push(|columns, row, codec| {
            columns.trace_id.set(row, trace_id.as_bytes(), codec)?;
            columns.ph.set(row, event.ph.as_bytes(), codec)?;
            columns.cat.set(row, event.cat.as_bytes(), codec)?;
            if let Some(name) = event.name {
                columns.name.set(row, name.as_bytes(), codec)?;
            }
            if let Some(stack) = event.stack {
                columns.call_stack.set(row, stack.as_bytes(), codec)?;
            }
            let nest = event.nest;
            let (pre, post) = nest.map_or((at, at), |nest| nest.span);
            let ints = [
                (&mut columns.event_id, Some(event.event_id as i64)),
                (&mut columns.track_id, Some(event.track)),
                (&mut columns.pid, event.pid),
                (&mut columns.ts_ns, event.ts),
                (&mut columns.dur_ns, event.dur.filter(|_| end.is_some())),
                (&mut columns.end_ns, end),
                (&mut columns.parent_id, nest.and_then(|n| n.parent).map(|id| id as i64)),
                (&mut columns.depth, nest.map(|n| n.depth)),
                (&mut columns.self_ns, nest.and_then(|n| n.self_ns)),
                (&mut columns.pre, Some(pre)),
                (&mut columns.post, Some(post)),
                (&mut columns.sequence_number, event.sequence),
            ];
            for (column, value) in ints {
                if let Some(value) = value {
                    column.set(row, value);
                }
            }
            if event.args.is_empty() {
                return Ok(());
            }
            columns.args.set(row, event.args.as_bytes(), codec)
        })?;
        for group in self.rows.take_groups() {
            self.file.write(group)?;
        }
        Ok(())
    }

    /// Completes the file; returns the number of rows, and the first start and last end.
    pub fn finish(mut self, counted: &mut Counted) -> Result<(u64, Option<(i64, i64)>)> {
        for group in self.rows.finish()? {
            self.file.write(group)?;
        }
        let events = self.file.finish()?;
        counted.push((schema::EVENTS.name, events));
        Ok((events, self.bounds))
    }
}

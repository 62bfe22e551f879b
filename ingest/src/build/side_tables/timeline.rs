//! The tables of a memory timeline.

use super::plain::{PlainEvent, PlainEvents};
use super::{Facts, TopFacts, Writing, unix_base};
use crate::encode::{Interned, TableRows};
use crate::error::Result;
use crate::issues::Issues;
use crate::rows::{CounterRow, MemoryRow};
use crate::schema;
use crate::side::timeline::{ACTIONS, CATEGORIES, Entry, Point, read_raw, read_sizes};
use crate::store::TableFile;

/// The name of the counter that has the sizes of categories.
const COUNTER: &str = "memory by category";

impl Writing<'_> {
    /// Writes single entries as rows of `memory` and as events.
    pub fn raw_timeline(&mut self, budget: usize) -> Result<Facts> {
        let name = self.tables.origin.name;
        let read = read_raw(name, self.read.content, budget, self.read.progress)?;
        let (trace_id, folder, effort) = (self.trace_id(), self.tables.folder, self.tables.effort);
        let mut events = PlainEvents::create(trace_id, folder, effort)?;
        let mut file = TableFile::create(folder, &schema::MEMORY)?;
        let mut rows = TableRows::new(effort);
        let mut total = 0i64;
        for (no, entry) in read.entries.iter().enumerate() {
            if no.is_multiple_of(1 << 14) {
                self.read.progress.go_on()?;
            }
            total = total.saturating_add(entry.bytes);
            let (action, category) = texts(entry);
            events.push(&PlainEvent {
                event_id: entry.ord,
                ph: "i",
                cat: "memory_timeline",
                name: action,
                ts: entry.ts,
                args: &args(entry, category),
                ..PlainEvent::default()
            })?;
            rows.push(MemoryRow {
                trace_id,
                event_id: entry.ord as i64,
                ts_ns: entry.ts,
                action,
                bytes: Some(entry.bytes),
                total_allocated_bytes: Some(total),
                category,
                ..MemoryRow::default()
            });
            rows.take_groups().into_iter().try_for_each(|group| file.write(group))?;
        }
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        self.counted.push((schema::MEMORY.name, file.finish()?));
        self.end(events, read.elements, read.issues, "other")
    }

    /// Writes the sizes at each time as counters and as events.
    pub fn sizes(&mut self, budget: usize) -> Result<Facts> {
        let (trace_id, folder, effort) = (self.trace_id(), self.tables.folder, self.tables.effort);
        let mut events = PlainEvents::create(trace_id, folder, effort)?;
        let mut file = TableFile::create(folder, &schema::COUNTERS)?;
        let mut rows = TableRows::new(effort);
        let (name, progress) = (self.tables.origin.name, self.read.progress);
        let (elements, issues) =
            read_sizes(name, self.read.content, budget, progress, |point: Point| {
                let members: Vec<String> = CATEGORIES
                    .iter()
                    .zip(point.bytes)
                    .map(|(category, bytes)| format!("\"{category}\":{bytes}"))
                    .collect();
                events.push(&PlainEvent {
                    event_id: point.ord,
                    ph: "C",
                    cat: "memory_timeline",
                    name: Some(COUNTER),
                    ts: Some(point.ts),
                    args: &format!("{{{}}}", members.join(",")),
                    ..PlainEvent::default()
                })?;
                for (category, bytes) in CATEGORIES.iter().zip(point.bytes) {
                    rows.push(CounterRow {
                        trace_id,
                        event_id: point.ord as i64,
                        ts_ns: point.ts,
                        track_id: 0,
                        name: Some(Interned::Numbered(0, COUNTER)),
                        series: (*category).into(),
                        value: Some(bytes as f64),
                    });
                }
                rows.take_groups().into_iter().try_for_each(|group| file.write(group))
            })?;
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        self.counted.push((schema::COUNTERS.name, file.finish()?));
        self.end(events, elements, issues, "counter")
    }

    fn end(
        &mut self,
        events: PlainEvents<'_>,
        elements: u64,
        issues: Issues,
        kind: &str,
    ) -> Result<Facts> {
        let (count, bounds) = events.finish(&mut self.counted)?;
        let tracks = [(COUNTER.to_owned(), kind)];
        self.tracks("memory timeline", None, &tracks[..usize::from(count > 0)])?;
        let top = TopFacts {
            base_time_ns: unix_base(bounds),
            metadata: "{}".to_owned(),
            ..TopFacts::default()
        };
        Ok(Facts {
            format: "memory_timeline",
            framework: Some("pytorch"),
            top,
            bounds,
            elements,
            events: count,
            issues,
        })
    }
}

fn texts(entry: &Entry) -> (Option<&'static str>, Option<&'static str>) {
    let text = |list: &[&'static str], at: Option<u8>| list.get(usize::from(at?)).copied();
    (text(&ACTIONS, entry.action), text(&CATEGORIES, entry.category))
}

fn args(entry: &Entry, category: Option<&str>) -> String {
    match category {
        Some(category) => format!("{{\"bytes\":{},\"category\":\"{category}\"}}", entry.bytes),
        None => format!("{{\"bytes\":{}}}", entry.bytes),
    }
}

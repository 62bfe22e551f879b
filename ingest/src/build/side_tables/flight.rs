//! The tables of a dump of the flight recorder.

use super::plain::{PlainEvent, PlainEvents};
use super::{Facts, TopFacts, Writing};
use crate::encode::TableRows;
use crate::error::Result;
use crate::issues::Code;
use crate::rows::{FlightGroupRow, FlightRecordRow};
use crate::schema;
use crate::side::flight::{Dump, Group, Record, groups, rank_of_name, world_size};

/// What tells process groups of records apart.
type Key<'r> = (Option<i64>, Option<&'r str>, Option<&'r str>);

fn key(record: &Record) -> Key<'_> {
    (record.group_id, record.group_name.as_deref(), record.group_description.as_deref())
}

/// The name of a group's track: description and name, as far as they are known.
fn track_name((id, name, description): Key<'_>) -> String {
    match (description, name, id) {
        (Some(description), Some(name), _) => format!("{description} ({name})"),
        (None, Some(name), _) | (Some(name), None, _) => name.to_owned(),
        (None, None, Some(id)) => format!("group {id}"),
        (None, None, None) => "unknown group".to_owned(),
    }
}

impl Writing<'_> {
    /// Writes the records as events, one track for each process group, and the tables of the dump.
    pub fn flight(&mut self, mut dump: Dump) -> Result<Facts> {
        let mut tracks: Vec<Key<'_>> = dump.records.iter().map(key).collect();
        tracks.sort_unstable();
        tracks.dedup();
        let track = |record: &Record| tracks.binary_search(&key(record)).unwrap_or_default();
        let mut order: Vec<(usize, &Record)> =
            dump.records.iter().map(|record| (track(record), record)).collect();
        order.sort_by_key(|(track, record)| (*track, record.created, record.ord));

        let names: Vec<(String, &str)> =
            tracks.iter().map(|key| (track_name(*key), "span")).collect();
        self.tracks("flight recorder", None, &names)?;
        let effort = self.tables.effort;
        let mut events = PlainEvents::create(self.trace_id(), self.tables.folder, effort)?;
        let mut rows = TableRows::new(effort);
        for (no, (track, record)) in order.iter().enumerate() {
            if no.is_multiple_of(4096) {
                self.read.progress.go_on()?;
            }
            let whole = record.created.zip(record.completed);
            let dur = whole.and_then(|(from, to)| to.checked_sub(from));
            if dur.is_some_and(|dur| dur < 0) {
                dump.issues.add(Code::NegativeDuration, Some(record.ord), None, b"");
            }
            events.push(&PlainEvent {
                event_id: record.ord,
                track: *track as i64,
                // A collective that has not completed has begun and not ended.
                ph: if record.is_completed() { "X" } else { "B" },
                cat: "collective",
                name: record.name.as_deref(),
                ts: record.created,
                dur,
                stack: record.stack.as_deref(),
                args: &record.args,
                ..PlainEvent::default()
            })?;
            rows.push(row(self.trace_id(), record));
        }
        let (count, bounds) = events.finish(&mut self.counted)?;
        self.tables.put(&schema::FLIGHT_RECORDS, rows.finish()?, &mut self.counted)?;
        let metadata = dump.metadata.object();
        let groups = groups(&metadata, &dump.records);
        self.groups(&groups)?;
        let backend = dump.records.iter().find_map(|r| Some(r.name.as_ref()?.split_once(':')?.0));
        let top = TopFacts {
            rank: rank_of_name(self.tables.origin.name),
            world_size: world_size(&groups),
            backend: backend.map(str::to_owned),
            base_time_ns: bounds.map(|_| 0),
            metadata,
            ..TopFacts::default()
        };
        Ok(Facts {
            format: "flight_recorder",
            framework: Some("pytorch"),
            top,
            bounds,
            elements: dump.elements,
            events: count,
            issues: dump.issues,
        })
    }

    fn groups(&mut self, groups: &[Group]) -> Result<()> {
        let mut rows = TableRows::new(self.tables.effort);
        for group in groups {
            let ranks = group.ranks.as_ref().map(|ranks| format!("{ranks:?}"));
            rows.push(FlightGroupRow {
                trace_id: self.trace_id(),
                group_id: group.id,
                group_name: group.name.as_deref(),
                description: group.description.as_deref(),
                ranks: ranks.as_deref(),
                size: group.ranks.as_ref().map(|ranks| ranks.len() as i64),
                last_enqueued_seq: group.last[0],
                last_started_seq: group.last[1],
                last_completed_seq: group.last[2],
            });
        }
        self.tables.put(&schema::FLIGHT_GROUPS, rows.finish()?, &mut self.counted)
    }
}

fn row<'r>(trace_id: &'r str, record: &'r Record) -> FlightRecordRow<'r> {
    FlightRecordRow {
        trace_id,
        event_id: record.ord as i64,
        record_id: record.record_id,
        group_id: record.group_id,
        group_name: record.group_name.as_deref(),
        group_description: record.group_description.as_deref(),
        collective_seq: record.collective_seq,
        p2p_seq: record.p2p_seq,
        op_id: record.op_id,
        name: record.name.as_deref(),
        is_p2p: record.is_p2p,
        state: record.state.as_deref(),
        retired: record.retired,
        created_ns: record.created,
        started_ns: record.started,
        completed_ns: record.completed,
        duration_ns: record.duration,
        timeout_ns: record.timeout,
        input_sizes: record.input_sizes.as_deref(),
        input_dtypes: record.input_dtypes.as_deref(),
        output_sizes: record.output_sizes.as_deref(),
        output_dtypes: record.output_dtypes.as_deref(),
        thread_id: record.thread_id.as_deref(),
        thread_name: record.thread_name.as_deref(),
    }
}

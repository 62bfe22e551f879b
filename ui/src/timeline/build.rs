//! Builds the index from the tables of the store.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use rustc_hash::FxHashMap;
use serde_json::json;
use tracesql::engine::{Engine, int, text};
use tracesql::{Error, Result};
use tracesql_udfs::lanes::{Builder, Counter, Event};

use super::clock::{Known, ahead, clocks};
use super::columns::Columns;
use super::{Clock, Timeline, Trace, Track};

/// The most traces of a timeline.
const MAX_TRACES: usize = 1_024;
/// The memory of an event in the index.
const EVENT_BYTES: u64 = 24;
/// Times of the timeline beyond this are not exact in a browser.
const MAX_TIME_NS: i64 = 1 << 53;

const EVENTS: &str = "
    SELECT trace_id, track_id, event_id, parent_id, depth, ts_ns, end_ns, name
    FROM events WHERE ts_ns IS NOT NULL AND depth IS NOT NULL
    ORDER BY trace_id, track_id, ts_ns, end_ns DESC NULLS LAST, event_id";
const TRACKS: &str = "
    SELECT trace_id, track_id, kind, process_name, thread_name, pid_text, tid_text, device, stream,
           sort_index
    FROM tracks ORDER BY trace_id, sort_index NULLS LAST, track_id";
const STEPS: &str =
    "SELECT trace_id, step, start_ns, end_ns FROM steps ORDER BY trace_id, start_ns";
const COUNTERS: &str = "
    SELECT trace_id, track_id, name, series, ts_ns, value FROM counters
    WHERE value IS NOT NULL AND ts_ns IS NOT NULL ORDER BY trace_id, track_id, name, series, ts_ns";
const MEMORY: &str = "
    SELECT trace_id, device_type, device, ts_ns, total_allocated_bytes, total_reserved_bytes
    FROM memory WHERE ts_ns IS NOT NULL AND total_allocated_bytes IS NOT NULL
    ORDER BY trace_id, device_type, device, ts_ns, event_id";

impl Timeline {
    /// Builds the index of all traces of a session. `memory_limit` is that of the process in bytes,
    /// 0 for none; an index that needs more than half of it is refused.
    pub async fn build(engine: &Engine, memory_limit: usize) -> Result<Self> {
        let mut timeline = Self::default();
        timeline.add_traces(engine, memory_limit).await?;
        let numbers: HashMap<String, usize> =
            timeline.traces.iter().enumerate().map(|(n, t)| (t.trace_id.clone(), n)).collect();
        timeline.add_tracks(engine, &numbers).await?;
        timeline.add_events(engine, &numbers).await?;
        timeline.add_counters(engine, &numbers).await?;
        timeline.add_memory(engine, &numbers).await?;
        timeline.add_steps(engine, &numbers).await?;
        timeline.tracks.retain(|track| track.extent().is_some());
        timeline.tracks.sort_by_key(|track| track.trace);
        timeline.by_key =
            timeline.tracks.iter().enumerate().map(|(at, track)| (track.key(), at)).collect();
        timeline.end =
            timeline.tracks.iter().filter_map(|t| Some(t.extent()?.1)).max().unwrap_or_default();
        Ok(timeline)
    }

    async fn add_traces(&mut self, engine: &Engine, memory_limit: usize) -> Result<()> {
        // The earliest time of any event: traces.start_ns leaves metadata and marks out.
        let sql = "
            SELECT t.trace_id, t.path, t.rank, t.base_time_ns, e.start_ns, e.events
            FROM traces t
            JOIN (
                SELECT trace_id, min(ts_ns) AS start_ns, count(*) AS events
                FROM events WHERE depth IS NOT NULL AND ts_ns IS NOT NULL GROUP BY trace_id
            ) e ON e.trace_id = t.trace_id
            ORDER BY t.rank NULLS LAST, t.path, t.trace_id";
        let mut rows = engine.objects(sql).await?;
        self.left_out = engine.traces().len() - rows.len().min(engine.traces().len());
        if rows.len() > MAX_TRACES {
            self.left_out += rows.len() - MAX_TRACES;
            rows.truncate(MAX_TRACES);
        }
        let events: i64 = rows.iter().filter_map(|row| int(row, "events")).sum();
        let bytes = events.unsigned_abs().saturating_mul(EVENT_BYTES);
        if memory_limit > 0 && bytes > memory_limit as u64 / 2 {
            return Err(Error::Query(format!(
                "a timeline of {events} events needs {} MiB, and the limit of memory is {} MiB; \
                 allow more with --memory-limit, or open fewer traces with --trace",
                bytes >> 20,
                memory_limit >> 20,
            )));
        }
        let ahead = if rows.len() > 1 { ahead(engine).await? } else { Vec::new() };
        let known: Vec<Known> = rows
            .iter()
            .map(|row| {
                let trace_id = text(row, "trace_id").unwrap_or_default();
                let of_this = ahead.iter().find(|(id, _, _)| *id == trace_id);
                Known {
                    start_ns: int(row, "start_ns").unwrap_or_default(),
                    base_ns: int(row, "base_time_ns"),
                    ahead: of_this.map(|(_, ns, note)| (*ns, note.clone())),
                    trace_id,
                }
            })
            .collect();
        for ((row, known), clock) in rows.iter().zip(&known).zip(clocks(&known)) {
            let path = text(row, "path").unwrap_or_default();
            self.traces.push(Trace {
                trace_id: known.trace_id.clone(),
                name: path.rsplit('/').next().unwrap_or_default().to_owned(),
                rank: int(row, "rank"),
                clock,
            });
        }
        Ok(())
    }

    async fn add_tracks(
        &mut self,
        engine: &Engine,
        numbers: &HashMap<String, usize>,
    ) -> Result<()> {
        for row in engine.objects(TRACKS).await? {
            let trace = text(&row, "trace_id").and_then(|id| numbers.get(&id).copied());
            let (Some(trace), Some(track_id)) = (trace, int(&row, "track_id")) else { continue };
            let about = json!({
                "kind": row.get("kind"),
                "process": row.get("process_name"),
                "name": row.get("thread_name"),
                "pid": row.get("pid_text"),
                "tid": row.get("tid_text"),
                "device": row.get("device"),
                "stream": row.get("stream"),
            });
            self.add_track(trace, Some(track_id), about);
        }
        Ok(())
    }

    fn add_track(
        &mut self,
        trace: usize,
        track_id: Option<i64>,
        about: serde_json::Value,
    ) -> usize {
        let track = Track {
            trace,
            track_id,
            about,
            lanes: Default::default(),
            series: Vec::new(),
            busy_ns: 0,
        };
        self.by_key.insert(track.key(), self.tracks.len());
        self.tracks.push(track);
        self.tracks.len() - 1
    }

    async fn add_events(
        &mut self,
        engine: &Engine,
        numbers: &HashMap<String, usize>,
    ) -> Result<()> {
        let mut names = Names::default();
        let mut open: Option<(usize, Builder)> = None;
        let mut known: Option<(String, Option<usize>)> = None;
        let mut of_track: Option<(usize, i64, Option<usize>)> = None;
        let mut far = 0_u64;
        let mut batches = rows(engine, EVENTS).await?;
        while let Some(batch) = batches.next().await {
            let batch = batch.map_err(Error::from)?;
            let columns = Columns::of(&batch)?;
            for row in 0..batch.num_rows() {
                let trace_id = columns.text(0, row).unwrap_or_default();
                if known.as_ref().is_none_or(|(id, _)| id != trace_id) {
                    known = Some((trace_id.to_owned(), numbers.get(trace_id).copied()));
                }
                let Some((_, Some(trace))) = known else { continue };
                let (Some(track_id), Some(id)) = (columns.int(1, row), columns.int(2, row)) else {
                    continue;
                };
                if of_track.is_none_or(|(known, id, _)| (known, id) != (trace, track_id)) {
                    let at = self.by_key.get(&format!("{trace}:{track_id}")).copied();
                    of_track = Some((trace, track_id, at));
                }
                let Some((_, _, Some(at))) = of_track else { continue };
                if open.as_ref().is_none_or(|(current, _)| *current != at) {
                    self.close(open.replace((at, Builder::new())))?;
                }
                let clock = &self.traces[trace].clock;
                let start = columns.int(5, row).unwrap_or_default();
                let end = columns.int(6, row).unwrap_or(start);
                let (Some(start), Some(end), Ok(id)) =
                    (on(clock, start), on(clock, end), u32::try_from(id))
                else {
                    far += 1;
                    continue;
                };
                let name = names.number(columns.text(7, row).unwrap_or_default());
                if let Some((_, builder)) = &mut open {
                    builder.add(Event {
                        id,
                        parent: columns.int(3, row).and_then(|id| u32::try_from(id).ok()),
                        depth: columns.int(4, row).unwrap_or_default().clamp(0, 1 << 30) as u32,
                        start,
                        end,
                        name,
                    });
                }
            }
        }
        self.close(open)?;
        self.names = names.texts;
        if far > 0 {
            self.note = format!("{far} events lie more than 104 days from the first one");
        }
        Ok(())
    }

    fn close(&mut self, open: Option<(usize, Builder)>) -> Result<()> {
        let Some((at, builder)) = open else { return Ok(()) };
        let lanes = builder
            .finish()
            .ok_or_else(|| Error::Query("the events of a track came out of order".into()))?;
        let track = &mut self.tracks[at];
        track.busy_ns = lanes.busy_ns();
        track.lanes = lanes;
        Ok(())
    }

    async fn add_counters(
        &mut self,
        engine: &Engine,
        numbers: &HashMap<String, usize>,
    ) -> Result<()> {
        let mut batches = rows(engine, COUNTERS).await?;
        while let Some(batch) = batches.next().await {
            let batch = batch.map_err(Error::from)?;
            let columns = Columns::of(&batch)?;
            for row in 0..batch.num_rows() {
                let trace = columns.text(0, row).and_then(|id| numbers.get(id).copied());
                let (Some(trace), Some(track_id)) = (trace, columns.int(1, row)) else { continue };
                let Some(at) = self.by_key.get(&format!("{trace}:{track_id}")).copied() else {
                    continue;
                };
                let name = match (columns.text(2, row), columns.text(3, row)) {
                    (Some(name), Some(series)) if name != series => format!("{name} {series}"),
                    (name, series) => name.or(series).unwrap_or_default().to_owned(),
                };
                self.add_value(at, name, "number", columns.int(4, row), columns.number(5, row));
            }
        }
        Ok(())
    }

    async fn add_memory(
        &mut self,
        engine: &Engine,
        numbers: &HashMap<String, usize>,
    ) -> Result<()> {
        let mut batches = rows(engine, MEMORY).await?;
        while let Some(batch) = batches.next().await {
            let batch = batch.map_err(Error::from)?;
            let columns = Columns::of(&batch)?;
            for row in 0..batch.num_rows() {
                let trace = columns.text(0, row).and_then(|id| numbers.get(id).copied());
                let Some(trace) = trace else { continue };
                let device = match (columns.text(1, row), columns.int(1, row), columns.int(2, row))
                {
                    (Some(kind), _, Some(device)) => format!("{kind} {device}"),
                    (Some(kind), _, None) => kind.to_owned(),
                    (None, Some(kind), Some(device)) => format!("{kind}:{device}"),
                    (_, _, device) => device.map_or_else(|| "device".into(), |d| d.to_string()),
                };
                let key = format!("memory {device}");
                let at = match self.by_key.get(&format!("{trace}:{key}")) {
                    Some(at) => *at,
                    None => self.add_track(
                        trace,
                        None,
                        json!({
                            "key": key,
                            "kind": "memory",
                            "name": format!("Memory {device}"),
                            "device": columns.int(2, row),
                        }),
                    ),
                };
                let values = [("allocated", 4), ("reserved", 5)];
                for (name, column) in values {
                    let bytes = columns.int(column, row).map(|bytes| bytes as f64);
                    self.add_value(at, name.to_owned(), "bytes", columns.int(3, row), bytes);
                }
            }
        }
        Ok(())
    }

    fn add_value(
        &mut self,
        at: usize,
        name: String,
        unit: &'static str,
        ts_ns: Option<i64>,
        value: Option<f64>,
    ) {
        let clock = &self.traces[self.tracks[at].trace].clock;
        let (Some(time), Some(value)) = (ts_ns.and_then(|ts| on(clock, ts)), value) else { return };
        let series = &mut self.tracks[at].series;
        let counter = match series.iter_mut().position(|(known, _, _)| *known == name) {
            Some(known) => &mut series[known].2,
            None => {
                series.push((name, unit, Counter::default()));
                let last = series.len() - 1;
                &mut series[last].2
            }
        };
        // Rows of one series come in the order of time.
        if counter.times.last().is_none_or(|last| *last <= time) {
            counter.times.push(time);
            counter.values.push(value);
        }
    }

    async fn add_steps(&mut self, engine: &Engine, numbers: &HashMap<String, usize>) -> Result<()> {
        for row in engine.objects(STEPS).await? {
            let trace = text(&row, "trace_id").and_then(|id| numbers.get(&id).copied());
            let values = (int(&row, "step"), int(&row, "start_ns"), int(&row, "end_ns"));
            let (Some(trace), (Some(step), Some(start), Some(end))) = (trace, values) else {
                continue;
            };
            let clock = &self.traces[trace].clock;
            if let (Some(start), Some(end)) = (on(clock, start), on(clock, end)) {
                self.steps.push((trace, step, start, end));
            }
        }
        Ok(())
    }
}

/// A time of a trace on the timeline; `None` if a browser could not hold it exactly.
fn on(clock: &Clock, ts_ns: i64) -> Option<i64> {
    ts_ns.checked_sub(clock.shift_ns).filter(|t| t.abs() <= MAX_TIME_NS)
}

async fn rows(
    engine: &Engine,
    sql: &str,
) -> Result<datafusion::execution::SendableRecordBatchStream> {
    let mut statements = engine.parse(sql)?;
    if statements.len() != 1 {
        return Err(Error::Query("one query was expected".into()));
    }
    engine.run(statements.remove(0), &[]).await
}

/// Numbers of texts.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (number, text) = (self.texts.len() as u32, Arc::<str>::from(text));
        self.numbers.insert(text.clone(), number);
        self.texts.push(text);
        number
    }
}

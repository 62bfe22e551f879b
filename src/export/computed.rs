//! Elements that an export adds to the events of traces: findings as instant events, utilization,
//! launch queues, rates of copies and memory as counters, and critical paths as tracks.

use serde_json::{Value, json};
use tracesql_formats::chrome::push_time_us;

use super::chrome::Extras;
use super::finding_events::{Finding, events};
use super::select::TraceFacts;
use super::{literal, rows};
use crate::engine::Engine;
use crate::error::Result;

/// A trace with its label and its clock shift in the file.
pub struct Place {
    pub trace: TraceFacts,
    pub shift_ns: i64,
    pub label: String,
}

/// The added elements, which form a separate process.
pub async fn elements(
    engine: &Engine,
    places: &[Place],
    pid: i64,
    extras: Extras,
) -> Result<Vec<String>> {
    let mut made = Made { pid, elements: Vec::new() };
    made.meta("process_name", None, json!({"name": "tracesql"}));
    // Sort index -1 puts this process before those of the traces.
    made.meta("process_sort_index", None, json!({"sort_index": -1}));
    for (at, place) in places.iter().enumerate() {
        if extras.findings {
            made.findings(engine, place, at as i64 + 1).await?;
        }
        if extras.counters {
            made.utilization(engine, place).await?;
            made.queues(engine, place).await?;
            made.bandwidth(engine, place).await?;
            made.memory(engine, place).await?;
        }
        if extras.critical_path {
            made.critical_path(engine, place, at as i64).await?;
        }
    }
    Ok(made.elements)
}

/// The first thread id of critical paths; findings have those from 1.
const PATH_TID: i64 = 1_000_000;

struct Made {
    pid: i64,
    elements: Vec<String>,
}

impl Made {
    fn meta(&mut self, name: &str, tid: Option<i64>, args: Value) {
        let mut element = json!({"ph": "M", "name": name, "pid": self.pid, "args": args});
        if let Some(tid) = tid {
            element["tid"] = tid.into();
        }
        self.elements.push(element.to_string());
    }

    fn add(&mut self, ph: &str, name: &str, ts_ns: i64, rest: &Value) {
        self.add_text(ph, name, ts_ns, &rest.to_string());
    }

    /// Adds an element with these other keys, which are the text of a JSON object that is not empty.
    fn add_text(&mut self, ph: &str, name: &str, ts_ns: i64, rest: &str) {
        let mut ts = Vec::new();
        push_time_us(ts_ns, &mut ts);
        let ts = String::from_utf8_lossy(&ts).into_owned();
        let (pid, name) = (self.pid, Value::from(name));
        self.elements.push(format!(
            "{{\"ph\":\"{ph}\",\"name\":{name},\"pid\":{pid},\"ts\":{ts},{}",
            &rest[1..]
        ));
    }

    /// Adds each finding at the events that it rests on. A finding without such events is at the
    /// start of its step, else at the start of the first step or of the trace.
    async fn findings(&mut self, engine: &Engine, place: &Place, tid: i64) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "WITH starts AS (
                SELECT step, min(start_ns) AS start_ns FROM steps
                WHERE trace_id = {id} GROUP BY step
             )
             SELECT f.*, coalesce(s.start_ns, (SELECT min(start_ns) FROM starts)) AS step_start_ns
             FROM findings f LEFT JOIN starts s ON s.step = f.step
             WHERE f.trace_id = {id} AND f.status = 'finding'
             ORDER BY
                CASE f.severity WHEN 'high' THEN 0 WHEN 'medium' THEN 1 WHEN 'low' THEN 2 ELSE 3 END,
                f.rule, f.subject, f.step"
        );
        let found = rows::query_views(engine, &sql).await?;
        self.meta("thread_name", Some(tid), json!({"name": format!("findings {}", place.label)}));
        for row in found.iter() {
            let finding = Finding {
                rule: row.text("rule").unwrap_or_default(),
                trace_id: &place.trace.trace_id,
                device: row.int("device"),
                step: row.int("step"),
                subject: row.text("subject"),
            };
            let mut args = row.json();
            args.remove("step_start_ns");
            args.retain(|_, value| !value.is_null());
            let subject = finding.subject.map(|s| format!(" ({s})")).unwrap_or_default();
            let severity = row.text("severity").unwrap_or("finding");
            let name = format!("{severity}: {}{subject}", finding.rule);
            let mut add = |at_ns: i64, args: &serde_json::Map<String, Value>| {
                let at_ns = at_ns.saturating_add(place.shift_ns);
                let rest = json!({"tid": tid, "cat": "finding", "s": "t", "args": args});
                self.add("i", &name, at_ns, &rest);
            };
            let events = events(engine, finding).await?;
            if events.is_empty() {
                add(row.int("step_start_ns").or(place.trace.start_ns).unwrap_or(0), &args);
            }
            for event in events {
                let mut args = args.clone();
                args.insert("event_name".to_owned(), event.name.into());
                args.extend(event.event_id.map(|id| ("event_id".to_owned(), id.into())));
                args.extend(event.dur_ns.map(|ns| ("event_dur_ns".to_owned(), ns.into())));
                add(event.ts_ns, &args);
            }
        }
        Ok(())
    }

    /// Adds the pieces of the critical path of the whole trace on one track, and those of its steps
    /// on two others in turn, because the end of a step can be later than the start of the next.
    async fn critical_path(&mut self, engine: &Engine, place: &Place, at: i64) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "SELECT window_id, step, start_ns, dur_ns, kind, event_id, name, op_name, cause_id, \
             cause_name, is_inferred FROM critical_path WHERE trace_id = {id} ORDER BY window_id, \
             position"
        );
        let found = rows::query_views(engine, &sql).await?;
        let tracks = ["whole trace", "odd steps", "even steps"];
        let tid = |track: i64| PATH_TID + 3 * at + track;
        let mut named = [false; 3];
        for row in found.iter() {
            let (Some(window), Some(start), Some(dur)) =
                (row.int("window_id"), row.int("start_ns"), row.int("dur_ns"))
            else {
                continue;
            };
            let track = if window == 0 { 0 } else { 2 - window % 2 };
            let index = usize::try_from(track).unwrap_or(0);
            if !std::mem::replace(&mut named[index], true) {
                let name = format!("critical path {}, {}", place.label, tracks[index]);
                self.meta("thread_name", Some(tid(track)), json!({"name": name}));
            }
            let mut args = row.json();
            for key in ["window_id", "start_ns", "dur_ns"] {
                args.remove(key);
            }
            args.retain(|_, value| !value.is_null());
            let kind = row.text("kind").unwrap_or_default();
            let name = row.text("name").map(|name| format!("{kind}: {name}"));
            let mut length = Vec::new();
            push_time_us(dur, &mut length);
            let rest = json!({"tid": tid(track), "cat": "critical_path", "args": args});
            let rest = format!(
                "{{\"dur\":{},{}",
                String::from_utf8_lossy(&length),
                &rest.to_string()[1..]
            );
            let start = start.saturating_add(place.shift_ns);
            self.add_text("X", name.as_deref().unwrap_or(kind), start, &rest);
        }
        Ok(())
    }

    /// Adds the share of each time bucket during which a kernel runs.
    async fn utilization(&mut self, engine: &Engine, place: &Place) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "SELECT device, start_ns, end_ns, utilization_pct FROM gpu_utilization_over_time WHERE \
             trace_id = {id} ORDER BY device, bucket"
        );
        let found = rows::query_views(engine, &sql).await?;
        let mut last: Option<(String, i64)> = None;
        for row in found.iter() {
            let (Some(device), Some(start), Some(end)) =
                (row.int("device"), row.int("start_ns"), row.int("end_ns"))
            else {
                continue;
            };
            let name = format!("{}: GPU {device} busy", place.label);
            if let Some((before, end)) = last.take_if(|(before, _)| *before != name) {
                self.add("C", &before, end, &json!({"args": {"busy_pct": 0}}));
            }
            let busy = row.float("utilization_pct").unwrap_or(0.0);
            self.add(
                "C",
                &name,
                start.saturating_add(place.shift_ns),
                &json!({"args": {"busy_pct": busy}}),
            );
            last = Some((name, end.saturating_add(place.shift_ns)));
        }
        if let Some((name, end)) = last {
            self.add("C", &name, end, &json!({"args": {"busy_pct": 0}}));
        }
        Ok(())
    }

    /// Adds the length of each stream's launch queue, at the last change of each instant.
    async fn queues(&mut self, engine: &Engine, place: &Place) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "SELECT device, stream, ts_ns, length FROM queue_length WHERE trace_id = {id} AND \
             coalesce(length_ns, 1) > 0 ORDER BY device, stream, ts_ns"
        );
        for row in rows::query_views(engine, &sql).await?.iter() {
            let (Some(ts), Some(length)) = (row.int("ts_ns"), row.int("length")) else {
                continue;
            };
            let number = |name| row.int(name).map_or_else(|| "?".to_owned(), |n| n.to_string());
            let name = format!(
                "{}: GPU {} stream {} queue",
                place.label,
                number("device"),
                number("stream")
            );
            let args = json!({"args": {"length": length}});
            self.add("C", &name, ts.saturating_add(place.shift_ns), &args);
        }
        Ok(())
    }

    /// Adds the rate of copies and fills of each device and direction, in GB/s.
    async fn bandwidth(&mut self, engine: &Engine, place: &Place) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "SELECT device, direction, ts_ns, bytes_per_s / 1e9 AS gb_s FROM bandwidth_over_time \
             WHERE trace_id = {id} ORDER BY device, direction, ts_ns"
        );
        for row in rows::query_views(engine, &sql).await?.iter() {
            let (Some(ts), Some(gb_s)) = (row.int("ts_ns"), row.float("gb_s")) else {
                continue;
            };
            let device = row.int("device").map_or_else(|| "?".to_owned(), |n| n.to_string());
            let direction = row.text("direction").unwrap_or_default();
            let name = format!("{}: GPU {device} {direction}", place.label);
            let args = json!({"args": {"gb_s": gb_s}});
            self.add("C", &name, ts.saturating_add(place.shift_ns), &args);
        }
        Ok(())
    }

    /// Adds the allocated and reserved memory of each device.
    async fn memory(&mut self, engine: &Engine, place: &Place) -> Result<()> {
        let id = literal(&place.trace.trace_id);
        let sql = format!(
            "SELECT coalesce(device_type, 'unknown') AS device_type, device, ts_ns, \
             allocated_bytes, reserved_bytes FROM memory_curve WHERE trace_id = {id} ORDER BY \
             device_type, device, record"
        );
        for row in rows::query(engine, &sql).await?.iter() {
            let (Some(ts), Some(allocated)) = (row.int("ts_ns"), row.int("allocated_bytes")) else {
                continue;
            };
            let device =
                row.int("device").filter(|d| *d >= 0).map(|d| format!(" {d}")).unwrap_or_default();
            let name = format!(
                "{}: {}{device} memory",
                place.label,
                row.text("device_type").unwrap_or_default()
            );
            let mut args = json!({"allocated_bytes": allocated});
            if let Some(reserved) = row.int("reserved_bytes") {
                args["reserved_bytes"] = reserved.into();
            }
            self.add("C", &name, ts.saturating_add(place.shift_ns), &json!({"args": args}));
        }
        Ok(())
    }
}

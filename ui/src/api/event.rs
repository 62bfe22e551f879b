//! Everything about one event.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tracesql::requests::{Query, Shape};

use super::{ask, integer, list, parsed, text};
use crate::failure::{Answer, Failure};
use crate::open::State;
use crate::timeline::{Clock, Timeline, Trace};

/// Rows of each list.
const MAX_ROWS: usize = 200;
/// Characters of a text of the event, such as its args.
const MAX_TEXT: usize = 1 << 20;

const EVENT: &str = "SELECT * FROM events WHERE trace_id = $trace AND event_id = $event";
// What the other queries need of the event.
const KEY: &str = "
    SELECT track_id, pre, depth FROM events
    WHERE trace_id = $trace AND event_id = $event";
// The rows of the view `ancestors`. With the place of the event as values, only its track is read.
const PARENTS: &str = "
    SELECT event_id, name, cat, ts_ns, end_ns FROM events
    WHERE trace_id = $trace AND track_id = $track AND pre < $pre AND post >= $pre AND $depth > 0
    ORDER BY depth DESC";
const LAUNCH: &str = "
    SELECT k.launch_id, k.op_id, k.link, k.link_reason, k.ts_ns - l.ts_ns AS delay_ns
    FROM kernels k
    LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE k.trace_id = $trace AND k.event_id = $event";
const LAUNCHED: &str = "
    SELECT event_id, name, track_id, ts_ns, end_ns FROM kernels
    WHERE trace_id = $trace AND (launch_id = $event OR op_id = $event)
    ORDER BY ts_ns, event_id";
const FLOWS: &str = "
    SELECT f.kind, f.name, s.event_id AS src_id, s.track_id AS src_track, s.ts_ns AS src_ts,
           s.end_ns AS src_end, d.event_id AS dst_id, d.track_id AS dst_track, d.ts_ns AS dst_ts
    FROM flows f
    JOIN events s ON s.trace_id = f.trace_id AND s.event_id = f.src_event_id
    JOIN events d ON d.trace_id = f.trace_id AND d.event_id = f.dst_event_id
    WHERE f.trace_id = $trace AND (f.src_event_id = $event OR f.dst_event_id = $event)
    ORDER BY src_ts, dst_ts";
/// An event.
#[derive(Debug, Deserialize)]
pub struct Asked {
    /// The number of the trace in the timeline, or its id.
    pub trace: Value,
    /// Its id in the trace.
    pub event_id: i64,
}

/// POST `/api/event`.
pub async fn event(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let timeline = state.timeline().await?;
    let number = trace_of(&timeline, &asked.trace)?;
    let trace = &timeline.traces[number];
    let engine = state.engine().await?;
    let of = |sql: &str, shape| {
        Query::new(sql)
            .with("trace", trace.trace_id.clone())
            .with("event", asked.event_id)
            .within(shape)
    };
    let missing = || missing(trace, asked.event_id);
    let found = ask(&state, &engine, vec![of(KEY, list(1))]).await?;
    let key = found.first().and_then(|answer| answer.objects().into_iter().next());
    let key = key.ok_or_else(missing)?;
    let queries = vec![
        of(EVENT, Shape { max_text: MAX_TEXT, ..list(1) }),
        of(PARENTS, list(MAX_ROWS))
            .with("track", integer(key.get("track_id")))
            .with("pre", integer(key.get("pre")))
            .with("depth", integer(key.get("depth"))),
        of(LAUNCH, list(MAX_ROWS)),
        of(LAUNCHED, list(MAX_ROWS)),
        of(FLOWS, list(MAX_ROWS)),
    ];
    let mut answers = ask(&state, &engine, queries).await?.into_iter().map(|a| a.objects());
    let mut next = || answers.next().unwrap_or_default();
    let Some(Value::Object(event)) = next().into_iter().next() else { return Err(missing()) };
    let place = Place { timeline: &timeline, number, clock: &trace.clock };
    let (parents, launch, launched, flows) = (next(), next(), next(), next());
    let args = event.get("args").and_then(Value::as_str);
    let args = args.and_then(|args| serde_json::from_str::<Value>(args).ok()).map(exact_numbers);
    let (ts, end) = (integer(event.get("ts_ns")), integer(event.get("end_ns")));
    let track = integer(event.get("track_id"));
    let lane = place.lane(track, asked.event_id, ts);
    Ok(Json(json!({
        "key": track.map(|id| format!("{number}:{id}")),
        "lane": lane,
        "start": ts.and_then(|t| place.at(t)),
        "end": end.or(ts).and_then(|t| place.at(t)),
        "args": args,
        "parents": parents.iter().map(|row| place.placed(row)).collect::<Vec<_>>(),
        "launch": launch.first(),
        "launched": launched.iter().map(|row| place.placed(row)).collect::<Vec<_>>(),
        "flows": flows.iter().map(|row| place.flow(row)).collect::<Vec<_>>(),
        "sql": format!(
            "SELECT * FROM events WHERE trace_id = '{}' AND event_id = {}",
            trace.trace_id.replace('\'', "''"),
            asked.event_id
        ),
        "event": Value::Object(without_args(event)),
    })))
}

/// What is said of an id that no event of the trace has.
pub fn missing(trace: &Trace, event_id: i64) -> Failure {
    Failure::new(StatusCode::NOT_FOUND, format!("{} has no event {event_id}", trace.trace_id))
}

/// The number of the trace that a page named.
pub fn trace_of(timeline: &Timeline, named: &Value) -> Answer<usize> {
    let number = match named {
        Value::String(id) => timeline.trace(id),
        Value::Number(number) => number.as_u64().and_then(|n| usize::try_from(n).ok()),
        _ => None,
    };
    number
        .filter(|number| *number < timeline.traces.len())
        .ok_or_else(|| Failure::bad(format!("there is no trace {named}")))
}

fn without_args(mut event: Map<String, Value>) -> Map<String, Value> {
    event.remove("args");
    event
}

/// Integers that a browser would round become texts.
fn exact_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => super::exact(whole),
            None if number.is_u64() => number.to_string().into(),
            None => Value::Number(number),
        },
        Value::Array(values) => values.into_iter().map(exact_numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(k, v)| (k, exact_numbers(v))).collect(),
        other => other,
    }
}

/// Where rows of a trace are on the timeline.
struct Place<'t> {
    timeline: &'t Timeline,
    number: usize,
    clock: &'t Clock,
}

impl Place<'_> {
    fn at(&self, ts_ns: i64) -> Option<i64> {
        ts_ns.checked_sub(self.clock.shift_ns)
    }

    fn lane(&self, track: Option<i64>, event_id: i64, ts_ns: Option<i64>) -> Option<usize> {
        let track = self.timeline.track_of(self.number, track?)?;
        let id = u32::try_from(event_id).ok()?;
        track.lanes.find(id, self.at(ts_ns?)?).map(|(lane, _)| lane)
    }

    /// A row with its place in place of its times.
    fn placed(&self, row: &Value) -> Value {
        let (ts, end) = (integer(row.get("ts_ns")), integer(row.get("end_ns")));
        json!({
            "event_id": row.get("event_id"),
            "name": text(row, "name"),
            "cat": text(row, "cat"),
            "key": integer(row.get("track_id")).map(|id| format!("{}:{id}", self.number)),
            "start": ts.and_then(|t| self.at(t)),
            "end": end.and_then(|t| self.at(t)),
        })
    }

    fn flow(&self, row: &Value) -> Value {
        let side = |id: &str, track: &str, t: Option<i64>| {
            let track = integer(row.get(track));
            json!({
                "event_id": row.get(id),
                "key": track.map(|id| format!("{}:{id}", self.number)),
                "t": t.and_then(|t| self.at(t)),
            })
        };
        let of = |name: &str| integer(row.get(name));
        json!({
            "kind": text(row, "kind"),
            "name": text(row, "name"),
            "from": side("src_id", "src_track", of("src_ts")),
            "to": side("dst_id", "dst_track", of("dst_ts")),
        })
    }
}

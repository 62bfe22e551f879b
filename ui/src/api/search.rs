//! Finds events of the timeline.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::StringViewArray;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use datafusion::common::utils::SingleRowListArrayBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesql::requests::{Call, Query, Shape, text_of};
use tracesql_udfs::lanes::Spans;

use super::query::failure;
use super::{ask, integer, list, parsed, text};
use crate::failure::{Answer, Failure};
use crate::open::State;
use crate::timeline::Timeline;

/// The most hits of an answer.
const MAX_HITS: usize = 1_000;

#[derive(Debug, Deserialize)]
struct Asked {
    text: String,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// The name contains the text, in any case.
    #[default]
    Contains,
    /// The name matches a regular expression.
    Regex,
    /// The row satisfies a condition of SQL.
    Sql,
}

/// POST `/api/search`.
pub async fn search(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let begun = Instant::now();
    let limit = asked.limit.unwrap_or(MAX_HITS).min(MAX_HITS);
    let timeline = state.timeline().await?;
    let (count, hits) = match asked.mode {
        Mode::Contains => by_name(&timeline, &contained(&timeline, &asked.text), limit),
        Mode::Regex => {
            let matched = matched(&state, &timeline, &asked.text).await?;
            by_name(&timeline, &matched, limit)
        }
        Mode::Sql => by_condition(&state, &timeline, &asked.text, limit).await?,
    };
    Ok(Json(json!({
        "count": count,
        "truncated": count > hits.len() as u64,
        "hits": hits,
        "elapsed_ms": (begun.elapsed().as_secs_f64() * 1e4).round() / 10.0,
    })))
}

/// Which names contain a text.
fn contained(timeline: &Timeline, text: &str) -> Vec<bool> {
    let wanted = text.to_lowercase();
    timeline.names.iter().map(|name| name.to_lowercase().contains(&wanted)).collect()
}

/// Which names match an expression. The engine does it, so that it means what it means in SQL. The
/// query reads the list of names, because a trace has far fewer names than events.
async fn matched(state: &Arc<State>, timeline: &Timeline, expression: &str) -> Answer<Vec<bool>> {
    let engine = state.engine().await?;
    let sql = "SELECT number FROM (
        SELECT unnest(CAST($names AS VARCHAR[])) AS name,
               unnest(range(0, CAST($count AS BIGINT))) AS number
    ) WHERE regexp_like(name, $expression)";
    let names: StringViewArray = timeline.names.iter().map(|name| Some(name.as_ref())).collect();
    let names = SingleRowListArrayBuilder::new(Arc::new(names)).build_list_scalar();
    let query = Query::new(sql)
        .with("names", names)
        .with("count", timeline.names.len() as i64)
        .with("expression", expression)
        // At most a number for each name of the timeline.
        .within(Shape { max_rows: usize::MAX, max_bytes: usize::MAX, max_text: 0 });
    let answer = match state.requests.attempt(&engine, query, &Call::default()).await {
        Ok(answer) => answer,
        Err(error) => return Err(failure(state, error, sql.to_owned(), engine).await),
    };
    let mut is_matched = vec![false; timeline.names.len()];
    for row in &answer.rows {
        let number = integer(row.get(0)).and_then(|number| usize::try_from(number).ok());
        if let Some(matched) = number.and_then(|number| is_matched.get_mut(number)) {
            *matched = true;
        }
    }
    Ok(is_matched)
}

/// Events with names that are wanted: their number, and the first ones by time.
fn by_name(timeline: &Timeline, is_wanted: &[bool], limit: usize) -> (u64, Vec<Value>) {
    let mut found: Vec<(i64, usize, &Spans, usize)> = Vec::new();
    let mut count = 0;
    for (at, track) in timeline.tracks.iter().enumerate() {
        for spans in track.lanes.lanes.iter().chain([&track.lanes.instants]) {
            let mut of_lane = 0;
            for (event, name) in spans.names.iter().enumerate() {
                if is_wanted.get(*name as usize).copied().unwrap_or_default() {
                    count += 1;
                    of_lane += 1;
                    // The first of each lane are enough for the first of all.
                    if of_lane <= limit {
                        found.push((spans.starts[event], at, spans, event));
                    }
                }
            }
        }
    }
    found.sort_by_key(|(start, track, _, event)| (*start, *track, *event));
    found.truncate(limit);
    let hit = |(start, track, spans, event): (i64, usize, &Spans, usize)| {
        let track = &timeline.tracks[track];
        let name = timeline.names.get(spans.names[event] as usize);
        let name = name.map(|name| text_of(name.to_string(), 300));
        json!({
            "trace": track.trace, "event_id": spans.ids[event], "key": track.key(),
            "start": start, "end": spans.ends[event], "name": name,
        })
    };
    (count, found.into_iter().map(hit).collect())
}

async fn by_condition(
    state: &Arc<State>,
    timeline: &Timeline,
    condition: &str,
    limit: usize,
) -> Answer<(u64, Vec<Value>)> {
    let engine = state.engine().await?;
    let sql = format!(
        "SELECT trace_id, event_id, track_id, ts_ns, end_ns, name, count(*) OVER () AS hits \
         FROM events WHERE ts_ns IS NOT NULL AND (\n{condition}\n) ORDER BY ts_ns, event_id LIMIT {limit}"
    );
    let query = Query::new(sql.as_str()).within(list(limit));
    let answer = match state.requests.attempt(&engine, query, &Call::default()).await {
        Ok(answer) => answer,
        Err(error) => return Err(failure(state, error, sql, engine).await),
    };
    let rows = answer.objects();
    let count = rows.first().and_then(|row| row["hits"].as_u64()).unwrap_or_default();
    let hit = |row: &Value| {
        let trace = timeline.trace(text(row, "trace_id")?)?;
        let shift = timeline.traces[trace].clock.shift_ns;
        let start = integer(row.get("ts_ns"))?.checked_sub(shift)?;
        let end = integer(row.get("end_ns")).and_then(|end| end.checked_sub(shift));
        Some(json!({
            "trace": trace, "event_id": row["event_id"], "start": start, "end": end.unwrap_or(start),
            "key": format!("{trace}:{}", integer(row.get("track_id"))?), "name": row["name"],
        }))
    };
    Ok((count, rows.iter().filter_map(hit).collect()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    trace_id: Option<String>,
    event_id: Option<Value>,
    ts_ns: Option<Value>,
    end_ns: Option<Value>,
    dur_ns: Option<Value>,
}

/// POST `/api/locate`.
pub async fn locate(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let wanted: Wanted = parsed(&body)?;
    let timeline = state.timeline().await?;
    let trace = match (&wanted.trace_id, timeline.traces.len()) {
        (Some(id), _) => timeline.trace(id),
        (None, 1) => Some(0),
        (None, _) => None,
    };
    let reason = |why: &str| Ok(Json(json!({"reason": why})));
    let Some(trace) = trace else {
        return match &wanted.trace_id {
            Some(id) => reason(&format!("no open trace is named {id}")),
            None => reason("the row does not say of which of the open traces it is"),
        };
    };
    let shift = timeline.traces[trace].clock.shift_ns;
    if let Some(event_id) = integer(wanted.event_id.as_ref()) {
        let engine = state.engine().await?;
        let sql = "SELECT track_id, ts_ns, end_ns FROM events \
                   WHERE trace_id = $trace AND event_id = $event";
        let query = Query::new(sql)
            .with("trace", timeline.traces[trace].trace_id.clone())
            .with("event", event_id)
            .within(list(1));
        let found = ask(&state, &engine, vec![query]).await?;
        let row = found.first().and_then(|a| a.objects().into_iter().next());
        let Some(row) = row else { return reason("the trace has no such event") };
        let track = integer(row.get("track_id"));
        let start = integer(row.get("ts_ns")).and_then(|ts| ts.checked_sub(shift));
        let (Some(track), Some(start)) = (track, start) else {
            return reason("the event has no time");
        };
        let end = integer(row.get("end_ns")).and_then(|ts| ts.checked_sub(shift));
        let lane = timeline
            .track_of(trace, track)
            .and_then(|t| t.lanes.find(u32::try_from(event_id).ok()?, start).map(|(lane, _)| lane));
        return Ok(Json(json!({
            "trace": trace, "event_id": event_id, "key": format!("{trace}:{track}"), "lane": lane,
            "start": start, "end": end.unwrap_or(start),
        })));
    }
    let Some(ts) = integer(wanted.ts_ns.as_ref()) else {
        let is_given = |value: &Option<Value>| value.as_ref().is_some_and(|v| !v.is_null());
        return reason(match (is_given(&wanted.event_id), is_given(&wanted.ts_ns)) {
            (true, _) => "its event_id is not a whole number",
            (_, true) => "its ts_ns is not a whole number",
            _ => "the row has neither an event nor a time",
        });
    };
    let end = integer(wanted.end_ns.as_ref())
        .or_else(|| integer(wanted.dur_ns.as_ref()).and_then(|dur| ts.checked_add(dur)));
    let (start, end) = (ts.checked_sub(shift), end.unwrap_or(ts).checked_sub(shift));
    match (start, end) {
        (Some(start), Some(end)) => {
            Ok(Json(json!({"trace": trace, "start": start, "end": end.max(start)})))
        }
        _ => Err(Failure::bad("the time is not on the timeline")),
    }
}

//! Sums over a selected area of the timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use serde_json::json;
use tracesql::requests::Query;

use super::tracks::Window;
use super::{ask, list, parsed};
use crate::failure::Answer;
use crate::open::State;
use crate::timeline::{Timeline, Track};

/// Names that an answer lists.
const MAX_NAMES: usize = 1_000;

/// POST `/api/area`.
pub async fn area(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let window: Window = parsed(&body)?;
    let timeline = state.timeline().await?;
    let engine = state.engine().await?;
    let (tracks, start, end, _) = window.on(&timeline)?;
    let rows = condition(&timeline, &tracks, start, end);
    // An event counts with the part that lies in the area; its own time only if all of it does.
    // Marks have no time, but are calls.
    let by_name = format!(
        "SELECT name, cat, count(*) AS calls, sum(inside_ns) AS total_ns,\n\
         \x20      sum(CASE WHEN is_whole THEN self_ns END) AS self_ns, avg(inside_ns) AS mean_ns,\n\
         \x20      max(inside_ns) AS max_ns\nFROM (\n{rows}\n)\n\
         GROUP BY name, cat ORDER BY total_ns DESC, name"
    );
    let by_track = format!(
        "SELECT trace_id, track_id, count(*) AS events, \
         interval_union_len(from_ns, to_ns) AS busy_ns\nFROM (\n{rows}\n) GROUP BY trace_id, track_id"
    );
    let queries = vec![
        Query::new(by_name.as_str()).within(list(MAX_NAMES)),
        Query::new(by_track).within(list(tracks.len().max(1))),
    ];
    let mut answers = ask(&state, &engine, queries).await?.into_iter();
    let (names, busy) = (answers.next(), answers.next());
    let span = (end - start).max(0);
    let busy = busy.map(|answer| answer.objects()).unwrap_or_default();
    let of_track = |track: &&Track| {
        let trace_id = &timeline.traces[track.trace].trace_id;
        let row = busy.iter().find(|row| {
            super::text(row, "trace_id") == Some(trace_id)
                && super::integer(row.get("track_id")) == track.track_id
        });
        let busy_ns = row.and_then(|row| super::integer(row.get("busy_ns"))).unwrap_or_default();
        json!({
            "key": track.key(),
            "span_ns": span,
            "busy_ns": busy_ns,
            "idle_ns": span - busy_ns,
            "events": row.map_or_else(|| 0.into(), |row| row["events"].clone()),
        })
    };
    let of_tracks: BTreeSet<usize> = tracks.iter().map(|track| track.trace).collect();
    let steps = timeline
        .steps
        .iter()
        .filter(|(trace, _, from, to)| of_tracks.contains(trace) && *from < end && *to > start);
    let steps = steps.map(
        |(trace, step, from, to)| json!({"trace": trace, "step": step, "start": from, "end": to}),
    );
    Ok(Json(json!({
        "by_name": names.map(|answer| answer.into_json()),
        "by_track": tracks.iter().map(of_track).collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "sql": by_name,
        "rows_sql": rows,
    })))
}

/// A query of the events of tracks that reach into an area, with the part inside. Marks and events of
/// no length belong to it if they start in it, or at the end of the timeline.
fn condition(timeline: &Timeline, tracks: &[&Track], start: i64, end: i64) -> String {
    let mut by_trace: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for track in tracks {
        if let Some(id) = track.track_id {
            by_trace.entry(track.trace).or_default().push(id);
        }
    }
    let mut sql = String::new();
    for (trace, ids) in by_trace {
        let trace = &timeline.traces[trace];
        let at = |time: i64| time.saturating_add(trace.clock.shift_ns);
        let (from, to) = (at(start), at(end));
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        if !sql.is_empty() {
            sql.push_str("\nUNION ALL\n");
        }
        let is_before = if end >= timeline.end { "<=" } else { "<" };
        // Writing into a text cannot fail.
        let _ = write!(
            sql,
            "SELECT *, greatest(ts_ns, {from}) AS from_ns,\n\
             \x20      least(coalesce(end_ns, ts_ns), {to}) AS to_ns,\n\
             \x20      CASE WHEN end_ns IS NOT NULL\n\
             \x20          THEN least(end_ns, {to}) - greatest(ts_ns, {from}) END AS inside_ns,\n\
             \x20      ts_ns >= {from} AND coalesce(end_ns, ts_ns) <= {to} AS is_whole\n\
             FROM events\nWHERE trace_id = '{}' AND track_id IN ({}) AND depth IS NOT NULL\n\
             \x20   AND ts_ns {is_before} {to} AND (end_ns > {from} OR ts_ns >= {from})",
            trace.trace_id.replace('\'', "''"),
            ids.join(", ")
        );
    }
    if sql.is_empty() {
        sql.push_str(
            "SELECT *, ts_ns AS from_ns, end_ns AS to_ns, dur_ns AS inside_ns, true AS is_whole\n\
             FROM events WHERE false",
        );
    }
    sql
}

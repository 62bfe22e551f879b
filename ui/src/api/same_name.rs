//! The events with the name and category of one. All events of a trace are read for them, so that
//! pages ask for them after they have shown the event.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use datafusion::common::ScalarValue;
use serde_json::Value;
use tracesql::requests::{Query, Shape};

use super::event::{Asked, missing, trace_of};
use super::{MAX_ANSWER_BYTES, ask, integer, list, parsed, text};
use crate::failure::Answer;
use crate::open::State;

// Names and categories are compared, so that they may not be cut.
const KEY: &str = "
    SELECT name, cat, dur_ns FROM events WHERE trace_id = $trace AND event_id = $event";
const SAME_NAME: &str = "
    SELECT count(*) AS calls, sum(dur_ns) AS total_ns, avg(dur_ns) AS mean_ns,
           max(dur_ns) AS max_ns, sum(CASE WHEN dur_ns > $dur THEN 1 ELSE 0 END) + 1
           AS rank_of_this
    FROM events
    WHERE trace_id = $trace AND name = $name AND (cat IS NOT DISTINCT FROM $cat)
        AND dur_ns IS NOT NULL";

/// POST `/api/same_name`: calls, total_ns, mean_ns, max_ns and rank_of_this. NULL is left out.
pub async fn same_name(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let timeline = state.timeline().await?;
    let trace = &timeline.traces[trace_of(&timeline, &asked.trace)?];
    let engine = state.engine().await?;
    let of = |sql: &str| Query::new(sql).with("trace", trace.trace_id.clone());
    let key = of(KEY)
        .with("event", asked.event_id)
        .within(Shape { max_text: MAX_ANSWER_BYTES, ..list(1) });
    let found = ask(&state, &engine, vec![key]).await?;
    let key = found.first().and_then(|answer| answer.objects().into_iter().next());
    let key = key.ok_or_else(|| missing(trace, asked.event_id))?;
    let owned = |name: &str| ScalarValue::Utf8(text(&key, name).map(str::to_owned));
    let same = of(SAME_NAME)
        .with("name", owned("name"))
        .with("cat", owned("cat"))
        .with("dur", integer(key.get("dur_ns")))
        .within(list(1));
    let found = ask(&state, &engine, vec![same]).await?;
    let row = found.first().and_then(|answer| answer.objects().into_iter().next());
    Ok(Json(row.unwrap_or(Value::Null)))
}

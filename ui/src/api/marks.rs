//! Findings, and what the overview of the timeline shows: findings and how busy devices and host
//! are.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{parsed, text};
use crate::failure::Answer;
use crate::findings::{Findings, is_finding};
use crate::open::State;
use crate::timeline::Timeline;

/// Columns of the overview.
const COLUMNS: usize = 512;

/// GET `/api/findings`: all rows of `findings`, gravest first, as soon as all rules have ended.
pub async fn findings(Shared(state): Shared<Arc<State>>) -> Answer {
    Ok(Json(json!({"rows": Findings::all(&state).await?})))
}

#[derive(Debug, Deserialize)]
struct Asked {
    /// Whether findings are wanted, which take longer.
    #[serde(default)]
    findings: bool,
}

/// POST `/api/marks`.
pub async fn marks(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let timeline = state.timeline().await?;
    if asked.findings {
        let found = Findings::all(&state).await?.into_iter().filter(is_finding);
        let findings: Vec<Value> = found.map(|row| placed(&timeline, row)).collect();
        return Ok(Json(json!({"findings": findings})));
    }
    // Rounded up, so that the columns reach the end.
    let step = timeline.end / COLUMNS as i64 + 1;
    Ok(Json(json!({
        "busy": {
            "step": step,
            "device": shares(&timeline, "gpu_stream", step),
            "host": shares(&timeline, "cpu_thread", step),
        },
    })))
}

/// A finding with the place of its step, if it has one.
fn placed(timeline: &Timeline, mut finding: Value) -> Value {
    let trace = text(&finding, "trace_id").and_then(|id| timeline.trace(id));
    let step = finding.get("step").and_then(Value::as_i64);
    let place = timeline.steps.iter().find(|(t, s, _, _)| Some(*t) == trace && Some(*s) == step);
    if let Some(object) = finding.as_object_mut() {
        object.insert("trace".into(), trace.into());
        object.insert("start".into(), place.map(|(_, _, start, _)| *start).into());
        object.insert("end".into(), place.map(|(_, _, _, end)| *end).into());
    }
    finding
}

/// The share of each column in which anything runs on a kind of track, from 0 to 1.
fn shares(timeline: &Timeline, kind: &str, step: i64) -> Vec<f64> {
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for track in timeline.tracks.iter().filter(|track| track.about["kind"] == kind) {
        // Events of deeper lanes lie within those of the first, but for overlaps.
        for lane in &track.lanes.lanes {
            spans.extend(lane.starts.iter().copied().zip(lane.ends.iter().copied()));
        }
    }
    if spans.is_empty() {
        return Vec::new();
    }
    spans.sort_unstable();
    let columns = (timeline.end / step + 1).clamp(1, COLUMNS as i64 + 1) as usize;
    let mut busy = vec![0_i64; columns];
    let mut until = 0;
    for (start, end) in spans {
        let mut from = start.max(until);
        while from < end {
            let column = (from / step).clamp(0, columns as i64 - 1);
            let to = if column == columns as i64 - 1 { end } else { end.min((column + 1) * step) };
            busy[column as usize] += to - from;
            from = to;
        }
        until = until.max(end);
    }
    busy.into_iter().map(|ns| (ns as f64 / step as f64).min(1.0)).collect()
}

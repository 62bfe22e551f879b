//! The pictures of the timeline.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::HeaderName;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tracesql_udfs::lanes::Bucket;

use super::parsed;
use crate::failure::{Answer, Failure};
use crate::open::State;
use crate::timeline::{MAX_BUCKETS, MAX_TRACKS, Timeline, Track};

/// Characters of a name in a picture.
const MAX_NAME: usize = 300;

/// GET `/api/tracks`.
pub async fn tracks(Shared(state): Shared<Arc<State>>) -> Answer {
    let timeline = state.timeline().await?;
    Ok(Json(timeline.described()))
}

/// What a picture shows.
#[derive(Debug, Deserialize)]
pub struct Window {
    /// Keys of tracks.
    pub tracks: Vec<String>,
    /// The first nanosecond.
    pub start: f64,
    /// The last nanosecond, exclusive.
    pub end: f64,
    /// Nanoseconds of a column.
    #[serde(default)]
    pub step: f64,
}

impl Window {
    /// The tracks with these keys, and the times as integers.
    pub fn on<'t>(&self, timeline: &'t Timeline) -> Answer<(Vec<&'t Track>, i64, i64, i64)> {
        if self.tracks.len() > MAX_TRACKS {
            return Err(Failure::bad(format!("at most {MAX_TRACKS} tracks are answered at once")));
        }
        let times = [self.start, self.end, self.step];
        if times.iter().any(|t| !t.is_finite() || t.abs() > (1_u64 << 53) as f64) {
            return Err(Failure::bad("start, end and step are nanoseconds below 2^53"));
        }
        let mut found = Vec::with_capacity(self.tracks.len());
        for key in &self.tracks {
            let track = timeline.track(key).map(|(_, track)| track);
            found.push(track.ok_or_else(|| Failure::bad(format!("there is no track {key:?}")))?);
        }
        Ok((found, self.start.floor() as i64, self.end.ceil() as i64, self.step as i64))
    }
}

/// POST `/api/slices`.
pub async fn slices(Shared(state): Shared<Arc<State>>, body: Bytes) -> Result<Response, Failure> {
    let window: Window = parsed(&body)?;
    let timeline = state.timeline().await?;
    let begun = Instant::now();
    let (tracks, start, end, step) = window.on(&timeline)?;
    let step = step.max(1).unsigned_abs().next_power_of_two() as i64;
    let mut names = Names::default();
    let (mut answers, mut buckets) = (Vec::with_capacity(tracks.len()), 0);
    for track in tracks {
        let shown = track.lanes.buckets(start, end, step);
        buckets += shown.spans.len() + shown.instants.len();
        if buckets > MAX_BUCKETS {
            return Err(Failure::bad(format!(
                "the picture has more than {MAX_BUCKETS} events; ask with a larger step"
            )));
        }
        let mut columns: [Vec<i64>; 6] = Default::default();
        for bucket in &shown.spans {
            let name = names.number(bucket.name);
            push(&mut columns, bucket, name);
        }
        let mut instants: [Vec<i64>; 6] = Default::default();
        for bucket in &shown.instants {
            let name = names.number(bucket.name);
            push(&mut instants, bucket, name);
        }
        let [lanes, starts, ends, ids, named, counts] = columns;
        let [_, at, _, at_ids, at_named, at_counts] = instants;
        answers.push(json!({
            "key": track.key(),
            "lane": lanes, "start": starts, "end": ends, "id": ids, "name": named, "count": counts,
            "at": at, "at_id": at_ids, "at_name": at_named, "at_count": at_counts,
        }));
    }
    let texts = names.in_order.iter().map(|name| {
        let text = timeline.names.get(*name as usize).map(AsRef::as_ref).unwrap_or_default();
        tracesql::requests::text_of(text.to_owned(), MAX_NAME)
    });
    let answer = json!({"step": step, "names": texts.collect::<Vec<_>>(), "tracks": answers});
    Ok(timed(begun, &answer))
}

fn push(columns: &mut [Vec<i64>; 6], bucket: &Bucket, name: usize) {
    let values = [
        i64::from(bucket.lane),
        bucket.start,
        bucket.end,
        i64::from(bucket.id),
        name as i64,
        i64::from(bucket.count),
    ];
    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
}

/// The names of one answer, numbered as they come.
#[derive(Default)]
struct Names {
    numbers: HashMap<u32, usize>,
    in_order: Vec<u32>,
}

impl Names {
    fn number(&mut self, name: u32) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.in_order.push(name);
            self.in_order.len() - 1
        })
    }
}

/// An answer that says how long it took.
fn timed(begun: Instant, answer: &Value) -> Response {
    let body = answer.to_string();
    let took = format!("answer;dur={:.2}", begun.elapsed().as_secs_f64() * 1e3);
    let headers = [
        (HeaderName::from_static("content-type"), "application/json".to_owned()),
        (HeaderName::from_static("server-timing"), took),
    ];
    (headers, body).into_response()
}

/// POST `/api/counters`.
pub async fn counters(Shared(state): Shared<Arc<State>>, body: Bytes) -> Result<Response, Failure> {
    let window: Window = parsed(&body)?;
    let timeline = state.timeline().await?;
    let begun = Instant::now();
    let (tracks, start, end, step) = window.on(&timeline)?;
    let series_of = |track: &Track| -> Vec<Value> {
        let one = |(name, unit, counter): &(String, &str, tracesql_udfs::lanes::Counter)| {
            let ranges = counter.ranges(start, end, step);
            let of = |value: fn(&tracesql_udfs::lanes::Range) -> Value| -> Vec<Value> {
                ranges.iter().map(value).collect()
            };
            json!({
                "name": name,
                "unit": unit,
                "at": of(|r| r.at.into()),
                "min": of(|r| r.min.into()),
                "max": of(|r| r.max.into()),
                "last": of(|r| r.last.into()),
            })
        };
        track.series.iter().map(one).collect()
    };
    let tracks: Vec<Value> = tracks
        .into_iter()
        .map(|track| json!({"key": track.key(), "series": series_of(track)}))
        .collect();
    Ok(timed(begun, &json!({"tracks": tracks})))
}

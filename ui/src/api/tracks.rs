//! The pictures of the timeline.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tracesql_udfs::lanes::{Counter, Track as Lanes};

use super::parsed;
use super::picture::Picture;
use crate::failure::{Answer, Failure};
use crate::open::State;
use crate::timeline::{MAX_BUCKETS, MAX_TRACKS, Timeline, Track, pictures};

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
    /// How slices are written.
    #[serde(default)]
    pub format: Format,
}

/// How numbers are written.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// As JSON.
    #[default]
    Json,
    /// As binary columns.
    Binary,
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
    let lanes: Vec<&Lanes> = tracks.iter().map(|track| &track.lanes).collect();
    let shown = pictures(&lanes, &(start..end), step).ok_or_else(|| {
        Failure::bad(format!(
            "the picture has more than {MAX_BUCKETS} events; ask with a larger step"
        ))
    })?;
    let shown = tracks.iter().map(|track| track.key()).zip(shown).collect();
    let picture = Picture::new(step, shown, &timeline);
    match window.format {
        Format::Json => timed(begun, "application/json", serde_json::to_vec(&picture)),
        Format::Binary => timed(begun, "application/octet-stream", picture.to_bytes()),
    }
}

/// An answer that says how long it took.
fn timed(
    begun: Instant,
    kind: &'static str,
    body: serde_json::Result<Vec<u8>>,
) -> Result<Response, Failure> {
    let body = body.map_err(|e| {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer has no JSON: {e}"))
    })?;
    let took = format!("answer;dur={:.2}", begun.elapsed().as_secs_f64() * 1e3);
    let headers = [
        (HeaderName::from_static("content-type"), kind.to_owned()),
        (HeaderName::from_static("server-timing"), took),
    ];
    Ok((headers, body).into_response())
}

/// The counters of some tracks.
#[derive(Debug, Serialize)]
struct Counters<'t> {
    tracks: Vec<Ranges<'t>>,
}

/// The counters of a track.
#[derive(Debug, Serialize)]
struct Ranges<'t> {
    key: String,
    series: Vec<Series<'t>>,
}

/// A counter as columns: the least, the largest and the last value from each time on.
#[derive(Debug, Serialize)]
struct Series<'t> {
    name: &'t str,
    unit: &'t str,
    at: Vec<i64>,
    min: Vec<f64>,
    max: Vec<f64>,
    last: Vec<f64>,
}

impl<'t> Series<'t> {
    fn new(of: &'t (String, &str, Counter), start: i64, end: i64, step: i64) -> Self {
        let (name, unit, counter) = of;
        let ranges = counter.ranges(start, end, step);
        Self {
            name,
            unit,
            at: ranges.iter().map(|r| r.at).collect(),
            min: ranges.iter().map(|r| r.min).collect(),
            max: ranges.iter().map(|r| r.max).collect(),
            last: ranges.iter().map(|r| r.last).collect(),
        }
    }
}

/// POST `/api/counters`.
pub async fn counters(Shared(state): Shared<Arc<State>>, body: Bytes) -> Result<Response, Failure> {
    let window: Window = parsed(&body)?;
    let timeline = state.timeline().await?;
    let begun = Instant::now();
    let (tracks, start, end, step) = window.on(&timeline)?;
    let series = |one| Series::new(one, start, end, step);
    let ranges = tracks.into_iter().map(|track| Ranges {
        key: track.key(),
        series: track.series.iter().map(series).collect(),
    });
    let counters = Counters { tracks: ranges.collect() };
    timed(begun, "application/json", serde_json::to_vec(&counters))
}

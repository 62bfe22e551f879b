//! The pictures of the timeline.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tracesql_udfs::lanes::{Buckets, Counter};

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

/// The picture of some tracks. It is written without JSON values in between, which would take
/// several times as long for the hundred thousand numbers of a large one.
#[derive(Debug, Serialize)]
struct Picture {
    step: i64,
    names: Vec<String>,
    tracks: Vec<Slices>,
}

/// The events of a track as columns: those with a duration by lane and time, and those without one.
#[derive(Debug, Default, Serialize)]
struct Slices {
    key: String,
    lane: Vec<u32>,
    start: Vec<i64>,
    end: Vec<i64>,
    id: Vec<u32>,
    name: Vec<u32>,
    count: Vec<u32>,
    at: Vec<i64>,
    at_id: Vec<u32>,
    at_name: Vec<u32>,
    at_count: Vec<u32>,
}

impl Slices {
    fn new(key: String, shown: &Buckets, names: &mut Names) -> Self {
        let mut slices = Self { key, ..Self::default() };
        for bucket in &shown.spans {
            slices.lane.push(bucket.lane);
            slices.start.push(bucket.start);
            slices.end.push(bucket.end);
            slices.id.push(bucket.id);
            slices.name.push(names.number(bucket.name));
            slices.count.push(bucket.count);
        }
        for bucket in &shown.instants {
            slices.at.push(bucket.start);
            slices.at_id.push(bucket.id);
            slices.at_name.push(names.number(bucket.name));
            slices.at_count.push(bucket.count);
        }
        slices
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
        answers.push(Slices::new(track.key(), &shown, &mut names));
    }
    let names = names.texts(&timeline);
    timed(begun, &Picture { step, names, tracks: answers })
}

/// The names of one answer, numbered as they come.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<u32, u32>,
    in_order: Vec<u32>,
}

impl Names {
    fn number(&mut self, name: u32) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.in_order.push(name);
            self.in_order.len() as u32 - 1
        })
    }

    fn texts(&self, timeline: &Timeline) -> Vec<String> {
        let text = |name: &u32| {
            let text = timeline.names.get(*name as usize).map(AsRef::as_ref).unwrap_or_default();
            tracesql::requests::text_of(text.to_owned(), MAX_NAME)
        };
        self.in_order.iter().map(text).collect()
    }
}

/// An answer that says how long it took.
fn timed(begun: Instant, answer: &impl Serialize) -> Result<Response, Failure> {
    let body = serde_json::to_string(answer).map_err(|e| {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer has no JSON: {e}"))
    })?;
    let took = format!("answer;dur={:.2}", begun.elapsed().as_secs_f64() * 1e3);
    let headers = [
        (HeaderName::from_static("content-type"), "application/json".to_owned()),
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
    timed(begun, &Counters { tracks: ranges.collect() })
}

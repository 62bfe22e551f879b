//! The timeline: all events of all traces in lanes, on one clock.
//!
//! The index is built once, when a page first asks for it, from a few columns of `events`. All
//! times that pages see are whole nanoseconds since the origin, the earliest start of all traces,
//! so that a double holds them exactly for 104 days.

mod build;
mod clock;
mod columns;
mod picture;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tracesql_udfs::lanes::{Counter, Track as Lanes};

pub use clock::Clock;
pub use picture::pictures;

/// The most tracks of one answer.
pub const MAX_TRACKS: usize = 512;
/// The most buckets of one answer. A picture of 4,000 columns and 200 lanes has fewer.
pub const MAX_BUCKETS: usize = 1_000_000;

/// A trace of the timeline.
#[derive(Debug)]
pub struct Trace {
    /// Its id.
    pub trace_id: String,
    /// The name of its file.
    pub name: String,
    /// Its rank.
    pub rank: Option<i64>,
    /// How its times become times of the timeline.
    pub clock: Clock,
}

/// A track of the timeline.
#[derive(Debug)]
pub struct Track {
    /// The number of its trace.
    pub trace: usize,
    /// Its id within the trace; `None` for tracks that are no rows of `tracks`.
    pub track_id: Option<i64>,
    /// What it is, from `tracks`, as JSON.
    pub about: Value,
    /// Its events. Times are those of the timeline.
    pub lanes: Lanes,
    /// Its series of values: name, unit and values.
    pub series: Vec<(String, &'static str, Counter)>,
    /// The time in which something runs on it.
    pub busy_ns: i64,
}

/// All events in lanes.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The traces.
    pub traces: Vec<Trace>,
    /// The tracks, by trace, process and thread.
    pub tracks: Vec<Track>,
    /// The numbers of tracks by their keys.
    pub by_key: HashMap<String, usize>,
    /// The names of events, by their numbers.
    pub names: Vec<Arc<str>>,
    /// The end of the last event, in nanoseconds since the origin.
    pub end: i64,
    /// Steps: trace, step, start and end.
    pub steps: Vec<(usize, i64, i64, i64)>,
    /// Traces that are not shown, because there are too many or they have no times.
    pub left_out: usize,
    /// Why some events are not shown; empty if all are.
    pub note: String,
}

impl Track {
    /// The name by which pages ask for it.
    pub fn key(&self) -> String {
        match self.track_id {
            Some(id) => format!("{}:{id}", self.trace),
            None => format!("{}:{}", self.trace, self.about["key"].as_str().unwrap_or_default()),
        }
    }

    /// The first and last time of its events.
    pub fn extent(&self) -> Option<(i64, i64)> {
        let lanes = self.lanes.lanes.iter().chain([&self.lanes.instants]);
        let spans = lanes.filter_map(|l| Some((*l.starts.first()?, *l.ends.last()?)));
        let series = self.series.iter();
        let values = series.filter_map(|(_, _, c)| Some((*c.times.first()?, *c.times.last()?)));
        spans.chain(values).reduce(|(s, e), (start, end)| (s.min(start), e.max(end)))
    }

    fn described(&self) -> Value {
        let mut described = self.about.clone();
        let (start, end) = self.extent().unwrap_or_default();
        let series: Vec<Value> =
            self.series.iter().map(|(name, unit, _)| json!({"name": name, "unit": unit})).collect();
        if let Some(object) = described.as_object_mut() {
            object.insert("key".into(), self.key().into());
            object.insert("trace".into(), self.trace.into());
            object.insert("track_id".into(), self.track_id.into());
            object.insert("lanes".into(), self.lanes.lanes.len().into());
            object.insert("events".into(), self.lanes.events().into());
            object.insert("instants".into(), self.lanes.instants.len().into());
            object.insert("busy_ns".into(), self.busy_ns.into());
            object.insert("start".into(), start.into());
            object.insert("end".into(), end.into());
            object.insert("series".into(), series.into());
        }
        described
    }
}

impl Timeline {
    /// The memory of the index in bytes.
    pub fn bytes(&self) -> usize {
        self.tracks.iter().map(|t| t.lanes.bytes()).sum::<usize>()
            + self.names.iter().map(|n| n.len() + size_of::<Arc<str>>()).sum::<usize>()
    }

    /// The number of the track with a key.
    pub fn track(&self, key: &str) -> Option<(usize, &Track)> {
        let at = *self.by_key.get(key)?;
        Some((at, self.tracks.get(at)?))
    }

    /// The track with an id of a trace.
    pub fn track_of(&self, trace: usize, track_id: i64) -> Option<&Track> {
        self.track(&format!("{trace}:{track_id}")).map(|(_, track)| track)
    }

    /// The number of a trace.
    pub fn trace(&self, trace_id: &str) -> Option<usize> {
        self.traces.iter().position(|trace| trace.trace_id == trace_id)
    }

    /// What pages need to draw the list of tracks.
    pub fn described(&self) -> Value {
        let traces = self.traces.iter().enumerate().map(|(index, trace)| {
            json!({
                "index": index,
                "trace_id": trace.trace_id,
                "name": trace.name,
                "rank": trace.rank,
                "shift_ns": trace.clock.shift_ns.to_string(),
                "clock": trace.clock.status,
                "clock_note": trace.clock.note,
            })
        });
        let steps = self.steps.iter().map(|(trace, step, start, end)| {
            json!({"trace": trace, "step": step, "start": start, "end": end})
        });
        json!({
            "start": 0,
            "end": self.end,
            "traces": traces.collect::<Vec<_>>(),
            "tracks": self.tracks.iter().map(Track::described).collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
            "status": {
                "by": "index",
                "bytes": self.bytes(),
                "traces_left_out": self.left_out,
                "note": self.note,
            },
        })
    }
}

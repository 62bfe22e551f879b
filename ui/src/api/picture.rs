//! The events of a picture, as JSON or as binary columns.
//!
//! Binary answers are what pages ask for: a large picture has hundreds of thousands of numbers, and
//! reading them as JSON holds up the page for longer than a frame. They are little-endian:
//!
//! 1. the length of the next part in bytes, 4 bytes;
//! 2. JSON: `step`, `names`, and for each track `key`, the number of `spans` (events with a
//!    duration) and of `instants` (events without one);
//! 3. for each track its columns: `start`, `end`, `at` as 64-bit floating point numbers, which hold
//!    all times of the timeline exactly, then `lane`, `id`, `name`, `count`, `at_id`, `at_name`,
//!    `at_count` as 32-bit unsigned integers.
//!
//! The second part and the columns of each track begin at multiples of 8 bytes.

use serde::Serialize;
use tracesql_udfs::lanes::Buckets;

use crate::timeline::Timeline;

/// Characters of a name in a picture.
const MAX_NAME: usize = 300;
/// Columns begin at multiples of this, so that a page can read them in place.
const ALIGNMENT: usize = 8;

/// The picture of some tracks.
#[derive(Debug, Default, Serialize)]
pub struct Picture {
    step: i64,
    names: Vec<String>,
    tracks: Vec<Slices>,
}

/// The events of a track as columns: those with a duration by lane and time, and those without one
/// by time.
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

impl Picture {
    /// Makes the picture of tracks with these keys. Names are numbered as they come.
    pub fn new(step: i64, shown: Vec<(String, Buckets)>, timeline: &Timeline) -> Self {
        let mut names = Names::of(timeline.names.len());
        let of_track = |(key, buckets)| Slices::new(key, &buckets, &mut names);
        let tracks = shown.into_iter().map(of_track).collect();
        Self { step, names: names.texts(timeline), tracks }
    }

    /// The picture as binary columns.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let Self { step, names, tracks } = self;
        let head = serde_json::to_vec(&Head {
            step: *step,
            names,
            tracks: tracks.iter().map(Slices::head).collect(),
        })?;
        let size: usize = tracks.iter().map(Slices::bytes).sum();
        let mut bytes = Vec::with_capacity(head.len() + size + 2 * ALIGNMENT);
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        bytes.extend(length.to_le_bytes());
        align(&mut bytes);
        bytes.extend(head);
        for track in tracks {
            align(&mut bytes);
            track.write(&mut bytes);
        }
        Ok(bytes)
    }
}

impl Slices {
    fn new(key: String, shown: &Buckets, names: &mut Names) -> Self {
        let (spans, instants) = (shown.spans.len(), shown.instants.len());
        let of_spans = || Vec::with_capacity(spans);
        let of_instants = || Vec::with_capacity(instants);
        let mut slices = Self {
            key,
            lane: of_spans(),
            start: Vec::with_capacity(spans),
            end: Vec::with_capacity(spans),
            id: of_spans(),
            name: of_spans(),
            count: of_spans(),
            at: Vec::with_capacity(instants),
            at_id: of_instants(),
            at_name: of_instants(),
            at_count: of_instants(),
        };
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

    fn head(&self) -> TrackHead<'_> {
        TrackHead { key: &self.key, spans: self.start.len(), instants: self.at.len() }
    }

    /// The size of the columns with the bytes before the next track.
    fn bytes(&self) -> usize {
        32 * self.start.len() + 20 * self.at.len() + ALIGNMENT
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for times in [&self.start, &self.end, &self.at] {
            put(bytes, times, |time| (time as f64).to_le_bytes());
        }
        let of_spans = [&self.lane, &self.id, &self.name, &self.count];
        let of_instants = [&self.at_id, &self.at_name, &self.at_count];
        for numbers in of_spans.into_iter().chain(of_instants) {
            put(bytes, numbers, u32::to_le_bytes);
        }
    }
}

/// Appends values as bytes.
fn put<T: Copy, const N: usize>(bytes: &mut Vec<u8>, values: &[T], of: impl Fn(T) -> [u8; N]) {
    let before = bytes.len();
    // Room that is there already is written faster than bytes are appended.
    bytes.resize(before + N * values.len(), 0);
    for (place, value) in bytes[before..].chunks_exact_mut(N).zip(values) {
        place.copy_from_slice(&of(*value));
    }
}

fn align(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

/// The second part of binary answers.
#[derive(Debug, Serialize)]
struct Head<'p> {
    step: i64,
    names: &'p [String],
    tracks: Vec<TrackHead<'p>>,
}

#[derive(Debug, Serialize)]
struct TrackHead<'p> {
    key: &'p str,
    spans: usize,
    instants: usize,
}

/// The names of one picture.
struct Names {
    /// By the number in the timeline; `NONE` for a name that is not in the picture.
    numbers: Vec<u32>,
    in_order: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Names {
    /// No names yet, of so many in the timeline.
    fn of(all: usize) -> Self {
        Self { numbers: vec![NONE; all], in_order: Vec::new() }
    }

    fn number(&mut self, name: u32) -> u32 {
        let at = name as usize;
        if at >= self.numbers.len() {
            self.numbers.resize(at + 1, NONE);
        }
        if self.numbers[at] == NONE {
            self.numbers[at] = self.in_order.len() as u32;
            self.in_order.push(name);
        }
        self.numbers[at]
    }

    fn texts(&self, timeline: &Timeline) -> Vec<String> {
        let text = |name: &u32| {
            let text = timeline.names.get(*name as usize).map(AsRef::as_ref).unwrap_or_default();
            tracesql::requests::text_of(text.to_owned(), MAX_NAME)
        };
        self.in_order.iter().map(text).collect()
    }
}

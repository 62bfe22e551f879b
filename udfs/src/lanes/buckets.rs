//! What a picture of a track shows: the longest event of each lane and column.

use std::ops::Range;

use super::{Spans, Track};

/// The longest event of a lane that begins in a column, and the number of those that do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The lane.
    pub lane: u32,
    /// Start of the longest event in nanoseconds; of several the first.
    pub start: i64,
    /// Its end.
    pub end: i64,
    /// Its id.
    pub id: u32,
    /// The number of its name.
    pub name: u32,
    /// The events that begin in the column.
    pub count: u32,
}

/// The picture of a track.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// Of events with a duration, by lane and time.
    pub spans: Vec<Bucket>,
    /// Of events without one, by time. Their lane is 0, and the first of a column stands for all.
    pub instants: Vec<Bucket>,
}

impl Track {
    /// What a picture from `start` to `end` shows with columns of `step` nanoseconds. Column 0
    /// begins at time 0. An event that begins before `start` and reaches into the picture has a
    /// bucket of its own. A `step` below 1 counts as 1.
    pub fn buckets(&self, start: i64, end: i64, step: i64) -> Buckets {
        let mut spans = Vec::new();
        for (lane, events) in self.lanes.iter().enumerate() {
            events.add_buckets(&mut spans, lane as u32, start..end, step);
        }
        let mut instants = Vec::new();
        self.instants.add_buckets(&mut instants, 0, start..end, step);
        Buckets { spans, instants }
    }
}

impl Spans {
    /// The positions of the events that start in a window.
    pub fn within(&self, window: &Range<i64>) -> Range<usize> {
        let first = self.starts.partition_point(|s| *s < window.start);
        first..self.starts.partition_point(|s| *s < window.end).max(first)
    }

    /// Adds the buckets of one lane, as [`Track::buckets`] has them.
    pub fn add_buckets(&self, into: &mut Vec<Bucket>, lane: u32, window: Range<i64>, step: i64) {
        add(into, self, lane, window, step.max(1));
    }
}

fn add(into: &mut Vec<Bucket>, events: &Spans, lane: u32, window: Range<i64>, step: i64) {
    let Range { start: first, end: last } = events.within(&window);
    // Events of a lane do not overlap, so only the one before the window can reach into it.
    if let Some(before) = first.checked_sub(1)
        && events.ends[before] > window.start
    {
        into.push(bucket(events, lane, before));
    }
    if first >= last {
        return;
    }
    let mut best = bucket(events, lane, first);
    let mut column = best.start.div_euclid(step);
    let mut column_end = (column + 1).saturating_mul(step);
    let mut longest = best.end - best.start;
    for at in first + 1..last {
        let start = events.starts[at];
        if start < column_end {
            best.count += 1;
            let length = events.ends[at] - start;
            if length > longest {
                longest = length;
                best = Bucket { count: best.count, ..bucket(events, lane, at) };
            }
            continue;
        }
        into.push(best);
        best = bucket(events, lane, at);
        longest = best.end - best.start;
        column = start.div_euclid(step);
        column_end = (column + 1).saturating_mul(step);
    }
    into.push(best);
}

fn bucket(events: &Spans, lane: u32, at: usize) -> Bucket {
    Bucket {
        lane,
        start: events.starts[at],
        end: events.ends[at],
        id: events.ids[at],
        name: events.names[at],
        count: 1,
    }
}

//! The index behind a timeline: the events of a track in lanes that do not overlap, and what of
//! them a picture of some width shows.
//!
//! An event's lane is at least its depth and at least one more than the lane of its parent. It is
//! the first such lane whose last event has ended. Without overlaps this is the depth; profilers
//! also write events that overlap, and then a depth would hold several at once.
//!
//! A picture has columns of `step` nanoseconds. Of the events of a lane that begin in one column,
//! it shows the longest, with the number of all of them. All times are nanoseconds on one clock.

use crate::doc::Function;

mod buckets;
mod build;
mod counter;
mod function;
mod place;
#[cfg(test)]
mod tests;

pub use buckets::{Bucket, Buckets};
pub use build::{Builder, Event};
pub use counter::{Counter, Range};
pub use place::Places;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    vec![function::function()]
}

/// The events of one track.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Track {
    /// Events with a duration, by lane. Those of a lane are ordered by time and do not overlap.
    pub lanes: Vec<Spans>,
    /// Events without a duration, or with one of 0 or less, ordered by time. Their ends are their
    /// starts.
    pub instants: Spans,
}

/// Events in the order of time, as columns.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Spans {
    /// Starts in nanoseconds.
    pub starts: Vec<i64>,
    /// Ends in nanoseconds, exclusive.
    pub ends: Vec<i64>,
    /// Ids of the events.
    pub ids: Vec<u32>,
    /// Numbers of the names.
    pub names: Vec<u32>,
}

impl Spans {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn push(&mut self, start: i64, end: i64, id: u32, name: u32) {
        self.starts.push(start);
        self.ends.push(end);
        self.ids.push(id);
        self.names.push(name);
    }

    fn shrink(&mut self) {
        self.starts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        (self.starts.capacity() + self.ends.capacity()) * size_of::<i64>()
            + (self.ids.capacity() + self.names.capacity()) * size_of::<u32>()
    }
}

impl Track {
    /// The number of events with a duration.
    pub fn events(&self) -> usize {
        self.lanes.iter().map(Spans::len).sum()
    }

    /// The memory of the track in bytes.
    pub fn bytes(&self) -> usize {
        self.lanes.iter().map(Spans::bytes).sum::<usize>() + self.instants.bytes()
    }

    /// The time in which something runs: the union of the events of all lanes, in nanoseconds.
    pub fn busy_ns(&self) -> i64 {
        // Each event of a deeper lane begins while its parent runs, or stands alone.
        let mut spans: Vec<(i64, i64)> = Vec::new();
        for lane in &self.lanes {
            spans.extend(lane.starts.iter().copied().zip(lane.ends.iter().copied()));
        }
        spans.sort_unstable();
        let (mut busy, mut until) = (0_i64, i64::MIN);
        for (start, end) in spans {
            if end > until {
                busy = busy.saturating_add(end.saturating_sub(start.max(until)));
                until = end;
            }
        }
        busy
    }

    /// The lane and the position in it of the event with an id that starts at a time; `None` if
    /// the event has no duration.
    pub fn find(&self, id: u32, start: i64) -> Option<(usize, usize)> {
        self.lanes.iter().enumerate().find_map(|(lane, spans)| {
            let at = spans.starts.partition_point(|s| *s < start);
            (spans.starts.get(at) == Some(&start) && spans.ids[at] == id).then_some((lane, at))
        })
    }
}

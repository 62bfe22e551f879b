//! Puts the events of tracks into lanes.

use super::{Places, Track};

/// An event of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: u32,
    /// The id of the innermost event of the track around it.
    pub parent: Option<u32>,
    /// The number of events around it.
    pub depth: u32,
    /// Start in nanoseconds.
    pub start: i64,
    /// End in nanoseconds; the start if it has no duration.
    pub end: i64,
    /// The number of its name.
    pub name: u32,
}

/// Builds the index of one track from its events, which come in the order of start, longest first.
#[derive(Debug, Default)]
pub struct Builder {
    track: Track,
    places: Places,
    last_start: Option<i64>,
    is_sorted: bool,
}

impl Builder {
    /// A track without events.
    pub fn new() -> Self {
        Self { is_sorted: true, ..Self::default() }
    }

    /// Adds the next event.
    pub fn add(&mut self, event: Event) {
        self.is_sorted &= self.last_start.is_none_or(|last| last <= event.start);
        self.last_start = Some(event.start);
        if event.end <= event.start {
            self.track.instants.push(event.start, event.start, event.id, event.name);
            return;
        }
        let (id, parent) = (i64::from(event.id), event.parent.map(i64::from));
        let Some(lane) = self.places.take(id, parent, event.depth as usize, event.start, event.end)
        else {
            self.track.instants.push(event.start, event.start, event.id, event.name);
            return;
        };
        if lane >= self.track.lanes.len() {
            self.track.lanes.resize_with(lane + 1, Default::default);
        }
        self.track.lanes[lane].push(event.start, event.end, event.id, event.name);
    }

    /// The index; `None` if the events were not in order.
    pub fn finish(mut self) -> Option<Track> {
        if !self.is_sorted {
            return None;
        }
        self.track.lanes.iter_mut().for_each(super::Spans::shrink);
        self.track.instants.shrink();
        Some(self.track)
    }
}

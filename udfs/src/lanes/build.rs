//! Puts the events of tracks into lanes.

use super::Track;

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

/// The most lanes of a track. Profilers nest a few hundred calls; a file that was made to break
/// readers may nest millions. Events beyond it share the last lane if they fit, else they count
/// among the instants.
const MAX_LANES: usize = 4_096;

/// Builds the index of one track from its events, which come in the order of start, longest first.
#[derive(Debug, Default)]
pub struct Builder {
    track: Track,
    /// Ends of the lanes' last events.
    last_ends: Vec<i64>,
    /// The events that may have children still: id, lane and end.
    open: Vec<(u32, usize, i64)>,
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
        while self.open.last().is_some_and(|(_, _, end)| *end <= event.start) {
            self.open.pop();
        }
        let of_parent = event
            .parent
            .and_then(|parent| self.open.iter().rev().find(|(id, _, _)| *id == parent))
            .map_or(0, |(_, lane, _)| lane + 1);
        let wanted = of_parent.max(event.depth as usize).min(MAX_LANES - 1);
        let free = (wanted..self.last_ends.len())
            .find(|lane| self.last_ends[*lane] <= event.start)
            .unwrap_or_else(|| self.last_ends.len().max(wanted));
        if free >= MAX_LANES {
            self.track.instants.push(event.start, event.start, event.id, event.name);
            return;
        }
        if free >= self.last_ends.len() {
            self.last_ends.resize(free + 1, i64::MIN);
            self.track.lanes.resize_with(free + 1, Default::default);
        }
        self.last_ends[free] = event.end;
        self.track.lanes[free].push(event.start, event.end, event.id, event.name);
        self.open.push((event.id, free, event.end));
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

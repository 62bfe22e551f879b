//! Alignment of clocks by events that end at the same moment for all that take part.
//!
//! Each clock is fitted to the clocks that are placed already, beginning with the lowest one of
//! each connected set; then all are refitted a few times with all others. A fit is a level, a slope
//! and steps of the clock. A clock that steps back shows some times twice, so each sight has the
//! number of the segment that it belongs to. Steps that most clocks show at once are those of the
//! reference. Differences are integers throughout; only what remains after a level is taken off
//! becomes floating point.

use super::fit::{Point, fitted};
use super::line::median_int;

/// How often all clocks are refitted.
const SWEEPS: usize = 6;
/// Events with more members than this are compared with the median of all of them.
const MANY_MEMBERS: usize = 32;
/// Events with other clocks, before and after a step, that decide whether a clock or its nearest one
/// stepped.
const MIN_WITNESSES: usize = 3;
/// The segment of a sight that is not known yet.
pub(super) const UNKNOWN: usize = usize::MAX;
/// Steps of a reference that are looked for.
const MAX_REFERENCE_STEPS: usize = 16;
/// The spread of few points is seen as too small: the error grows by this number over the points.
const FEW_POINTS: f64 = 4.0;

/// A sight of an event by a clock.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// Number of the clock.
    pub clock: usize,
    /// Its time, ns.
    pub at: i64,
}

/// A stretch of a clock between two of its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// First time of the segment on its clock; the first segment has the smallest number.
    pub from: i64,
    /// Times around it that may belong to this segment or to the one before, first and last.
    pub unsure: (i64, i64),
    /// How far the clock is ahead of the reference at its origin, ns.
    pub offset: i64,
    /// By how much that grows per ns.
    pub drift: f64,
    /// Half of an interval for the error of aligned times, ns.
    pub error: i64,
    /// Events that were compared.
    pub points: usize,
    /// Median deviation of the events from the fit, ns.
    pub spread: i64,
}

/// A clock and its relation to the reference.
#[derive(Debug, Clone)]
pub struct Clock {
    /// The clock that it was aligned to.
    pub reference: usize,
    /// The time at which `offset` counts, on this clock.
    pub origin: i64,
    /// At least one, in order.
    pub segments: Vec<Segment>,
}

impl Clock {
    /// Returns the number of the segment that a time belongs to.
    pub fn segment(&self, at: i64) -> usize {
        self.segments.iter().rposition(|s| s.from <= at).unwrap_or(0)
    }

    /// Returns the same unless the time is that of a step, when it may be another one.
    pub fn known_segment(&self, at: i64) -> Option<usize> {
        let is_unsure = |s: &Segment| s.unsure.0 <= at && at <= s.unsure.1;
        (!self.segments.iter().skip(1).any(is_unsure)).then(|| self.segment(at))
    }

    /// Returns the time of the reference at a time of this clock in one of its segments.
    pub fn aligned(&self, at: i64, segment: usize) -> i64 {
        let s = &self.segments[segment.min(self.segments.len() - 1)];
        let drifted = s.drift * at.wrapping_sub(self.origin) as f64;
        at.wrapping_sub(s.offset).wrapping_sub(drifted.round() as i64)
    }
}

/// Clocks that are aligned, and the segment that each sight of each event belongs to.
#[derive(Debug)]
pub struct Aligned {
    pub clocks: Vec<Clock>,
    pub segments: Vec<Vec<usize>>,
}

/// Aligns `clocks` clocks by events. Each event is a list of sights by different clocks.
pub fn align(clocks: usize, events: &[Vec<Sight>]) -> Aligned {
    let mut job = Job::new(clocks, events);
    while job.place_next() {}
    job.sweeps();
    for _ in 0..MAX_REFERENCE_STEPS {
        if !job.settle_reference() {
            break;
        }
        job.sweeps();
    }
    job.finish()
}

/// A place at which an event is seen: its number, the number of the sight, and its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    event: usize,
    sight: usize,
    pub(super) at: i64,
}

pub(super) struct Job<'a> {
    events: &'a [Vec<Sight>],
    /// Events of each clock, by its time.
    pub(super) seen: Vec<Vec<Seen>>,
    pub(super) clocks: Vec<Clock>,
    /// The segment of each sight of each event.
    sides: Vec<Vec<usize>>,
    /// Whether the times of the others turn back as those of a clock go on.
    pub(super) others_turn: Vec<bool>,
    placed: Vec<bool>,
    /// The order in which clocks were placed.
    order: Vec<usize>,
    /// For each clock, the sights of its events by clocks that are placed.
    shared: Vec<usize>,
    /// The clock that each was placed by: the one it shares most events with.
    parent: Vec<usize>,
    /// The events that each shared with clocks placed before it.
    ties: Vec<usize>,
    /// The reference time of events with many members, during a sweep.
    known: Vec<Option<i64>>,
}

impl<'a> Job<'a> {
    fn new(count: usize, events: &'a [Vec<Sight>]) -> Self {
        let mut seen = vec![Vec::new(); count];
        for (event, sights) in events.iter().enumerate() {
            for (at, sight) in sights.iter().enumerate() {
                seen[sight.clock].push(Seen { event, sight: at, at: sight.at });
            }
        }
        for own in &mut seen {
            own.sort_unstable_by_key(|seen| (seen.at, seen.event));
        }
        let clock = |(at, own): (usize, &Vec<Seen>)| Clock {
            reference: at,
            origin: own.first().map_or(0, |first| first.at),
            segments: vec![Segment {
                from: i64::MIN,
                unsure: (0, 0),
                offset: 0,
                drift: 0.0,
                error: 0,
                points: 0,
                spread: 0,
            }],
        };
        Self {
            events,
            clocks: seen.iter().enumerate().map(clock).collect(),
            seen,
            sides: events.iter().map(|sights| vec![0; sights.len()]).collect(),
            others_turn: vec![false; count],
            placed: vec![false; count],
            order: Vec::new(),
            shared: vec![0; count],
            parent: (0..count).collect(),
            ties: vec![0; count],
            known: vec![None; events.len()],
        }
    }

    /// Places the clock that shares most events with those that are placed, else the first one
    /// that is left as the reference of others. Returns whether there was one.
    fn place_next(&mut self) -> bool {
        let left = (0..self.placed.len()).filter(|&c| !self.placed[c]);
        let Some(next) = left.max_by_key(|&c| (self.shared[c], std::cmp::Reverse(c))) else {
            return false;
        };
        if self.shared[next] > 0 {
            self.parent[next] = self.nearest_of(next, next);
            self.clocks[next].reference = self.clocks[self.parent[next]].reference;
            self.ties[next] = self.points(next, next).len();
            self.fit(next);
        }
        self.placed[next] = true;
        self.order.push(next);
        for seen in &self.seen[next] {
            for sight in &self.events[seen.event] {
                self.shared[sight.clock] += 1;
            }
        }
        true
    }

    /// Returns the placed clock that shares most events with a clock; the lowest of equal ones.
    fn nearest_of(&self, clock: usize, without: usize) -> usize {
        let mut counts = vec![0_usize; self.placed.len()];
        let counts_for = |sight: &&Sight| self.placed[sight.clock] && sight.clock != without;
        for seen in &self.seen[clock] {
            for sight in self.events[seen.event].iter().filter(counts_for) {
                counts[sight.clock] += 1;
            }
        }
        let most = (0..counts.len()).max_by_key(|&c| (counts[c], std::cmp::Reverse(c)));
        most.unwrap_or(clock)
    }

    fn sweeps(&mut self) {
        for _ in 0..SWEEPS {
            self.sweep();
        }
    }

    /// Refits all clocks but the references.
    fn sweep(&mut self) {
        for event in 0..self.events.len() {
            if self.events[event].len() > MANY_MEMBERS {
                self.known[event] = self.by_others(event, [usize::MAX; 2]);
            }
        }
        for at in 0..self.order.len() {
            let clock = self.order[at];
            if self.clocks[clock].reference != clock {
                self.fit(clock);
            }
        }
        self.known.fill(None);
    }

    /// Returns the time of an event by the placed clocks other than the given ones.
    fn by_others(&self, event: usize, without: [usize; 2]) -> Option<i64> {
        let mut others: Vec<i64> = self.events[event]
            .iter()
            .zip(&self.sides[event])
            .filter(|(sight, side)| {
                !without.contains(&sight.clock) && self.placed[sight.clock] && **side != UNKNOWN
            })
            .map(|(sight, &side)| self.clocks[sight.clock].aligned(sight.at, side))
            .collect();
        (!others.is_empty()).then(|| median_int(&mut others))
    }

    /// Returns how far a clock is ahead of the others in each of its events, without one of them.
    fn points(&self, clock: usize, without: usize) -> Vec<Point> {
        let point = |(slot, seen): (usize, &Seen)| {
            let known = self.known[seen.event];
            let other = known.or_else(|| self.by_others(seen.event, [clock, without]))?;
            Some(Point { slot, at: seen.at, ahead: seen.at.wrapping_sub(other) })
        };
        self.seen[clock].iter().enumerate().filter_map(point).collect()
    }

    /// Fits a clock to the other clocks that are placed.
    fn fit(&mut self, clock: usize) {
        let origin = self.clocks[clock].origin;
        let Some(mut fit) = fitted(self.points(clock, clock), origin) else { return };
        // A step that is seen only against the nearest clock is a step of that clock.
        if fit.segments.len() > 1 {
            let rest = self.points(clock, self.nearest_of(clock, clock));
            let is_witnessed = fit.is_witnessed(&rest, MIN_WITNESSES);
            if is_witnessed
                && let Some(calm) = fitted(rest, origin).filter(|rest| rest.segments.len() == 1)
            {
                fit = calm;
            }
        }
        self.others_turn[clock] = fit.others_turn;
        self.clocks[clock].segments = fit.segments;
        let of = &self.clocks[clock];
        let by_time = |seen: &Seen| of.known_segment(seen.at).unwrap_or(UNKNOWN);
        let by_time: Vec<usize> = self.seen[clock].iter().map(by_time).collect();
        self.set_sides(clock, &by_time);
        for (slot, side) in fit.sides {
            let Seen { event, sight, .. } = self.seen[clock][slot];
            self.sides[event][sight] = side;
        }
    }

    /// Sets the segments of the sights of a clock, in the order of its times.
    pub(super) fn set_sides(&mut self, clock: usize, sides: &[usize]) {
        for (seen, &side) in self.seen[clock].iter().zip(sides) {
            self.sides[seen.event][seen.sight] = side;
        }
    }

    /// Returns the segments of the sights of a clock, in the order of its times.
    pub(super) fn sides(&self, clock: usize) -> impl Iterator<Item = (i64, usize)> {
        self.seen[clock].iter().map(|seen| (seen.at, self.sides[seen.event][seen.sight]))
    }

    /// Returns the other sights of an event that a clock saw, with their segments.
    pub(super) fn partners(&self, seen: Seen) -> impl Iterator<Item = (Sight, usize)> {
        let sights = self.events[seen.event].iter().copied().zip(&self.sides[seen.event]);
        let others = sights.enumerate().filter(move |&(at, _)| at != seen.sight);
        others.map(|(_, (sight, &side))| (sight, side))
    }

    /// Adds the errors of the clocks that each was placed by, and the resolution of its times.
    fn finish(mut self) -> Aligned {
        for &clock in &self.order {
            let parent = self.parent[clock];
            if parent == clock {
                continue;
            }
            let above = self.clocks[parent].segments.iter().map(|s| s.error).max().unwrap_or(0);
            let least = self.resolution(clock).max(1);
            // Events with clocks that were placed later do not tie the clock to the reference.
            let segments = &mut self.clocks[clock].segments;
            let points: usize = segments.iter().map(|segment| segment.points).sum();
            let all = (points.max(1) as f64 / self.ties[clock].max(1) as f64).max(1.0);
            for segment in segments {
                let ties = (segment.points as f64 / all).max(1.0);
                let error = segment.error as f64 * all.sqrt() * (1.0 + FEW_POINTS / ties);
                segment.error = (error.hypot(above as f64).ceil() as i64).max(least);
            }
        }
        // Not before, as other clocks are aligned with medians of its times.
        for &clock in self.order.iter().filter(|&&clock| self.parent[clock] == clock) {
            let least = self.resolution(clock);
            for segment in &mut self.clocks[clock].segments {
                segment.error = segment.error.max(least);
            }
        }
        for (sights, sides) in self.events.iter().zip(&mut self.sides) {
            for (sight, side) in sights.iter().zip(sides).filter(|(_, side)| **side == UNKNOWN) {
                *side = self.clocks[sight.clock].segment(sight.at);
            }
        }
        Aligned { clocks: self.clocks, segments: self.sides }
    }

    /// Returns 1,000 if a clock shows whole microseconds only, else 0, ns.
    fn resolution(&self, clock: usize) -> i64 {
        let is_coarse = self.seen[clock].iter().all(|seen| seen.at % 1_000 == 0);
        if is_coarse && !self.seen[clock].is_empty() { 1_000 } else { 0 }
    }
}

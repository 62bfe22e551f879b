//! Alignment of clocks by events that end at the same moment for all that take part.
//!
//! Each clock is fitted to the clocks that are placed already, beginning with the lowest one of
//! each connected set; then all are refitted a few times with all others. A fit is a level, a slope
//! and steps of the clock. Differences are integers throughout; only what remains after a level is
//! taken off becomes floating point.

use super::line::{Slope, jumps, mad, median, median_int, slope};

/// How often all clocks are refitted.
const SWEEPS: usize = 6;
/// Events with more members than this are compared with the median of all of them.
const MANY_MEMBERS: usize = 32;
/// Events with other clocks, before and after a step, that decide whether a clock or its nearest one
/// stepped.
const MIN_WITNESSES: usize = 4;
/// Three standard errors of a median of normal values, by the median deviation: 3 · 1.4826 ·
/// sqrt(pi / 2). Errors of clocks depend on each other, so two would hold fewer than 95 of 100.
const ERROR_BY_MAD: f64 = 3.0 * 1.4826 * 1.2533;
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

    /// Returns the time of the reference at a time of this clock.
    pub fn aligned(&self, at: i64) -> i64 {
        let s = &self.segments[self.segment(at)];
        let drifted = s.drift * at.wrapping_sub(self.origin) as f64;
        at.wrapping_sub(s.offset).wrapping_sub(drifted.round() as i64)
    }
}

/// Aligns `clocks` clocks by events. Each event is a list of sights by different clocks.
pub fn align(clocks: usize, events: &[Vec<Sight>]) -> Vec<Clock> {
    let mut job = Job::new(clocks, events);
    while job.place_next() {}
    for _ in 0..SWEEPS {
        job.sweep();
    }
    job.finish()
}

struct Job<'a> {
    events: &'a [Vec<Sight>],
    /// Events of each clock, and its time in them.
    seen: Vec<Vec<(usize, i64)>>,
    clocks: Vec<Clock>,
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
            for sight in sights {
                seen[sight.clock].push((event, sight.at));
            }
        }
        for own in &mut seen {
            own.sort_unstable_by_key(|&(event, at)| (at, event));
        }
        let clock = |(at, own): (usize, &Vec<(usize, i64)>)| Clock {
            reference: at,
            origin: own.first().map_or(0, |first| first.1),
            segments: vec![Segment {
                from: i64::MIN,
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
        for &(event, _) in &self.seen[next] {
            for sight in &self.events[event] {
                self.shared[sight.clock] += 1;
            }
        }
        true
    }

    /// Returns the placed clock that shares most events with a clock; the lowest of equal ones.
    fn nearest_of(&self, clock: usize, without: usize) -> usize {
        let mut counts = vec![0_usize; self.placed.len()];
        let counts_for = |sight: &&Sight| self.placed[sight.clock] && sight.clock != without;
        for &(event, _) in &self.seen[clock] {
            for sight in self.events[event].iter().filter(counts_for) {
                counts[sight.clock] += 1;
            }
        }
        let most = (0..counts.len()).max_by_key(|&c| (counts[c], std::cmp::Reverse(c)));
        most.unwrap_or(clock)
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
            .filter(|sight| !without.contains(&sight.clock) && self.placed[sight.clock])
            .map(|sight| self.clocks[sight.clock].aligned(sight.at))
            .collect();
        (!others.is_empty()).then(|| median_int(&mut others))
    }

    /// Returns how far a clock is ahead of the others in each of its events, without one of them.
    fn points(&self, clock: usize, without: usize) -> Vec<(i64, i64)> {
        let point = |&(event, at): &(usize, i64)| {
            let known = self.known[event];
            let other = known.or_else(|| self.by_others(event, [clock, without]))?;
            Some((at, at.wrapping_sub(other)))
        };
        self.seen[clock].iter().filter_map(point).collect()
    }

    /// Fits a clock to the other clocks that are placed.
    fn fit(&mut self, clock: usize) {
        let origin = self.clocks[clock].origin;
        let Some(mut segments) = fitted(&self.points(clock, clock), origin) else { return };
        // A step that is seen only against the nearest clock is a step of that clock.
        if segments.len() > 1 {
            let rest = self.points(clock, self.nearest_of(clock, clock));
            let cuts: Vec<i64> = segments.iter().skip(1).map(|segment| segment.from).collect();
            if is_witnessed(&rest, &cuts)
                && let Some(calm) = fitted(&rest, origin).filter(|rest| rest.len() == 1)
            {
                segments = calm;
            }
        }
        self.clocks[clock].segments = segments;
    }

    /// Adds the errors of the clocks that each was placed by, and the resolution of its times.
    fn finish(mut self) -> Vec<Clock> {
        for &clock in &self.order {
            let parent = self.parent[clock];
            if parent == clock {
                continue;
            }
            let above = self.clocks[parent].segments.iter().map(|s| s.error).max().unwrap_or(0);
            let is_coarse = self.seen[clock].iter().all(|&(_, at)| at % 1_000 == 0);
            let least = if is_coarse { 1_000 } else { 1 };
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
        self.clocks
    }
}

/// Returns whether points, sorted by time, are on both sides of each cut.
fn is_witnessed(points: &[(i64, i64)], cuts: &[i64]) -> bool {
    cuts.iter().all(|&cut| {
        let before = points.partition_point(|point| point.0 < cut);
        before >= MIN_WITNESSES && points.len() - before >= MIN_WITNESSES
    })
}

/// Fits levels, a common slope and steps to points: times of a clock, and how far it is ahead.
/// Returns `None` if there are no points.
fn fitted(points: &[(i64, i64)], origin: i64) -> Option<Vec<Segment>> {
    if points.is_empty() {
        return None;
    }
    let base = median_int(&mut points.iter().map(|p| p.1).collect::<Vec<_>>());
    let near: Vec<(f64, f64)> = points
        .iter()
        .map(|p| (p.0.wrapping_sub(origin) as f64, p.1.wrapping_sub(base) as f64))
        .collect();
    let mut cuts = jumps(&near);
    cuts.push(near.len());
    let mut start = 0;
    let pieces: Vec<(usize, usize)> =
        cuts.into_iter().map(|end| (std::mem::replace(&mut start, end), end)).collect();
    let span = |piece: &(usize, usize)| near[piece.1 - 1].0 - near[piece.0].0;
    let longest = pieces.iter().copied().max_by(|a, b| span(a).total_cmp(&span(b)));
    let line = longest.map_or(Slope::default(), |(from, to)| slope(&near[from..to]));
    let drift = line.slope;
    let segment = |&(from, to): &(usize, usize)| {
        let own = &near[from..to];
        let mut rest: Vec<f64> = own.iter().map(|p| p.1 - drift * p.0).collect();
        let level = median(&mut rest);
        rest.iter_mut().for_each(|r| *r -= level);
        let spread = mad(&rest);
        let usual: Vec<f64> =
            rest.into_iter().filter(|r| r.abs() <= 10.0 * spread.max(1.0)).collect();
        let mean = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        let error = ERROR_BY_MAD * spread / (own.len() as f64).sqrt() + mean.abs() + line.unseen;
        Segment {
            from: if from == 0 {
                i64::MIN
            } else {
                let (before, after) = (points[from - 1].0, points[from].0);
                before + (after - before) / 2
            },
            offset: base.wrapping_add(level.round() as i64),
            drift,
            error: error.ceil() as i64,
            points: own.len(),
            spread: spread.round() as i64,
        }
    };
    Some(pieces.iter().map(segment).collect())
}

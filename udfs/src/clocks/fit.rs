//! The fit of a clock to others: levels between steps, and one slope.

use super::align::Segment;
use super::line::{MIN_JUMP_NS, Slope, jumps, mad, median, median_int, slope, wobble};

/// Three standard errors of a median of normal values, by the median deviation: 3 · 1.4826 ·
/// sqrt(pi / 2). Errors of clocks depend on each other, so two would hold fewer than 95 of 100.
const ERROR_BY_MAD: f64 = 3.0 * 1.4826 * 1.2533;

/// How far a clock is ahead of the others in an event.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The number of the event among those of the clock.
    pub slot: usize,
    pub at: i64,
    pub ahead: i64,
}

impl Point {
    /// The time of the others.
    fn other(&self) -> i64 {
        self.at.wrapping_sub(self.ahead)
    }
}

/// What was fitted to points.
#[derive(Debug)]
pub struct Fit {
    pub segments: Vec<Segment>,
    /// The segment of each point, by its slot.
    pub sides: Vec<(usize, usize)>,
    /// Whether the times of the others turn back as those of the clock go on.
    pub others_turn: bool,
    /// Times of the others between which the clock stepped.
    cuts: Vec<i64>,
}

impl Fit {
    /// Returns whether points are on both sides of each step.
    pub fn is_witnessed(&self, points: &[Point], least: usize) -> bool {
        self.cuts.iter().all(|&cut| {
            let before = points.iter().filter(|point| point.other() < cut).count();
            before >= least && points.len() - before >= least
        })
    }
}

/// Returns the sum of changes between neighbouring points.
fn variation(points: &[Point]) -> f64 {
    points.windows(2).map(|p| p[1].ahead.wrapping_sub(p[0].ahead) as f64).map(f64::abs).sum()
}

/// Fits levels, a common slope and steps to points, which are sorted by time. Returns `None` if
/// there are no points.
///
/// Where the clock steps back, its times repeat and the order of the points is that of the others.
pub fn fitted(mut points: Vec<Point>, origin: i64) -> Option<Fit> {
    if points.is_empty() {
        return None;
    }
    let mut by_others = points.clone();
    by_others.sort_by_key(Point::other);
    let (own, other) = (variation(&points), variation(&by_others));
    let others_turn = other > own + MIN_JUMP_NS;
    if own > other + MIN_JUMP_NS {
        points = by_others;
    }
    let base = median_int(&mut points.iter().map(|p| p.ahead).collect::<Vec<_>>());
    let near: Vec<(f64, f64)> = points
        .iter()
        .map(|p| (p.at.wrapping_sub(origin) as f64, p.ahead.wrapping_sub(base) as f64))
        .collect();
    let mut cuts = jumps(&near);
    let middle = |at: &usize| between(points[at - 1].other(), points[*at].other());
    let cut_times = cuts.iter().map(middle).collect();
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
        let level = median(&mut rest.clone());
        rest.iter_mut().for_each(|r| *r -= level);
        let spread = mad(&rest);
        let unseen = line.unseen.max(wobble(&rest, spread));
        let usual: Vec<f64> =
            rest.into_iter().filter(|r| r.abs() <= 10.0 * spread.max(1.0)).collect();
        let mean = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        let error = ERROR_BY_MAD * spread / (own.len() as f64).sqrt() + mean.abs() + unseen;
        Segment {
            from: if from == 0 { i64::MIN } else { between(points[from - 1].at, points[from].at) },
            unsure: (0, 0),
            offset: base.wrapping_add(level.round() as i64),
            drift,
            error: error.ceil() as i64,
            points: own.len(),
            spread: spread.round() as i64,
        }
    };
    let mut segments: Vec<Segment> = pieces.iter().map(segment).collect();
    for at in 1..segments.len() {
        let cut = pieces[at].0;
        let size = segments[at].offset.wrapping_sub(segments[at - 1].offset);
        segments[at].unsure = unsure(points[cut - 1].at, points[cut].at, size);
    }
    // A clock that steps back by more than a piece lasts has its segments in no order of time.
    let mut last = i64::MIN;
    for segment in &mut segments {
        segment.from = segment.from.max(last);
        last = segment.from;
    }
    let of_piece = |(side, &(from, to)): (usize, &(usize, usize))| {
        points[from..to].iter().map(move |point| (point.slot, side)).collect::<Vec<_>>()
    };
    let sides = pieces.iter().enumerate().flat_map(of_piece).collect();
    Some(Fit { segments, sides, others_turn, cuts: cut_times })
}

/// Returns the middle of two times.
pub fn between(a: i64, b: i64) -> i64 {
    a.wrapping_add(b.wrapping_sub(a) / 2)
}

/// Returns the times, first and last, that may be before or after a step of a size, by the last
/// known time before and the first known time after it.
pub fn unsure(before: i64, after: i64, size: i64) -> (i64, i64) {
    let back = size.min(0);
    let (a, b) = (before.saturating_add(back), after.saturating_sub(back));
    (a.min(b), a.max(b))
}

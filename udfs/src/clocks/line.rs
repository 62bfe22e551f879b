//! A robust straight line through points, and jumps between levels of points.

/// Returns the median of values, which are reordered; 0 without values.
pub fn median(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (below, upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = *upper;
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    lower + (upper - lower) / 2.0
}

/// Returns the median of integers without loss of precision, rounded down; 0 without values.
pub fn median_int(values: &mut [i64]) -> i64 {
    let n = values.len();
    if n == 0 {
        return 0;
    }
    let (below, upper, _) = values.select_nth_unstable(n / 2);
    let upper = *upper;
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max().unwrap_or(upper);
    lower + (upper - lower) / 2
}

/// Returns the median distance of values from their median.
pub fn mad(values: &[f64]) -> f64 {
    let middle = median(&mut values.to_vec());
    median(&mut values.iter().map(|v| (v - middle).abs()).collect::<Vec<_>>())
}

/// Points have a slope only if some are further apart than this, ns.
const MIN_SPAN_NS: f64 = 1e6;
/// Slopes are given for windows longer than this, ns, and for this many points or more.
const MIN_WINDOW_NS: f64 = 2e7;
const MIN_POINTS: usize = 8;
/// The standard deviation of normal values by their median deviation.
const SIGMA_BY_MAD: f64 = 1.4826;
/// A slope is kept if it exceeds its own standard error by this factor.
const CLEAR_SLOPE: f64 = 4.0;

/// A robust slope, and how far the points could drift over the whole window without being noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slope {
    pub slope: f64,
    pub unseen: f64,
}

/// Returns the slope of a robust line through points that are sorted by x: the median of the slopes
/// between points that are half of all points apart (after Theil and Sen). It is 0 if the points
/// are too few or too close, or if the slope is not clearly larger than its error.
pub fn slope(points: &[(f64, f64)]) -> Slope {
    let n = points.len();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Slope::default();
    };
    let window = last.0 - first.0;
    if n < MIN_POINTS || window < MIN_WINDOW_NS {
        return Slope::default();
    }
    let mut slopes: Vec<f64> = (0..n)
        .map(|at| (points[at], points[(at + n / 2) % n]))
        .filter(|(a, b)| (b.0 - a.0).abs() > MIN_SPAN_NS)
        .map(|(a, b)| (b.1 - a.1) / (b.0 - a.0))
        .collect();
    if slopes.is_empty() {
        return Slope::default();
    }
    let slope = median(&mut slopes);
    let rest: Vec<f64> = points.iter().map(|p| p.1 - slope * p.0).collect();
    let error = 1.3 * SIGMA_BY_MAD * mad(&rest) / (window * (n as f64).sqrt());
    let unseen = error * window;
    if slope.abs() > CLEAR_SLOPE * error {
        Slope { slope, unseen }
    } else {
        Slope { slope: 0.0, unseen: unseen.max(slope.abs() * window / 2.0) }
    }
}

/// The smallest jump that is looked for, ns.
pub const MIN_JUMP_NS: f64 = 5_000.0;
/// A jump is larger than the usual change from point to point by this factor.
const JUMP_BY_NOISE: f64 = 20.0;
/// A jump is larger than a clock drifts in between: 300 ppm.
const MAX_DRIFT: f64 = 3e-4;
/// Points on each side whose levels are compared, and how many each side must have.
const SIDE_POINTS: usize = 5;
const MIN_SIDE_POINTS: usize = 3;

/// Returns the positions of points, sorted by x, before which the level jumps for good.
pub fn jumps(points: &[(f64, f64)]) -> Vec<usize> {
    let mut changes: Vec<f64> = points.windows(2).map(|p| (p[1].1 - p[0].1).abs()).collect();
    if changes.len() < 2 * MIN_SIDE_POINTS {
        return Vec::new();
    }
    let noise = median(&mut changes);
    let level = |side: &[(f64, f64)]| median(&mut side.iter().map(|p| p.1).collect::<Vec<_>>());
    let mut found: Vec<usize> = Vec::new();
    for at in MIN_SIDE_POINTS..=points.len() - MIN_SIDE_POINTS {
        let (before, after) = (points[at - 1], points[at]);
        let floor =
            MIN_JUMP_NS.max(JUMP_BY_NOISE * noise).max(MAX_DRIFT * (after.0 - before.0).abs());
        let from = found.last().copied().unwrap_or(0).max(at.saturating_sub(SIDE_POINTS));
        let left = &points[from..at];
        let right = &points[at..points.len().min(at + SIDE_POINTS)];
        // Both sides are level, but for one point.
        let is_level = |side: &[(f64, f64)]| {
            let level = level(side);
            side.iter().filter(|p| (p.1 - level).abs() > floor / 2.0).count() <= 1
        };
        if left.len() >= MIN_SIDE_POINTS
            && is_level(left)
            && is_level(right)
            && (after.1 - before.1).abs() > floor
            && (level(right) - level(left)).abs() > floor
        {
            found.push(at);
        }
    }
    found
}

/// Points whose median is taken to see slow changes.
const WOBBLE_POINTS: usize = 8;
/// Medians of normal values stay below this many median deviations.
const CLEAR_WOBBLE: f64 = 4.0;

/// Returns how far neighbouring points lie off together, more than by chance; else 0.
pub fn wobble(rest: &[f64], spread: f64) -> f64 {
    let level = |side: &[f64]| median(&mut side.to_vec()).abs();
    let most = rest.windows(WOBBLE_POINTS).map(level).fold(0.0, f64::max);
    if most > CLEAR_WOBBLE * spread { most } else { 0.0 }
}

//! How recordings of one sequence of events are shifted against each other.

/// The difference of two clocks changes by less than this between neighbouring events, ns.
const MAX_CHANGE_NS: i64 = 20_000;
/// The next best shift must be worse by this factor, and by this many ns.
const CLEARLY: i64 = 5;
const MIN_MARGIN_NS: i64 = 1_000;
/// Entries that two recordings share at least, where neither lies within the other.
const MIN_SHARED: usize = 6;
/// Comparisons of two recordings that are made in full; beyond, shifts are judged by a sample.
const MAX_COMPARISONS: usize = 1 << 22;
const SAMPLE: usize = 64;

/// Returns by how many entries each recording begins after the first entry of the longest one; the
/// number is negative for a recording that begins earlier. It is `None` where it cannot be decided.
///
/// The right shift is the one at which the difference between the two clocks changes least from
/// event to event, clearly so or by clearly deviating least from its median as well: the former
/// does not mind clocks that step or drift, the latter tells steps of a job apart that repeat
/// almost exactly. Recordings of equal length are taken as they are unless another shift is clearly
/// better.
pub fn shifts(recordings: &[Vec<i64>]) -> Vec<Option<i64>> {
    let longest = |best: usize, at: usize| {
        if recordings[at].len() > recordings[best].len() { at } else { best }
    };
    let Some(reference) = (0..recordings.len()).reduce(longest) else { return Vec::new() };
    let long = &recordings[reference];
    recordings
        .iter()
        .enumerate()
        .map(|(at, own)| if at == reference { Some(0) } else { shift(own, long) })
        .collect()
}

fn shift(own: &[i64], long: &[i64]) -> Option<i64> {
    let (n, spare) = (own.len(), long.len() - own.len());
    let equal = (spare == 0).then_some(0);
    let shared = MIN_SHARED.max(n.div_ceil(2)).min(n);
    let range = -((n - shared) as i64)..=(long.len() - shared) as i64;
    let step = (n * long.len()).div_ceil(MAX_COMPARISONS);
    let sampled = if step > 1 { (n / SAMPLE).max(1) } else { 1 };
    let best = |measure: Measure| {
        let score = |k: i64, every: usize| Some((measure(own, long, k, every)?, k));
        let mut scored: Vec<(i64, i64)> = range.clone().filter_map(|k| score(k, sampled)).collect();
        scored.sort_unstable();
        if sampled > 1 {
            scored.truncate(16);
            scored = scored.iter().filter_map(|&(_, k)| score(k, 1)).collect();
            scored.sort_unstable();
        }
        let &(least, found) = scored.first()?;
        let second = scored.get(1).map_or(i64::MAX, |next| next.0);
        let is_clear = least <= MAX_CHANGE_NS
            && second >= least.saturating_mul(CLEARLY)
            && second - least >= MIN_MARGIN_NS;
        Some((found, is_clear))
    };
    let by_change = best(change);
    if let Some((found, true)) = by_change {
        return Some(found);
    }
    // Both must find the same shift, as a step of a clock makes the right one deviate.
    let by_deviation = best(deviation).filter(|(_, is_clear)| *is_clear);
    by_deviation.map(|b| b.0).filter(|found| Some(*found) == by_change.map(|b| b.0)).or(equal)
}

/// How badly two recordings fit together at a shift, ns, by one in so many of their entries. `None`
/// if they share too few.
type Measure = fn(&[i64], &[i64], i64, usize) -> Option<i64>;

/// The entries of a recording that another one shares at a shift.
fn shared(own: &[i64], long: &[i64], shift: i64) -> Option<std::ops::Range<usize>> {
    let from = (-shift).max(0) as usize;
    let to = own.len().min((long.len() as i64 - shift).max(0) as usize);
    (to >= from + 2).then_some(from..to)
}

/// Returns the median deviation of the difference of the two clocks from its median at a shift.
fn deviation(own: &[i64], long: &[i64], shift: i64, every: usize) -> Option<i64> {
    let difference = |at: usize| own[at].wrapping_sub(long[(at as i64 + shift) as usize]);
    let mut found: Vec<i64> = shared(own, long, shift)?.step_by(every).map(difference).collect();
    let middle = found.len() / 2;
    let level = *found.select_nth_unstable(middle).1;
    found.iter_mut().for_each(|d| *d = d.saturating_sub(level).saturating_abs());
    Some(*found.select_nth_unstable(middle).1)
}

/// Returns how much the difference of the two clocks changes from an event to the next at a shift:
/// the 80 % quantile, so that a few odd entries and steps of a clock do not matter.
fn change(own: &[i64], long: &[i64], shift: i64, every: usize) -> Option<i64> {
    let shared = shared(own, long, shift)?;
    let difference = |at: usize| own[at].wrapping_sub(long[(at as i64 + shift) as usize]);
    let mut changes: Vec<i64> = (shared.start..shared.end - 1)
        .step_by(every)
        .map(|at| difference(at + 1).saturating_sub(difference(at)).saturating_abs())
        .collect();
    let at = (changes.len() * 4 / 5).min(changes.len() - 1);
    Some(*changes.select_nth_unstable(at).1)
}

//! Sequences that repeat in a list: the choice of those that explain most of it.

use std::collections::{BTreeMap, BinaryHeap};

use super::suffixes::Suffixes;

/// A sequence with its occurrences, which overlap neither each other nor those of other sequences.
#[derive(Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Number of values.
    pub length: usize,
    /// Position of the first value of each occurrence, from 0.
    pub starts: Vec<usize>,
}

/// What sequences count.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Least number of values of a sequence.
    pub min_length: usize,
    /// Greatest number of values of a sequence.
    pub max_length: usize,
    /// Greatest number of sequences.
    pub top: usize,
}

/// Number of shorter sequences that are tried for one that overlaps itself.
const MAX_PERIODS: usize = 4;

/// Values that a sequence repeats: all occurrences but one.
fn gain(length: usize, occurrences: usize) -> usize {
    length * occurrences.saturating_sub(1)
}

/// Finds sequences in `values`. No sequence holds a `None` or crosses from one group to another.
///
/// The sequence that repeats most values is taken first; of equal ones the longest, then the one
/// that begins first. Its occurrences are closed to the next ones.
pub fn repeats(values: &[Option<i64>], groups: &[Option<i64>], limits: Limits) -> Vec<Repeat> {
    let (text, positions) = symbols(values, groups);
    let suffixes = Suffixes::new(&text, limits.max_length);
    let mut heap: BinaryHeap<Candidate> = candidates(&text, &suffixes, limits.min_length).into();
    let mut taken = Taken::new(text.len());
    let mut found = Vec::new();
    while found.len() < limits.top
        && let Some(candidate) = heap.pop()
    {
        if candidate.checked == Some(found.len()) {
            let starts = taken.free(&suffixes, &candidate);
            taken.close(&starts, candidate.length);
            let starts = starts.into_iter().map(|start| positions[start]).collect();
            found.push(Repeat { length: candidate.length, starts });
            continue;
        }
        if candidate.checked.is_none() {
            heap.extend(periods(&suffixes, &candidate, limits.min_length));
        }
        // Occurrences may overlap each other or those of sequences that were taken since.
        let starts = taken.free(&suffixes, &candidate);
        if starts.len() > 1 {
            let gain = gain(candidate.length, starts.len());
            let first = std::cmp::Reverse(starts[0]);
            heap.push(Candidate { gain, first, checked: Some(found.len()), ..candidate });
        }
    }
    found
}

/// Numbers the values. A symbol that occurs once stands for `None` and between two groups.
fn symbols(values: &[Option<i64>], groups: &[Option<i64>]) -> (Vec<u32>, Vec<usize>) {
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let (mut text, mut positions) = (Vec::new(), Vec::new());
    for (position, value) in values.iter().enumerate() {
        if position > 0 && groups[position] != groups[position - 1] {
            text.push(fresh());
            positions.push(position);
        }
        let symbol = match value {
            Some(value) => *numbers.entry(*value).or_insert_with(&mut fresh),
            None => fresh(),
        };
        text.push(symbol);
        positions.push(position);
    }
    (text, positions)
}

/// A sequence that occurs several times: a range of neighbours in the order of suffixes. The order
/// of candidates is that of their preference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Values that it repeats; an upper bound unless it was checked.
    gain: usize,
    length: usize,
    first: std::cmp::Reverse<usize>,
    from: usize,
    to: usize,
    /// Number of sequences that were taken when the gain was computed; `None` if it was not, and
    /// `usize::MAX` for beginnings of other candidates.
    checked: Option<usize>,
}

/// Returns all sequences that cannot be made longer on either side without losing an occurrence.
fn candidates(text: &[u32], suffixes: &Suffixes, min_length: usize) -> Vec<Candidate> {
    let n = text.len();
    // Number of places so far whose suffix has another symbol before it than its neighbour.
    let mut changes = vec![0_usize; n];
    let before = |place: usize| (suffixes.starts[place] as usize).checked_sub(1).map(|at| text[at]);
    for place in 1..n {
        let differs = before(place) != before(place - 1) || before(place).is_none();
        changes[place] = changes[place - 1] + usize::from(differs);
    }
    let mut found = Vec::new();
    // Open ranges: the length that their suffixes have in common, and their first place.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for place in 1..=n {
        let common = suffixes.common.get(place).map_or(0, |&common| common as usize);
        let mut from = place - 1;
        while let Some(&(length, start)) = open.last()
            && length > common
        {
            open.pop();
            from = start;
            let to = place - 1;
            if length >= min_length && changes[to] > changes[start] {
                let gain = gain(length, (to - start + 1).min(n / length));
                let first = std::cmp::Reverse(0);
                found.push(Candidate { gain, length, first, from: start, to, checked: None });
            }
        }
        if common > 0 && open.last().is_none_or(|&(length, _)| length < common) {
            open.push((common, from));
        }
    }
    found
}

/// Returns the beginnings of a sequence that repeat where the whole sequence overlaps itself: of
/// `abcabcabca`, in which `abca` occurs three times and twice without overlap, `abc`.
fn periods(suffixes: &Suffixes, whole: &Candidate, min_length: usize) -> Vec<Candidate> {
    let mut starts = suffixes.starts[whole.from..=whole.to].to_vec();
    starts.sort_unstable();
    let distances = starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    let mut lengths: Vec<usize> = distances
        .filter(|&distance| distance < whole.length)
        .map(|distance| distance.max(min_length))
        .filter(|&length| length < whole.length)
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths.truncate(MAX_PERIODS);
    let beginning = |length| Candidate {
        gain: gain(length, starts.len()),
        length,
        checked: Some(usize::MAX),
        ..whole.clone()
    };
    lengths.into_iter().map(beginning).collect()
}

/// The places that sequences have taken.
struct Taken {
    places: Vec<bool>,
    /// Number of taken places before each place.
    before: Vec<u32>,
}

impl Taken {
    fn new(n: usize) -> Self {
        Self { places: vec![false; n], before: vec![0; n + 1] }
    }

    /// Occurrences in free places that do not overlap each other, the first ones first.
    fn free(&self, suffixes: &Suffixes, candidate: &Candidate) -> Vec<usize> {
        let mut starts = suffixes.starts[candidate.from..=candidate.to].to_vec();
        starts.sort_unstable();
        let mut end = 0;
        let free = |start: &usize| {
            let is_free =
                *start >= end && self.before[*start] == self.before[*start + candidate.length];
            if is_free {
                end = *start + candidate.length;
            }
            is_free
        };
        starts.into_iter().map(|start| start as usize).filter(free).collect()
    }

    fn close(&mut self, starts: &[usize], length: usize) {
        for &start in starts {
            self.places[start..start + length].fill(true);
        }
        let mut sum = 0;
        for (place, taken) in self.places.iter().enumerate() {
            sum += u32::from(*taken);
            self.before[place + 1] = sum;
        }
    }
}

//! Clocks: converts times of packets to the clock of the trace.
//!
//! Snapshots state what several clocks showed at one instant. A time is moved by the difference of
//! the nearest snapshot before it; times before the first snapshot take the first one.

use rustc_hash::FxHashMap;

use crate::wire::{Fault, Fields};

/// Maximum number of clocks of a snapshot that are used.
const MAX_CLOCKS: usize = 32;
/// `CLOCK_REALTIME`, whose zero is the Unix epoch.
const REALTIME: u64 = 1;
/// `CLOCK_MONOTONIC`, the clock of events that carry times of their own.
pub const MONOTONIC: u64 = 3;
/// `CLOCK_BOOTTIME`, the clock of traces that name none.
const BOOTTIME: u64 = 6;

/// Identifies a clock of the whole trace, or one of a sequence.
pub fn key(clock: u32, sequence: u64) -> u64 {
    match clock {
        64..128 => u64::from(clock) | (sequence << 32),
        _ => clock.into(),
    }
}

/// What a clock showed in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// The clock.
    pub clock: u64,
    /// Its time, ns.
    pub ns: i64,
    /// Whether packets state the time since the packet before.
    pub is_incremental: bool,
    /// Number of ns of its unit.
    pub multiplier: i64,
}

/// Reads a snapshot: what the clocks showed, and the clock of the trace if it is named.
pub fn read(bytes: &[u8], sequence: u64) -> Result<(Vec<Shown>, Option<u32>), Fault> {
    let (mut list, mut primary) = (Vec::new(), None);
    let mut fields = Fields::of(bytes);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => {
                let within = |f: Fault| f.within(field.start());
                let (mut clock, mut time, mut is_incremental, mut multiplier) = (0, 0, false, 1);
                let mut fields = Fields::of(field.bytes()?);
                while let Some(field) = fields.next().map_err(within)? {
                    match field.number {
                        1 => clock = field.uint().map_err(within)?,
                        2 => time = field.uint().map_err(within)?,
                        3 => is_incremental = field.uint().map_err(within)? != 0,
                        4 => multiplier = field.uint().map_err(within)?,
                        _ => {}
                    }
                }
                let clock = key(u32::try_from(clock).unwrap_or(u32::MAX), sequence);
                let multiplier = i64::try_from(multiplier).unwrap_or(1).max(1);
                if let Some(ns) = i64::try_from(time).ok().and_then(|t| t.checked_mul(multiplier)) {
                    list.push(Shown { clock, ns, is_incremental, multiplier });
                }
            }
            2 => primary = u32::try_from(field.uint()?).ok(),
            _ => {}
        }
    }
    Ok((list, primary))
}

/// All snapshots of a trace.
#[derive(Debug, Default)]
pub struct Clocks {
    /// Times of pairs of clocks, sorted by the first one.
    pairs: FxHashMap<(u64, u64), Vec<(i64, i64)>>,
    /// For each clock, the next one on the shortest way to that of the trace.
    towards: FxHashMap<u64, u64>,
    multipliers: FxHashMap<u64, i64>,
    /// The last time of incremental clocks, ns.
    incremental: FxHashMap<u64, i64>,
    last: FxHashMap<u64, i64>,
    primary: Option<u64>,
    /// The only clock that packets name, in a trace without snapshots.
    only: Option<u64>,
    /// Number of clocks that ran backwards from one snapshot to the next.
    pub backward: u64,
    /// Approximate memory, bytes.
    pub memory: usize,
    count: u64,
}

impl Clocks {
    /// Adds a snapshot, in the order of the file.
    pub fn add(&mut self, list: &[Shown], primary: Option<u32>) {
        self.count += 1;
        if self.primary.is_none() {
            self.primary = primary.map(u64::from);
        }
        let list = &list[..list.len().min(MAX_CLOCKS)];
        self.memory += list.len() * list.len() * 32;
        for shown in list {
            self.multipliers.insert(shown.clock, shown.multiplier);
            let last = self.last.insert(shown.clock, shown.ns);
            // Users may set the real time back, and a sequence may start its clock again.
            let may_step = shown.clock == REALTIME || shown.clock > u64::from(u32::MAX);
            self.backward += u64::from(!may_step && last.is_some_and(|last| last > shown.ns));
            for other in list.iter().filter(|other| other.clock != shown.clock) {
                let pair = self.pairs.entry((shown.clock, other.clock)).or_default();
                pair.push((shown.ns, other.ns));
            }
        }
    }

    /// Sorts the snapshots and relates all clocks to that of the trace, once all snapshots are added.
    pub fn finish(&mut self) {
        for pair in self.pairs.values_mut() {
            pair.sort_by_key(|(ns, _)| *ns);
        }
        let mut neighbours: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for (from, to) in self.pairs.keys() {
            neighbours.entry(*to).or_default().push(*from);
        }
        let trace = self.of_trace();
        let mut level = vec![trace];
        while !level.is_empty() {
            level.sort_unstable();
            let mut next = Vec::new();
            for to in level {
                for from in neighbours.get(&to).into_iter().flatten() {
                    if *from != trace && !self.towards.contains_key(from) {
                        self.towards.insert(*from, to);
                        next.push(*from);
                    }
                }
            }
            level = next;
        }
    }

    /// Notes a snapshot in the order of packets, for clocks whose packets state differences.
    pub fn pass(&mut self, list: &[Shown]) {
        for shown in list.iter().filter(|shown| shown.is_incremental) {
            self.incremental.insert(shown.clock, shown.ns);
        }
    }

    /// The clock of the trace.
    pub fn of_trace(&self) -> u64 {
        self.primary.unwrap_or(BOOTTIME)
    }

    /// Returns the Unix time of the zero of the trace's clock, ns.
    pub fn base_time(&self) -> Option<i64> {
        let trace = self.of_trace();
        if trace == REALTIME {
            return Some(0);
        }
        let &(trace, real) = self.pairs.get(&(trace, REALTIME))?.first()?;
        real.checked_sub(trace)
    }

    /// Converts the time of a packet on a clock to the clock of the trace, ns. Returns `None` if no
    /// snapshot relates the clocks, or beyond 64 bits.
    pub fn convert(&mut self, clock: u64, time: u64) -> Option<i64> {
        let time = i64::try_from(time).ok()?;
        let scaled = time.checked_mul(self.multipliers.get(&clock).copied().unwrap_or(1))?;
        let ns = match self.incremental.get_mut(&clock) {
            Some(last) => {
                *last = last.checked_add(scaled)?;
                *last
            }
            None => scaled,
        };
        let trace = self.of_trace();
        if clock == trace {
            return Some(ns);
        }
        if self.count == 0 {
            // Without snapshots the only clock is that of the trace.
            return (*self.only.get_or_insert(clock) == clock).then_some(ns);
        }
        let (mut at, mut ns) = (clock, ns);
        while at != trace {
            let next = *self.towards.get(&at)?;
            ns = self.moved(at, next, ns)?;
            at = next;
        }
        Some(ns)
    }

    fn moved(&self, from: u64, to: u64, ns: i64) -> Option<i64> {
        let pair = self.pairs.get(&(from, to))?;
        let after = pair.partition_point(|(shown, _)| *shown <= ns);
        let (shown, other) = pair.get(after.saturating_sub(1))?;
        i64::try_from(i128::from(ns) - i128::from(*shown) + i128::from(*other)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(clock: u64, ns: i64) -> Shown {
        Shown { clock, ns, is_incremental: false, multiplier: 1 }
    }

    #[test]
    fn a_time_is_moved_by_the_nearest_snapshot_before_it() {
        let mut clocks = Clocks::default();
        clocks.add(&[shown(6, 1_000), shown(3, 100), shown(1, 5_000_000)], None);
        clocks.add(&[shown(6, 2_010), shown(3, 1_100)], None);
        clocks.finish();
        let at = [50, 100, 1_099, 1_100, 2_000].map(|time| clocks.convert(3, time));
        assert_eq!(at, [950, 1_000, 1_999, 2_010, 2_910].map(Some));
        assert_eq!(clocks.convert(6, 7), Some(7));
        assert_eq!(clocks.convert(5, 7), None);
        assert_eq!(clocks.base_time(), Some(4_999_000));
        assert_eq!(clocks.backward, 0);
    }

    #[test]
    fn incremental_clocks_add_up_from_their_snapshot() {
        let mut clocks = Clocks::default();
        let own = key(64, 9);
        let unit = Shown { clock: own, ns: 0, is_incremental: true, multiplier: 1_000 };
        clocks.add(&[shown(6, 500), unit], None);
        clocks.finish();
        clocks.pass(&[unit]);
        assert_eq!([10, 7].map(|delta| clocks.convert(own, delta)), [Some(10_500), Some(17_500)]);
        assert_eq!(clocks.convert(key(64, 8), 1), None);
        assert_eq!(clocks.convert(own, u64::MAX), None);
    }

    #[test]
    fn a_third_clock_relates_two_others() {
        let mut clocks = Clocks::default();
        clocks.add(&[shown(128, 10), shown(3, 20)], Some(6));
        clocks.add(&[shown(3, 30), shown(6, 300)], None);
        clocks.add(&[shown(3, 25), shown(6, 200)], None);
        clocks.finish();
        assert_eq!(clocks.convert(128, 25), Some(305));
        assert_eq!(clocks.backward, 2);
    }

    #[test]
    fn any_number_of_clocks_relates_two_others() {
        let mut clocks = Clocks::default();
        clocks.add(&[shown(128, 10), shown(3, 20)], Some(6));
        clocks.add(&[shown(3, 30), shown(1, 500)], None);
        clocks.add(&[shown(1, 500), shown(6, 900)], None);
        clocks.add(&[shown(200, 1), shown(201, 2)], None);
        clocks.finish();
        assert_eq!(clocks.convert(128, 25), Some(905));
        assert_eq!(clocks.convert(200, 25), None);
    }

    #[test]
    fn the_only_clock_needs_no_snapshot() {
        let mut clocks = Clocks::default();
        assert_eq!([clocks.convert(3, 5), clocks.convert(5, 5)], [Some(5), None]);
    }
}

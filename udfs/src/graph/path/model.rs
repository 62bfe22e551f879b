//! The activities of a trace, by lane.

use std::collections::HashMap;

use super::meetings::Meetings;
use super::orders::Orders;
use crate::graph::rows::Ints;

/// Stands for no activity.
pub const NONE: u32 = u32::MAX;

/// What an activity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Work of a thread.
    Work,
    /// A frame or a mark of a thread. While nothing runs inside, the thread may wait for another.
    Frame,
    /// Work of a device; the lane is a queue.
    Device,
    /// A call that returns after the device work that it started.
    OwnWait,
    /// A call that returns after all work of the device.
    DeviceWait,
    /// Loading of data, with all that runs inside.
    Loading,
}

impl Role {
    /// The role with a number.
    pub fn of(number: i64) -> Option<Self> {
        [Self::Work, Self::Frame, Self::Device, Self::OwnWait, Self::DeviceWait, Self::Loading]
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// An activity.
#[derive(Debug, Clone, Copy)]
pub struct Activity {
    pub id: i64,
    pub start: i64,
    /// End, at the latest that of the activity around it.
    pub end: i64,
    /// The activity around it on its thread; of device work, the call that started it.
    pub above: u32,
    /// Position of the lane.
    pub lane: u32,
    pub role: Role,
}

/// A thread or a queue of a device.
#[derive(Debug)]
pub struct Lane {
    pub id: i64,
    /// Position of the domain.
    pub domain: u32,
    pub first: u32,
    pub last: u32,
    /// The latest end.
    pub end: i64,
    /// Whether it is a queue.
    pub is_queue: bool,
    /// Whether it is a queue, or a thread whose end is an end of the whole window.
    pub is_main: bool,
    /// Threads of a team hand work to one another.
    pub team: Option<i64>,
    /// Ends of the work of a thread in a team, in order.
    pub ends: Vec<(i64, u32)>,
}

impl Lane {
    fn new(id: i64, domain: u32, at: u32) -> Self {
        Self {
            id,
            domain,
            first: at,
            last: at,
            end: i64::MIN,
            is_queue: false,
            is_main: false,
            team: None,
            ends: Vec::new(),
        }
    }
}

/// All activities of a trace, or of several that meet in collectives.
pub struct Model {
    activities: Vec<Activity>,
    pub lanes: Vec<Lane>,
    /// Numbers of the domains: traces whose threads and devices are apart from those of others.
    domains: Vec<i64>,
    /// Ends of the device work of each domain, in order.
    device_ends: Vec<Vec<(i64, u32)>>,
    /// Device work by the call that started it, in the order of calls.
    started: Vec<(u32, u32)>,
    ids: Ids,
    /// Recorded ends of frames and marks that end after the activity around them.
    cut: HashMap<u32, i64>,
    /// How much later than recorded a time may be, ns: 1,000 where all are whole microseconds.
    pub rounding: i64,
    pub orders: Orders,
    pub meetings: Meetings,
}

/// The columns of activities.
pub struct Columns<'a> {
    pub id: Ints<'a>,
    pub lane: Ints<'a>,
    pub team: Ints<'a>,
    pub start: Ints<'a>,
    pub end: Ints<'a>,
    pub role: Ints<'a>,
    pub launch: Ints<'a>,
    pub domain: Ints<'a>,
}

impl Columns<'_> {
    /// The activity of a row without its lane and what is above it; `None` without a duration, or
    /// if a value is missing.
    pub fn activity(&self, row: usize) -> Option<Activity> {
        let (start, end) = (self.start.get(row)?, self.end.get(row)?);
        self.lane.get(row)?;
        let (id, role) = (self.id.get(row)?, Role::of(self.role.get(row)?)?);
        let activity = Activity { id, start, end, above: NONE, lane: 0, role };
        (start < end).then_some(activity)
    }
}

impl Model {
    /// Puts the activities of some rows in order.
    pub fn new(columns: &Columns<'_>, mut rows: Vec<u32>) -> Self {
        // None of these is NULL in the rows of activities.
        let value = |column: Ints<'_>, row: u32| column.get(row as usize).unwrap_or(i64::MIN);
        let key = |row: u32| {
            let end = std::cmp::Reverse(value(columns.end, row));
            (value(columns.lane, row), value(columns.start, row), end, value(columns.id, row), row)
        };
        // Rows of a store come in long runs that are in order, which a stable sort merges.
        let mut keys: Vec<_> = rows.iter().map(|row| key(*row)).collect();
        keys.sort();
        rows.clear();
        rows.extend(keys.into_iter().map(|key| key.4));
        let ids = Ids::new(rows.iter().filter_map(|row| columns.id.get(*row as usize)));
        let mut model = Self {
            activities: Vec::with_capacity(rows.len()),
            lanes: Vec::new(),
            domains: domains(columns, &rows),
            device_ends: Vec::new(),
            started: Vec::new(),
            ids,
            cut: HashMap::new(),
            rounding: 0,
            orders: Orders::default(),
            meetings: Meetings::default(),
        };
        model.device_ends.resize(model.domains.len(), Vec::new());
        let mut open: Vec<u32> = Vec::new();
        for (at, row) in (0u32..).zip(rows) {
            let row = row as usize;
            let (Some(mut activity), Some(lane)) = (columns.activity(row), columns.lane.get(row))
            else {
                continue;
            };
            let (team, launch) = (columns.team.get(row), columns.launch.get(row));
            if model.lanes.last().is_none_or(|last| last.id != lane) {
                let domain = model.domain(columns.domain.get(row).unwrap_or(0)).unwrap_or(0);
                model.lanes.push(Lane::new(lane, domain, at));
                open.clear();
            }
            activity.lane = u32::try_from(model.lanes.len() - 1).unwrap_or(NONE);
            if activity.role == Role::Device {
                activity.above = launch.and_then(|id| model.find(id)).unwrap_or(NONE);
                let domain = model.lanes[activity.lane as usize].domain as usize;
                model.device_ends[domain].push((activity.end, at));
                if activity.above != NONE {
                    model.started.push((activity.above, at));
                }
            } else {
                while open.last().is_some_and(|o| model.activity(*o).end <= activity.start) {
                    open.pop();
                }
                if let Some(around) = open.last() {
                    activity.above = *around;
                    let end = model.activity(*around).end;
                    if end < activity.end && activity.role == Role::Frame {
                        model.cut.insert(at, activity.end);
                    }
                    activity.end = activity.end.min(end);
                }
                open.push(at);
            }
            if let Some(last) = model.lanes.last_mut() {
                last.last = at;
                last.end = last.end.max(activity.end);
                last.is_queue |= activity.role == Role::Device;
                last.team = last.team.or(team);
            }
            model.activities.push(activity);
        }
        for (call, work) in &model.started {
            for at in [call, work] {
                let lane = model.activities[*at as usize].lane as usize;
                model.lanes[lane].is_main = true;
            }
        }
        model.rounding = rounding(&model.activities);
        model.device_ends.iter_mut().for_each(|ends| ends.sort_unstable());
        model.started.sort_unstable();
        for lane in model.lanes.iter_mut().filter(|lane| lane.team.is_some()) {
            let own = (lane.first..=lane.last).map(|at| (at, model.activities[at as usize]));
            let work = own.filter(|(_, a)| !matches!(a.role, Role::Frame | Role::Device));
            lane.ends = work.map(|(at, a)| (a.end, at)).collect();
            lane.ends.sort_unstable();
        }
        model
    }

    /// The activity at a position.
    pub fn activity(&self, at: u32) -> &Activity {
        &self.activities[at as usize]
    }

    /// The end of a mark as it was recorded. Profilers open marks within short frames.
    pub fn mark_end(&self, at: u32) -> i64 {
        self.cut.get(&at).copied().unwrap_or(self.activity(at).end)
    }

    /// Threads with marks belong to the whole window too; of a domain that has neither marks nor
    /// device work, all threads do.
    pub fn add_main(&mut self, marks: impl Iterator<Item = u32>) {
        for mark in marks {
            let lane = self.activity(mark).lane as usize;
            self.lanes[lane].is_main = true;
        }
        let mut has_main = vec![false; self.domains()];
        for lane in &self.lanes {
            has_main[lane.domain as usize] |= lane.is_main || lane.is_queue;
        }
        for lane in &mut self.lanes {
            lane.is_main |= !has_main[lane.domain as usize];
        }
    }

    /// The position of the domain with a number.
    pub fn domain(&self, number: i64) -> Option<u32> {
        let at = self.domains.binary_search(&number).ok()?;
        u32::try_from(at).ok()
    }

    /// How many domains there are.
    pub fn domains(&self) -> usize {
        self.domains.len()
    }

    /// The position of the domain of an activity.
    pub fn domain_of(&self, at: u32) -> u32 {
        self.lanes[self.activity(at).lane as usize].domain
    }

    /// Ends of the device work of a domain, in order.
    pub fn device_ends(&self, domain: u32) -> &[(i64, u32)] {
        self.device_ends.get(domain as usize).map_or(&[], Vec::as_slice)
    }

    /// Positions of all activities.
    pub fn positions(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.activities.len()).unwrap_or(NONE)
    }

    /// The position of an id.
    pub fn find(&self, id: i64) -> Option<u32> {
        self.ids.find(id)
    }

    /// The device work that a call started.
    pub fn started_by(&self, call: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.started.partition_point(|(of, _)| *of < call);
        self.started[from..].iter().take_while(move |(of, _)| *of == call).map(|(_, at)| *at)
    }

    /// The device work that was started by calls inside an activity of a thread, or by itself.
    pub fn started_within(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let (around, last) = (self.activity(at), self.lanes[self.activity(at).lane as usize].last);
        let own = &self.activities[at as usize..=last as usize];
        let inside = own.partition_point(|inner| inner.start < around.end);
        let after = at.saturating_add(u32::try_from(inside).unwrap_or(NONE));
        let from = self.started.partition_point(|(call, _)| *call < at);
        let until = self.started.partition_point(|(call, _)| *call < after);
        self.started[from..until].iter().map(|(_, work)| *work)
    }

    /// The device activity before this one in its queue.
    pub fn before(&self, at: u32) -> Option<u32> {
        self.several_before(at, 1).next()
    }

    /// A number of device activities before this one in its queue, the last one first.
    pub fn several_before(&self, at: u32, most: u32) -> impl Iterator<Item = u32> + use<> {
        let first = self.lanes[self.activity(at).lane as usize].first;
        (first.max(at.saturating_sub(most))..at).rev()
    }

    /// Whether an activity of a thread is loading of data or inside of it.
    pub fn is_loading(&self, mut at: u32) -> bool {
        while at != NONE {
            if self.activity(at).role == Role::Loading {
                return true;
            }
            at = self.activity(at).above;
        }
        false
    }

    /// The innermost activity of a thread just before a time, and the time since which it is
    /// innermost. Without an activity, the time since which the thread has none, if there was one.
    pub fn innermost(&self, lane: u32, time: i64) -> (Option<u32>, Option<i64>) {
        let lane = &self.lanes[lane as usize];
        let own = &self.activities[lane.first as usize..=lane.last as usize];
        let before = own.partition_point(|a| a.start < time);
        let Some(mut at) = before.checked_sub(1).map(|i| lane.first + i as u32) else {
            return (None, None);
        };
        let mut since: Option<i64> = None;
        loop {
            let activity = self.activity(at);
            if activity.end >= time {
                return (Some(at), Some(since.map_or(activity.start, |s| s.max(activity.start))));
            }
            since = since.max(Some(activity.end));
            if activity.above == NONE {
                return (None, since);
            }
            at = activity.above;
        }
    }
}

/// Positions by id. Ids of one trace are positions of its elements, so that a table of all of them is
/// small; those of a job lie far apart.
enum Ids {
    Table { first: i64, positions: Vec<u32> },
    Sorted(Vec<(i64, u32)>),
}

impl Ids {
    /// Of equal ids the first one counts.
    fn new(ids: impl Iterator<Item = i64> + Clone) -> Self {
        let count = ids.clone().count();
        let first = ids.clone().min().unwrap_or(0);
        let last = ids.clone().max().unwrap_or(0);
        let span = last.checked_sub(first).and_then(|span| usize::try_from(span).ok());
        if let Some(span) = span.filter(|span| *span <= count.saturating_mul(8)) {
            let mut positions = vec![NONE; span + 1];
            for (at, id) in (0..).zip(ids) {
                let known = &mut positions[(id - first) as usize];
                *known = (*known).min(at);
            }
            return Self::Table { first, positions };
        }
        let mut sorted: Vec<(i64, u32)> = Vec::with_capacity(count);
        sorted.extend(ids.zip(0..));
        sorted.sort_unstable();
        Self::Sorted(sorted)
    }

    fn find(&self, id: i64) -> Option<u32> {
        match self {
            Self::Table { first, positions } => {
                let place = usize::try_from(id.checked_sub(*first)?).ok()?;
                positions.get(place).copied().filter(|at| *at != NONE)
            }
            Self::Sorted(sorted) => {
                let after = sorted.partition_point(|(known, _)| *known < id);
                sorted.get(after).filter(|(known, _)| *known == id).map(|(_, at)| *at)
            }
        }
    }
}

/// 1,000 if the device work takes whole microseconds, else 0. On the clock of a job a length differs
/// from the recorded one by the drift, up to 100 ppm.
fn rounding(activities: &[Activity]) -> i64 {
    let mut work = activities.iter().filter(|a| a.role == Role::Device).peekable();
    let is_whole = |a: &Activity| {
        let (length, drift) = (a.end - a.start, 2 + (a.end - a.start) / 10_000);
        (length + drift).rem_euclid(1_000) <= 2 * drift
    };
    if work.peek().is_some() && work.all(is_whole) { 1_000 } else { 0 }
}

/// The numbers of all domains, in order; 0 for rows without one.
fn domains(columns: &Columns<'_>, rows: &[u32]) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    for row in rows {
        let number = columns.domain.get(*row as usize).unwrap_or(0);
        if found.last() != Some(&number) {
            found.push(number);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

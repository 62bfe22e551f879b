//! What if: the times that all work would have had if some of it took more or less time.
//!
//! One pass in the order of the recorded times. Device work starts when all that it waited for is
//! over. Threads move as a whole: a call that waits returns when the work that it waits for is
//! over, and what the thread did after it keeps its length.

use std::collections::BTreeMap;

use super::meetings::Meeting;
use super::model::{Activity, Model, NONE, Role};
use super::schedule::{Point, Schedule, Source};
use super::walk::Window;

/// What changes, and by which factor.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Work whose length changes, with the new length, else by the factor. What runs inside work of
    /// threads changes with it. The length of a collective counts from when all have begun.
    pub work: BTreeMap<u32, Option<i64>>,
    /// Whether the time from launch calls to the start of their work changes.
    pub launches: bool,
    /// Thousandths of the recorded time.
    pub factor: i64,
}

impl Change {
    fn scaled(&self, ns: i64) -> i64 {
        let scaled = i128::from(ns) * i128::from(self.factor) / 1000;
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }

    /// The length of work that takes some time without the change.
    fn length(&self, at: u32, ns: i64) -> i64 {
        match self.work.get(&at) {
            None => ns,
            Some(None) => self.scaled(ns),
            Some(Some(given)) => *given,
        }
    }
}

/// The times of a pass.
pub struct Times {
    /// Ends of device work by position.
    ends: Vec<i64>,
    /// How much later each thread is, from a recorded time on.
    shifts: Vec<Vec<(i64, i64)>>,
    /// The largest move of a start of device work or of a thread.
    pub largest_move_ns: i64,
    /// Moves of more than [`MAX_MOVE_NS`] from recorded times: when, in which domain, by how much.
    moves: Vec<(i64, u32, i64)>,
    keeps_moves: bool,
}

/// Starts may move by this much in a pass without changes.
pub const MAX_MOVE_NS: i64 = 1_000;

impl Times {
    /// What a recorded time of a thread becomes.
    fn on_thread(&self, lane: u32, time: i64) -> i64 {
        let shifts = &self.shifts[lane as usize];
        let until = shifts.partition_point(|(from, _)| *from <= time);
        until.checked_sub(1).map_or(time, |at| time.saturating_add(shifts[at].1))
    }

    fn shift(&self, lane: u32) -> i64 {
        self.shifts[lane as usize].last().map_or(0, |(_, by)| *by)
    }

    /// Ends a collective whose last recorded member begins at a time. Until then the members' ends
    /// are their starts. A member that was not recorded comes when it came.
    fn end_meeting(&mut self, model: &Model, meeting: &Meeting, latest: i64, change: &Change) {
        let full = if meeting.awaits_missing { latest.max(meeting.full) } else { latest };
        for at in &meeting.members {
            let length = change.length(*at, model.activity(*at).end - meeting.full);
            let end = &mut self.ends[*at as usize];
            *end = full.saturating_add(length).max(*end);
        }
    }

    /// The largest move in the windows of some domains; of all work for a window of all.
    pub fn moved_in(&self, model: &Model, windows: &[Window]) -> i64 {
        if windows.iter().any(|window| window.mark_id.is_none()) {
            return self.largest_move_ns;
        }
        let spans: Vec<(Option<u32>, i64, i64)> =
            windows.iter().map(|w| (model.domain(w.domain), w.from, w.to)).collect();
        let is_inside = |(at, domain, _): &&(i64, u32, i64)| {
            spans.iter().any(|(of, from, to)| *of == Some(*domain) && (*from..=*to).contains(at))
        };
        let largest = self.moves.iter().filter(is_inside).map(|(_, _, by)| *by).max();
        largest.unwrap_or(self.largest_move_ns.min(MAX_MOVE_NS))
    }

    fn note_move(&mut self, domain: u32, at: i64, by: i64) {
        let by = by.abs();
        self.largest_move_ns = self.largest_move_ns.max(by);
        if by > MAX_MOVE_NS && self.keeps_moves {
            self.moves.push((at, domain, by));
        }
    }

    fn move_thread(&mut self, model: &Model, lane: u32, from: i64, by: i64) {
        self.note_move(model.lanes[lane as usize].domain, from, by);
        if by != self.shift(lane) {
            self.shifts[lane as usize].push((from, by));
        }
    }

    /// The starts and ends of windows. A step lasts until its mark ends or the last device work that
    /// was launched during the mark. The whole trace lasts until the last end of device work and of
    /// threads that launch it.
    pub fn bounds(&self, model: &Model, windows: &[Window]) -> Vec<(i64, i64)> {
        let mut whole: Vec<Option<i64>> = vec![None; model.domains()];
        for (at, lane) in (0..).zip(&model.lanes) {
            if lane.is_main && !lane.is_queue {
                let end = &mut whole[lane.domain as usize];
                *end = (*end).max(Some(self.on_thread(at, lane.end)));
            }
        }
        let mark = |window: &Window| {
            let at = window.mark_id.and_then(|id| model.find(id))?;
            Some((model.domain_of(at), *model.activity(at)))
        };
        let mut marks: Vec<Mark> = windows.iter().filter_map(mark).map(Mark::new).collect();
        marks.sort_unstable_by_key(Mark::key);
        for (domain, whole) in (0..).zip(&mut whole) {
            for (_, at) in model.device_ends(domain) {
                let end = self.ends[*at as usize];
                *whole = (*whole).max(Some(end));
                let call = model.activity(*at).above;
                if call == NONE {
                    continue;
                }
                let called = model.activity(call).start;
                let after = marks.partition_point(|m| (m.domain, m.start) <= (domain, called));
                if let Some(mark) = after.checked_sub(1).map(|at| &mut marks[at])
                    && mark.domain == domain
                    && called < mark.end
                {
                    mark.last = mark.last.max(Some(end));
                }
            }
        }
        let bounds = |window: &Window| match mark(window) {
            None => {
                let domain = model.domain(window.domain).unwrap_or(0) as usize;
                let end = whole.get(domain).copied().flatten().unwrap_or(window.to);
                (window.from, end)
            }
            Some((domain, mark)) => {
                let start = self.on_thread(mark.lane, mark.start);
                let end = self.on_thread(mark.lane, mark.end);
                let known = marks.binary_search_by_key(&(domain, mark.start, mark.end), Mark::key);
                let work = known.ok().and_then(|at| marks[at].last);
                (start, work.map_or(end, |work| work.max(end)))
            }
        };
        windows.iter().map(bounds).collect()
    }
}

/// The mark of a step, and the last end of device work that was launched in it.
struct Mark {
    domain: u32,
    start: i64,
    end: i64,
    last: Option<i64>,
}

impl Mark {
    fn new((domain, activity): (u32, Activity)) -> Self {
        Self { domain, start: activity.start, end: activity.end, last: None }
    }

    fn key(&self) -> (u32, i64, i64) {
        (self.domain, self.start, self.end)
    }
}

/// Computes the times after a change.
pub fn pass(model: &Model, schedule: &Schedule, change: &Change) -> Times {
    let count = model.positions().len();
    let mut times = Times {
        ends: vec![0; count],
        shifts: vec![Vec::new(); model.lanes.len()],
        largest_move_ns: 0,
        moves: Vec::new(),
        keeps_moves: change.work.is_empty() && !change.launches,
    };
    let mut launched = vec![0i64; count];
    let mut handed = vec![0i64; schedule.waits.len()];
    let mut meetings: Vec<(usize, i64)> = vec![(0, i64::MIN); model.meetings.len()];
    let changes = changes(model, schedule, change);
    let mut changes = changes.iter().peekable();
    for (time, point) in &schedule.points {
        while let Some((at, by, lane)) = changes.next_if(|(at, _, _)| at <= time) {
            times.move_thread(model, *lane, *at, times.shift(*lane) + by);
        }
        match *point {
            Point::HandOver(wait) => {
                let other = schedule.waits[wait as usize].other;
                handed[wait as usize] = time + times.shift(other);
            }
            Point::TakeOver(wait) => {
                let idle = &schedule.waits[wait as usize];
                let own = idle.since.map(|since| since + times.shift(idle.lane));
                let ready = handed[wait as usize] + (time - idle.end);
                let new = own.map_or(ready, |own| own.max(ready));
                times.move_thread(model, idle.lane, *time, new - time);
            }
            Point::Return(wait) => {
                let call = &schedule.waits[wait as usize];
                let tail = call.until - call.end;
                let waited = times.ends[call.other as usize] + tail;
                let own = call.since.map(|since| since + times.shift(call.lane) + tail);
                let new = own.map_or(waited, |own| own.max(waited));
                times.move_thread(model, call.lane, *time, new - time);
            }
            Point::Launch(at) => {
                let call = model.activity(model.activity(at).above);
                launched[at as usize] = call.start + times.shift(call.lane);
            }
            Point::Start(at) => {
                let work = model.activity(at);
                let ready = schedule.edges_of(at).iter().map(|edge| match edge.source {
                    Source::Call if change.launches => {
                        launched[at as usize] + change.scaled(edge.lag)
                    }
                    Source::Call => launched[at as usize] + edge.lag,
                    Source::Work(source) => times.ends[source as usize] + edge.lag,
                });
                let start = ready.max().unwrap_or(work.start);
                times.note_move(model.domain_of(at), work.start, start - work.start);
                let Some((number, meeting)) = model.meetings.of(at) else {
                    let length = change.length(at, work.end - work.start);
                    times.ends[at as usize] = start + length;
                    continue;
                };
                times.ends[at as usize] = start;
                let (begun, latest) = &mut meetings[number];
                *begun += 1;
                *latest = (*latest).max(start);
                if *begun == meeting.members.len() {
                    times.end_meeting(model, meeting, *latest, change);
                }
            }
        }
    }
    for (at, by, lane) in changes {
        times.move_thread(model, *lane, *at, times.shift(*lane) + by);
    }
    times
}

/// The changes of threads: when, by how much, and which thread. Work inside other work that changes
/// is left out, and so is time in which the thread waited.
fn changes(model: &Model, schedule: &Schedule, change: &Change) -> Vec<(i64, i64, u32)> {
    let mut waits: Vec<(u32, i64, i64)> = Vec::new();
    let mut changes = Vec::new();
    for at in change.work.keys() {
        let work = model.activity(*at);
        let mut around = work.above;
        while work.role != Role::Device && around != NONE && !change.work.contains_key(&around) {
            around = model.activity(around).above;
        }
        if work.role == Role::Device || around != NONE {
            continue;
        }
        if waits.is_empty() {
            let known = schedule.waits.iter();
            let known = known.map(|w| (w.lane, w.until, w.until - w.since.unwrap_or(w.end)));
            waits = known.collect();
            waits.sort_unstable();
        }
        let first = waits.partition_point(|w| (w.0, w.1) <= (work.lane, work.start));
        let inside = waits[first..].iter().take_while(|w| (w.0, w.1) <= (work.lane, work.end));
        let waited: i64 = inside.map(|w| w.2).sum();
        let own = (work.end - work.start - waited).max(0);
        changes.push((work.end, change.length(*at, own) - own, work.lane));
    }
    changes.sort_unstable();
    changes
}

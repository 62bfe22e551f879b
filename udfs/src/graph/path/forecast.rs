//! What if: the times that all work would have had if some of it took more or less time.
//!
//! One pass in the order of the recorded times. Device work starts when all that it waited for is
//! over. Threads move as a whole: a call that waits returns when the work that it waits for is
//! over, and what the thread did after it keeps its length.

use super::bounds::Bounds;
use super::graphs::Graphs;
use super::meetings::Meeting;
use super::model::{Model, NONE, Role};
use super::schedule::{Edge, Point, Schedule, Source};
use super::walk::{MAX_LAUNCH_NS, Window};

/// What changes, and by which factor.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Work whose length changes, with the new length, else by the factor. What runs inside work of
    /// threads changes with it. The length of a collective counts from when all have begun.
    /// By position, each once.
    pub work: Vec<(u32, Option<i64>)>,
    /// Whether the work keeps its length, but other device work does not wait for it.
    pub hides: bool,
    /// Whether the time from launch calls to the start of their work changes.
    pub launches: bool,
    /// Whether the launches of a step become one.
    pub graphs: bool,
}

impl Change {
    /// Puts the work in order. Of entries for the same work the last one counts.
    pub fn sort(&mut self) {
        self.work.sort_by_key(|(at, _)| *at);
        self.work.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = later.1;
            }
            is_same
        });
    }

    /// Whether all factors give the same times.
    pub fn ignores_factor(&self) -> bool {
        self.hides || self.graphs
    }
}

/// Whether the time from the start of a call to that of its work is due to the launch. What waits
/// longer after the return of the call waits for something that was not recorded.
fn is_launch(model: &Model, work: u32, lag: i64) -> bool {
    let call = model.activity(model.activity(work).above);
    lag - (call.end - call.start) <= MAX_LAUNCH_NS
}

/// The length of work in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Recorded,
    /// By the factor.
    Scaled,
    Given(i64),
}

/// Moves of a pass from recorded times.
#[derive(Debug, Default)]
pub struct Moves {
    /// The largest move of a start of device work or of a thread.
    pub largest_ns: i64,
    /// Moves of more than [`MAX_MOVE_NS`]: when, in which domain, by how much.
    far: Vec<(i64, u32, i64)>,
}

/// Starts may move by this much in a pass without changes.
pub const MAX_MOVE_NS: i64 = 1_000;

impl Moves {
    fn note(&mut self, domain: u32, at: i64, by: i64) {
        let by = by.abs();
        self.largest_ns = self.largest_ns.max(by);
        if by > MAX_MOVE_NS {
            self.far.push((at, domain, by));
        }
    }

    /// The largest move in the windows of some domains; of all work for a window of all.
    pub fn in_windows(&self, model: &Model, windows: &[Window]) -> i64 {
        if windows.iter().any(|window| window.mark_id.is_none()) {
            return self.largest_ns;
        }
        let spans: Vec<(Option<u32>, i64, i64)> =
            windows.iter().map(|w| (model.domain(w.domain), w.from, w.to)).collect();
        let is_inside = |(at, domain, _): &&(i64, u32, i64)| {
            spans.iter().any(|(of, from, to)| *of == Some(*domain) && (*from..=*to).contains(at))
        };
        let largest = self.far.iter().filter(is_inside).map(|(_, _, by)| *by).max();
        largest.unwrap_or(self.largest_ns.min(MAX_MOVE_NS))
    }
}

/// Passes over one schedule, each with its own change. Its vectors are kept from pass to pass.
pub struct Passes<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    graphs: Option<Graphs>,
    /// Thousandths of the recorded time.
    factor: i64,
    /// Ends of device work by position.
    ends: Vec<i64>,
    /// The starts of hidden work as other work sees them, by position.
    seen: Vec<i64>,
    /// Starts of the launch calls of device work by position.
    launched: Vec<i64>,
    lengths: Vec<Length>,
    /// What a thread had reached when it handed over, by wait.
    handed: Vec<i64>,
    /// How many members of a collective have begun, and when the last of them did.
    begun: Vec<(usize, i64)>,
    /// How much later each thread is, from a recorded time on.
    shifts: Vec<Vec<(i64, i64)>>,
    /// Moves of the pass; `None` in a pass whose moves do not matter.
    moves: Option<Moves>,
}

impl<'a> Passes<'a> {
    /// Makes room for the passes over a schedule.
    pub fn new(model: &'a Model, schedule: &'a Schedule) -> Self {
        let count = model.positions().len();
        Self {
            model,
            schedule,
            graphs: None,
            factor: 1000,
            ends: vec![0; count],
            seen: Vec::new(),
            launched: vec![0; count],
            lengths: vec![Length::Recorded; count],
            handed: vec![0; schedule.waits.len()],
            begun: vec![(0, i64::MIN); model.meetings.len()],
            shifts: vec![Vec::new(); model.lanes.len()],
            moves: None,
        }
    }

    /// Computes the times without a change, which should be those that were recorded.
    pub fn recorded(&mut self) -> Moves {
        self.moves = Some(Moves::default());
        self.factor = 1000;
        self.run(&Change::default());
        self.moves.take().unwrap_or_default()
    }

    /// Computes the times after a change. The factor is in thousandths of the recorded time, and
    /// the windows say what the steps are.
    pub fn changed(&mut self, change: &Change, factor: i64, windows: &[Window]) {
        self.factor = factor;
        if change.graphs && self.graphs.is_none() {
            self.graphs = Some(Graphs::new(self.model, self.schedule, windows));
        }
        if change.hides {
            self.seen.resize(self.ends.len(), 0);
        }
        for (at, given) in &change.work {
            self.lengths[*at as usize] = given.map_or(Length::Scaled, Length::Given);
        }
        self.run(change);
        for (at, _) in &change.work {
            self.lengths[*at as usize] = Length::Recorded;
        }
    }

    /// The starts and ends of the windows of the bounds in the last pass.
    pub fn bounds(&self, bounds: &Bounds) -> Vec<(i64, i64)> {
        bounds.of(self.model, &self.ends, |lane, time| self.on_thread(lane, time))
    }

    /// What a recorded time of a thread becomes.
    fn on_thread(&self, lane: u32, time: i64) -> i64 {
        let shifts = &self.shifts[lane as usize];
        let until = shifts.partition_point(|(from, _)| *from <= time);
        until.checked_sub(1).map_or(time, |at| time.saturating_add(shifts[at].1))
    }

    fn shift(&self, lane: u32) -> i64 {
        self.shifts[lane as usize].last().map_or(0, |(_, by)| *by)
    }

    fn move_thread(&mut self, lane: u32, from: i64, by: i64) {
        if let Some(moves) = &mut self.moves {
            moves.note(self.model.lanes[lane as usize].domain, from, by);
        }
        if by != self.shift(lane) {
            self.shifts[lane as usize].push((from, by));
        }
    }

    fn scaled(&self, ns: i64) -> i64 {
        let scaled = i128::from(ns) * i128::from(self.factor) / 1000;
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }

    /// The length of work that takes some time without the change.
    fn length(&self, change: &Change, at: u32, ns: i64) -> i64 {
        match self.lengths[at as usize] {
            _ if change.hides => ns,
            Length::Recorded => ns,
            Length::Scaled => self.scaled(ns),
            Length::Given(given) => given,
        }
    }

    fn is_hidden(&self, change: &Change, at: u32) -> bool {
        change.hides && self.lengths[at as usize] != Length::Recorded
    }

    fn run(&mut self, change: &Change) {
        self.ends.fill(0);
        self.launched.fill(0);
        self.begun.fill((0, i64::MIN));
        self.shifts.iter_mut().for_each(Vec::clear);
        let changes = self.changes_of_threads(change);
        let mut changes = changes.iter().peekable();
        let (model, schedule) = (self.model, self.schedule);
        for (time, point) in &schedule.points {
            while let Some((at, by, lane)) = changes.next_if(|(at, _, _)| at <= time) {
                self.move_thread(*lane, *at, self.shift(*lane) + by);
            }
            match *point {
                Point::HandOver(wait) => {
                    let other = schedule.waits[wait as usize].other;
                    self.handed[wait as usize] = time + self.shift(other);
                }
                Point::TakeOver(wait) => {
                    let idle = &schedule.waits[wait as usize];
                    let own = idle.since.map(|since| since + self.shift(idle.lane));
                    let ready = self.handed[wait as usize] + (time - idle.end);
                    let new = own.map_or(ready, |own| own.max(ready));
                    self.move_thread(idle.lane, *time, new - time);
                }
                Point::Return(wait) => {
                    let call = &schedule.waits[wait as usize];
                    let tail = call.until - call.end;
                    let waited = self.ends[call.other as usize] + tail;
                    let own = call.since.map(|since| since + self.shift(call.lane) + tail);
                    let new = own.map_or(waited, |own| own.max(waited));
                    self.move_thread(call.lane, *time, new - time);
                }
                Point::Launch(at) => {
                    let call = model.activity(model.activity(at).above);
                    self.launched[at as usize] = call.start + self.shift(call.lane);
                }
                Point::Start(at) => self.start(change, at),
            }
        }
        for (at, by, lane) in changes {
            self.move_thread(*lane, *at, self.shift(*lane) + by);
        }
    }

    /// Device work starts, and ends unless it has to wait for other members of a collective.
    fn start(&mut self, change: &Change, at: u32) {
        let (model, work) = (self.model, self.model.activity(at));
        let edges = self.schedule.edges_of(at);
        let ready = edges.iter().map(|edge| self.ready(change, at, edge, false)).max();
        let mut start = ready.unwrap_or(work.start);
        if change.hides {
            let ready = edges.iter().map(|edge| self.ready(change, at, edge, true)).max();
            let visible = ready.unwrap_or(work.start);
            if self.is_hidden(change, at) {
                self.seen[at as usize] = visible;
            } else {
                start = visible;
            }
        }
        if let Some(moves) = &mut self.moves {
            moves.note(model.domain_of(at), work.start, start - work.start);
        }
        let Some((number, meeting)) = model.meetings.of(at) else {
            self.ends[at as usize] = start + self.length(change, at, work.end - work.start);
            return;
        };
        self.ends[at as usize] = start;
        let (begun, latest) = &mut self.begun[number];
        *begun += 1;
        *latest = (*latest).max(start);
        if *begun == meeting.members.len() {
            let latest = *latest;
            self.end_meeting(meeting, latest, change);
        }
    }

    /// When a wait is over. Where hidden work is not to be seen, as if it took no time.
    fn ready(&self, change: &Change, at: u32, edge: &Edge, is_visible: bool) -> i64 {
        match edge.source {
            Source::Call => {
                let graphs = self.graphs.as_ref().filter(|_| change.graphs);
                match graphs.and_then(|graphs| graphs.head(at)) {
                    Some(head) => {
                        let lag = edge.lag.min(self.schedule.usual_launch);
                        self.launched[head as usize] + lag
                    }
                    None if change.launches && is_launch(self.model, at, edge.lag) => {
                        self.launched[at as usize] + self.scaled(edge.lag)
                    }
                    None => self.launched[at as usize] + edge.lag,
                }
            }
            Source::Work(source) if is_visible && self.is_hidden(change, source) => {
                self.seen[source as usize] + edge.lag
            }
            Source::Work(source) => self.ends[source as usize] + edge.lag,
        }
    }

    /// Ends a collective whose last recorded member begins at a time. Until then the members' ends
    /// are their starts. A member that was not recorded comes when it came.
    fn end_meeting(&mut self, meeting: &Meeting, latest: i64, change: &Change) {
        let with_missing =
            |time: i64| if meeting.awaits_missing { time.max(meeting.full) } else { time };
        let full = with_missing(latest);
        for at in &meeting.members {
            let recorded = self.model.activity(*at).end - meeting.full;
            let length = self.length(change, *at, recorded);
            let end = &mut self.ends[*at as usize];
            *end = full.saturating_add(length).max(*end);
        }
        if meeting.members.iter().any(|at| self.is_hidden(change, *at)) {
            let seen = meeting.members.iter().map(|at| self.seen[*at as usize]).max();
            let seen = with_missing(seen.unwrap_or(full));
            for at in &meeting.members {
                self.seen[*at as usize] = seen;
            }
        }
    }

    /// The changes of threads: when, by how much, and which thread. Work inside other work that
    /// changes is left out, and so is time in which the thread waited.
    fn changes_of_threads(&self, change: &Change) -> Vec<(i64, i64, u32)> {
        if let Some(graphs) = self.graphs.as_ref().filter(|_| change.graphs) {
            return graphs.removed.clone();
        }
        let model = self.model;
        let mut waits: Vec<(u32, i64, i64)> = Vec::new();
        let mut changes = Vec::new();
        for (at, _) in &change.work {
            let work = model.activity(*at);
            if work.role == Role::Device {
                continue;
            }
            let mut around = work.above;
            while around != NONE && self.lengths[around as usize] == Length::Recorded {
                around = model.activity(around).above;
            }
            if around != NONE {
                continue;
            }
            if waits.is_empty() {
                let known = self.schedule.waits.iter();
                let known = known.map(|w| (w.lane, w.until, w.until - w.since.unwrap_or(w.end)));
                waits = known.collect();
                waits.sort_unstable();
            }
            let first = waits.partition_point(|w| (w.0, w.1) <= (work.lane, work.start));
            let inside = waits[first..].iter().take_while(|w| (w.0, w.1) <= (work.lane, work.end));
            let waited: i64 = inside.map(|w| w.2).sum();
            let own = (work.end - work.start - waited).max(0);
            changes.push((work.end, self.length(change, *at, own) - own, work.lane));
        }
        changes.sort_unstable();
        changes
    }
}

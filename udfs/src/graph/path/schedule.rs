//! The waits of all work of a trace, as edges with lags. Passes over them compute other times.

use super::binding::{self, How, NEAR_NS, Start};
use super::model::{Activity, Model, NONE, Role};

/// What device work waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The end of device work.
    Work(u32),
    /// The start of its call.
    Call,
}

/// A wait of device work. The lag is the time from the source to the start.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub source: Source,
    pub lag: i64,
}

/// A wait of a thread for the device or for another thread.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    pub lane: u32,
    /// When the thread began to wait; `None` for a thread without anything before.
    pub since: Option<i64>,
    /// When it went on.
    pub until: i64,
    /// The end that it waited for, as recorded.
    pub end: i64,
    /// The device work, or the lane of the other thread.
    pub other: u32,
}

/// What happens at a recorded time; at equal times in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// The thread that another one waits for is done.
    HandOver(u32),
    /// A thread goes on after waiting for another.
    TakeOver(u32),
    /// A call returns after waiting for the device.
    Return(u32),
    /// Device work is launched.
    Launch(u32),
    /// Device work starts.
    Start(u32),
}

/// All waits of a trace.
pub struct Schedule {
    edges: Vec<Edge>,
    /// Where the edges of an activity begin, and after the last activity, where they end.
    first_edge: Vec<u32>,
    pub waits: Vec<Wait>,
    pub points: Vec<(i64, Point)>,
    /// The usual time from a launch call to the start of work that waited for nothing else.
    pub usual_launch: i64,
}

impl Schedule {
    /// Finds all waits.
    pub fn new(model: &Model) -> Self {
        let mut schedule = Self {
            edges: Vec::new(),
            first_edge: Vec::with_capacity(model.positions().len() + 1),
            waits: Vec::new(),
            points: Vec::new(),
            usual_launch: 0,
        };
        schedule.device_work(model);
        schedule.threads(model);
        schedule.points.sort_unstable();
        schedule
    }

    /// The waits of device work.
    pub fn edges_of(&self, at: u32) -> &[Edge] {
        let at = at as usize;
        match (self.first_edge.get(at), self.first_edge.get(at + 1)) {
            (Some(from), Some(to)) => &self.edges[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// The lag of what device work waited for is the one that was recorded. Of other edges it is
    /// the usual one, but not more than what was recorded, so that recorded times stay as they are.
    fn device_work(&mut self, model: &Model) {
        let is_device = |at: &u32| model.activity(*at).role == Role::Device;
        let starts: Vec<(u32, Start)> = model
            .positions()
            .filter(is_device)
            .map(|at| (at, binding::of_start(model, at)))
            .collect();
        let usual = usual_lags(model, &starts);
        self.usual_launch = usual.launch;
        let mut starts = starts.into_iter().peekable();
        for at in model.positions() {
            self.first_edge.push(u32::try_from(self.edges.len()).unwrap_or(NONE));
            if let Some((_, start)) = starts.next_if(|(next, _)| *next == at) {
                self.edges_before(model, at, start, usual);
            }
        }
        self.first_edge.push(u32::try_from(self.edges.len()).unwrap_or(NONE));
    }

    fn edges_before(&mut self, model: &Model, at: u32, start: Start, usual: Usual) {
        let work = model.activity(at);
        self.points.push((work.start, Point::Start(at)));
        let bound = match start {
            Start::Launch(_) => Some(Source::Call),
            Start::After { source, .. } => Some(Source::Work(source)),
            Start::Unknown => None,
        };
        let edge = |source: Source, recorded: i64, usual: i64| {
            let lag = if bound == Some(source) { recorded } else { usual.min(recorded) };
            Edge { source, lag }
        };
        if work.above != NONE {
            let called = model.activity(work.above).start;
            self.points.push((called.min(work.start), Point::Launch(at)));
            self.edges.push(edge(Source::Call, work.start - called, usual.launch));
        }
        let mut sources: Vec<(u32, i64)> = Vec::with_capacity(4);
        sources.extend(model.before(at).map(|source| (source, usual.queue)));
        let told = model.orders.of_work.get(&at).into_iter().flatten();
        sources.extend(told.map(|source| (*source, usual.event)));
        if let Some(Source::Work(source)) = bound
            && !sources.iter().any(|(known, _)| *known == source)
        {
            sources.push((source, usual.event));
        }
        for (source, lag) in sources {
            let other = model.activity(source);
            if other.start < work.start && other.end <= work.start + NEAR_NS {
                self.edges.push(edge(Source::Work(source), work.start - other.end, lag));
            }
        }
    }

    fn threads(&mut self, model: &Model) {
        for at in model.positions() {
            let work = *model.activity(at);
            let waits = matches!(work.role, Role::OwnWait | Role::DeviceWait)
                || model.orders.of_calls.contains_key(&at);
            if matches!(work.role, Role::Device | Role::Frame) {
                continue;
            }
            if model.lanes[work.lane as usize].team.is_some() {
                self.idle(model, &work);
            }
            if waits {
                self.call(model, at, &work);
            }
        }
    }

    fn call(&mut self, model: &Model, at: u32, work: &Activity) {
        let Some((source, end, _)) = binding::of_call(model, at, work.start, work.end) else {
            return;
        };
        let wait = u32::try_from(self.waits.len()).unwrap_or(NONE);
        self.points.push((work.end, Point::Return(wait)));
        let (lane, since, until) = (work.lane, Some(work.start), work.end);
        self.waits.push(Wait { lane, since, until, end, other: source });
    }

    /// Before the work, the thread may have opened and closed frames after it had waited.
    fn idle(&mut self, model: &Model, work: &Activity) {
        let (lane, mut until) = (work.lane, work.start);
        loop {
            let (inner, since) = model.innermost(lane, until);
            if inner.is_some_and(|around| model.activity(around).role != Role::Frame) {
                return;
            }
            let from = since.unwrap_or(i64::MIN);
            if let Some((source, end)) = binding::of_idle(model, lane, from, until) {
                let wait = u32::try_from(self.waits.len()).unwrap_or(NONE);
                self.points.push((end, Point::HandOver(wait)));
                self.points.push((until, Point::TakeOver(wait)));
                let other = model.activity(source).lane;
                self.waits.push(Wait { lane, since, until, end, other });
                return;
            }
            match since {
                Some(before) if before < until => until = before,
                _ => return,
            }
        }
    }
}

/// Usual lags by sort of wait.
#[derive(Debug, Clone, Copy)]
struct Usual {
    launch: i64,
    queue: i64,
    event: i64,
}

fn usual_lags(model: &Model, starts: &[(u32, Start)]) -> Usual {
    let (mut launch, mut queue, mut event) = (Vec::new(), Vec::new(), Vec::new());
    for (at, start) in starts {
        let begins = model.activity(*at).start;
        match start {
            Start::Launch(call) => launch.push(begins - model.activity(*call).start),
            Start::After { end, how: How::Queue, .. } => queue.push(begins - end),
            Start::After { end, how: How::Event | How::Inferred, .. } => event.push(begins - end),
            Start::After { how: How::Far, .. } | Start::Unknown => {}
        }
    }
    let median = |mut lags: Vec<i64>| {
        lags.sort_unstable();
        lags.get(lags.len() / 2).copied().unwrap_or(0)
    };
    Usual { launch: median(launch), queue: median(queue), event: median(event) }
}

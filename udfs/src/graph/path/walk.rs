//! The walk from the end of a window back to its start.

use super::binding::{self, How, Start};
use super::meetings::Meeting;
use super::model::{Model, Role};

/// A stretch of time to explain, of one domain. Windows of several domains with one number are one.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub number: i64,
    /// Number of the domain.
    pub domain: i64,
    /// The activity that ends last.
    pub last_id: i64,
    pub from: i64,
    pub to: i64,
    /// The mark of the step; `None` for the whole trace.
    pub mark_id: Option<i64>,
}

/// What happens during a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Work of a thread.
    Host,
    /// A thread without recorded work, or inside a frame or mark only.
    HostGap,
    /// Loading of data on a thread.
    Loading,
    /// Work of a device.
    Device,
    /// From the start of a call to the start of the work that it launched.
    Launch,
    /// Between two activities of a queue.
    StreamGap,
    /// From the end of work on another queue to the start of the work that waited for it.
    EventDelay,
    /// From the end of device work to the return of the call that waited for it.
    Synchronisation,
    /// From the end of work on one thread to the start of that on another.
    Handoff,
    /// A collective after all members have begun.
    Transfer,
    /// A collective waits for a member that was not recorded.
    MissingRank,
    /// Nothing recorded explains the wait.
    Unknown,
}

impl Kind {
    /// The name in the result.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::HostGap => "host_gap",
            Self::Loading => "data_loading",
            Self::Device => "device",
            Self::Launch => "launch",
            Self::StreamGap => "stream_gap",
            Self::EventDelay => "event_delay",
            Self::Synchronisation => "synchronisation",
            Self::Handoff => "handoff",
            Self::Transfer => "transfer",
            Self::MissingRank => "missing_rank",
            Self::Unknown => "unknown",
        }
    }
}

/// A part of a path.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub start: i64,
    pub end: i64,
    pub kind: Kind,
    /// The activity that takes the time or waits.
    pub event: Option<u32>,
    /// What it waited for.
    pub cause: Option<u32>,
    pub lane: Option<u32>,
    pub inferred: bool,
}

/// Work that starts later after the return of its call waited for something that was not recorded.
pub const MAX_LAUNCH_NS: i64 = 100_000;

/// A handoff that takes longer is time of the thread that goes on.
const MAX_HANDOFF_NS: i64 = 100_000;

/// Hops without progress in time after which threads are no longer left.
const MAX_STILL: u32 = 16;

/// Where the walk is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// On a thread.
    Thread(u32),
    /// In device work.
    Work(u32),
    /// At the start of the window.
    End,
}

/// The walk through one window.
struct Walk<'a> {
    model: &'a Model,
    /// Start of the window in each domain.
    starts: Vec<i64>,
    /// Start of the window in the domain reached.
    from: i64,
    time: i64,
    still: u32,
    pieces: Vec<Piece>,
}

/// Returns the pieces of a window in the order of time. They have no gaps: the first starts where
/// the window starts in the domain that the walk has reached, each ends where the next one starts,
/// and the last ends with the window, which is the latest end of all its domains.
pub fn walk(model: &Model, windows: &[Window]) -> Vec<Piece> {
    let latest = |window: &&Window| (window.to, std::cmp::Reverse(window.domain));
    let Some(window) = windows.iter().max_by_key(latest) else { return Vec::new() };
    let first = windows.iter().map(|window| window.from).min().unwrap_or(window.from);
    let mut starts = vec![first; model.domains()];
    for window in windows {
        if let Some(start) = model.domain(window.domain).and_then(|at| starts.get_mut(at as usize))
        {
            *start = window.from;
        }
    }
    let (from, time, pieces) = (window.from, window.to, Vec::new());
    let mut walk = Walk { model, starts, from, time, still: 0, pieces };
    let mut place = match model.find(window.last_id) {
        Some(at) if model.activity(at).role == Role::Device => Place::Work(at),
        Some(at) => Place::Thread(model.activity(at).lane),
        None => {
            walk.rest(None);
            Place::End
        }
    };
    while walk.time > walk.from {
        let before = walk.time;
        place = match place {
            Place::Thread(lane) => walk.on_thread(lane),
            Place::Work(at) => walk.in_work(at),
            Place::End => {
                walk.rest(None);
                Place::End
            }
        };
        walk.still = if walk.time < before { 0 } else { walk.still + 1 };
        // Device work that starts after the time reached does not bring the walk further back.
        if walk.still > 2 * MAX_STILL {
            place = Place::End;
        }
    }
    walk.pieces.reverse();
    walk.pieces
}

impl Walk<'_> {
    /// Adds a piece that ends at the time reached, and moves there.
    fn add(&mut self, start: i64, piece: Piece) {
        let start = start.max(self.from);
        if start < self.time {
            self.pieces.push(Piece { start, end: self.time, ..piece });
            self.time = start;
        }
    }

    /// Adds the rest of the window.
    fn rest(&mut self, lane: Option<u32>) {
        let kind = if lane.is_some() { Kind::HostGap } else { Kind::Unknown };
        self.add(self.from, Piece { lane, ..piece(kind) });
    }

    fn on_thread(&mut self, lane: u32) -> Place {
        let model = self.model;
        let (inner, since) = model.innermost(lane, self.time);
        let may_leave = self.still <= MAX_STILL;
        let idle_since = since.unwrap_or(i64::MIN);
        let role = inner.map(|at| model.activity(at).role);
        if let (Some(call), Some(since)) = (inner, since)
            && may_leave
            && let Some((source, end, inferred)) = binding::of_call(model, call, since, self.time)
        {
            let waits = Piece { lane: Some(lane), inferred, ..piece(Kind::Synchronisation) };
            self.add(end, Piece { event: inner, cause: Some(source), ..waits });
            return Place::Work(source);
        }
        if matches!(role, None | Some(Role::Frame))
            && may_leave
            && let Some((source, end)) = binding::of_idle(model, lane, idle_since, self.time)
        {
            let is_short = self.time - end <= MAX_HANDOFF_NS;
            let kind = if is_short { Kind::Handoff } else { Kind::HostGap };
            let idle = Piece { lane: Some(lane), inferred: true, ..piece(kind) };
            self.add(end, Piece { event: inner, cause: Some(source), ..idle });
            return Place::Thread(model.activity(source).lane);
        }
        let Some(since) = since else {
            self.rest(Some(lane));
            return Place::End;
        };
        let is_idle = matches!(role, None | Some(Role::Frame));
        let kind = match inner {
            Some(at) if model.is_loading(at) => Kind::Loading,
            _ if is_idle => Kind::HostGap,
            _ => Kind::Host,
        };
        self.add(since, Piece { event: inner, lane: Some(lane), ..piece(kind) });
        Place::Thread(lane)
    }

    fn in_work(&mut self, at: u32) -> Place {
        let work = self.model.activity(at);
        if let Some((_, meeting)) = self.model.meetings.of(at) {
            return self.in_meeting(at, work.lane, meeting);
        }
        let lane = Some(work.lane);
        self.add(work.start, Piece { event: Some(at), lane, ..piece(Kind::Device) });
        self.before_work(at)
    }

    /// A collective leads to the member that began last, in the domain of that one.
    fn in_meeting(&mut self, at: u32, lane: u32, meeting: &Meeting) -> Place {
        let model = self.model;
        let cause = (meeting.last != at && !meeting.awaits_missing).then_some(meeting.last);
        let shared = Piece { event: Some(at), lane: Some(lane), ..piece(Kind::Transfer) };
        self.add(meeting.full, Piece { cause, ..shared });
        if !meeting.awaits_missing {
            self.from = self.starts[model.domain_of(meeting.last) as usize];
            return self.before_work(meeting.last);
        }
        // The members that were not recorded were last seen in the collective before.
        let waits = Piece { kind: Kind::MissingRank, ..shared };
        let Some((seen, end)) = model.meetings.partial_before(meeting.full) else {
            self.add(self.from, waits);
            return Place::End;
        };
        self.add(end, waits);
        Place::Work(seen)
    }

    fn before_work(&mut self, at: u32) -> Place {
        let model = self.model;
        let work = model.activity(at);
        let lane = Some(work.lane);
        let event = Some(at);
        match binding::of_start(model, at) {
            Start::Launch(call) => {
                let called = model.activity(call);
                let is_short = work.start - called.end <= MAX_LAUNCH_NS;
                let kind = if is_short { Kind::Launch } else { Kind::Unknown };
                let launch = Piece { event, lane, cause: Some(call), ..piece(kind) };
                self.add(called.start, launch);
                Place::Thread(called.lane)
            }
            Start::After { source, end, how } => {
                let kind = match how {
                    How::Queue => Kind::StreamGap,
                    How::Event | How::Inferred => Kind::EventDelay,
                    How::Far => Kind::Unknown,
                };
                let inferred = how == How::Inferred;
                let gap = Piece { event, lane, cause: Some(source), inferred, ..piece(kind) };
                self.add(end, gap);
                Place::Work(source)
            }
            Start::Unknown => {
                self.rest(None);
                Place::End
            }
        }
    }
}

fn piece(kind: Kind) -> Piece {
    let (event, cause, lane) = (None, None, None);
    Piece { start: 0, end: 0, kind, event, cause, lane, inferred: false }
}

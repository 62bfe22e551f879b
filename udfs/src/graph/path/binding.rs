//! What the start of device work, the end of a waiting call, and the end of an idle stretch of a
//! thread waited for.

use super::model::{Model, NONE, Role};

/// Work that ends at most this long before another starts is what that waited for.
pub const NEAR_NS: i64 = 5_000;

/// Work that starts at most this long after the start of its call waited for the call.
const LAUNCH_NS: i64 = 4_000;

/// Other ends that are looked at when the queues' waits are not known.
const MAX_INFERRED: usize = 16;

/// Work of the same queue that is looked at.
const MAX_OVERLAPS: u32 = 4;

/// What the start of device work waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The call that launched it.
    Launch(u32),
    /// The end of other device work.
    After { source: u32, end: i64, how: How },
    /// Nothing that was recorded.
    Unknown,
}

/// Why device work waited for other device work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was before it in the queue.
    Queue,
    /// The queue was told to wait.
    Event,
    /// It ended just before, on another queue.
    Inferred,
    /// It was the last to end, but long before.
    Far,
}

/// Decides what the start of device work waited for.
pub fn of_start(model: &Model, at: u32) -> Start {
    let work = model.activity(at);
    let start = work.start;
    let near = NEAR_NS + model.rounding;
    let ends_before = |source: u32| {
        let other = model.activity(source);
        (other.end <= start + near && other.start < start).then_some(other.end.min(start))
    };
    let mut best: Option<(i64, u32, How)> = None;
    let mut offer = |source: u32, how: How| {
        if let Some(end) = ends_before(source)
            && best.is_none_or(|(known, _, _)| end > known)
        {
            best = Some((end, source, how));
        }
    };
    // Kernels of one queue can overlap, so that the one before is not the last to end.
    for before in model.several_before(at, MAX_OVERLAPS) {
        offer(before, How::Queue);
    }
    for source in model.orders.of_work.get(&at).into_iter().flatten() {
        offer(*source, How::Event);
    }
    for source in inferred(model, at) {
        offer(source, How::Inferred);
    }
    let launch = (work.above != NONE).then_some(work.above);
    match (best, launch) {
        (None, Some(call)) => Start::Launch(call),
        (Some((end, source, how)), Some(call)) => {
            let called = model.activity(call);
            // Work of one graph launch waits for work of the graph, not for the call again.
            let is_near = start - end <= near || model.activity(source).above == call;
            if start - called.start <= LAUNCH_NS + model.rounding || (!is_near && end < called.end)
            {
                Start::Launch(call)
            } else {
                Start::After { source, end, how: if is_near { how } else { How::Far } }
            }
        }
        (Some((end, source, how)), None) => {
            let is_near = start - end <= near;
            let far = if is_near { None } else { last_end(model, at, start) };
            let (source, end) = far.unwrap_or((source, end));
            Start::After { source, end, how: if is_near { how } else { How::Far } }
        }
        (None, None) => match last_end(model, at, start) {
            Some((source, end)) => Start::After { source, end, how: How::Far },
            None => Start::Unknown,
        },
    }
}

/// Work of other queues that ended just before. It counts if waits between queues were not
/// recorded, or if one call started both.
fn inferred(model: &Model, at: u32) -> impl Iterator<Item = u32> + '_ {
    let work = model.activity(at);
    let domain = model.domain_of(at);
    let ends = model.device_ends(domain);
    let until = ends.partition_point(|(end, _)| *end <= work.start);
    ends[..until]
        .iter()
        .rev()
        .take(MAX_INFERRED)
        .take_while(move |(end, _)| work.start - end <= NEAR_NS)
        .map(|(_, source)| *source)
        .filter(move |source| {
            let other = model.activity(*source);
            let same_call = work.above != NONE && other.above == work.above;
            other.lane != work.lane && (same_call || !model.orders.are_known(domain))
        })
}

/// The device work that ended last before a time.
fn last_end(model: &Model, at: u32, time: i64) -> Option<(u32, i64)> {
    let ends = model.device_ends(model.domain_of(at));
    let until = ends.partition_point(|(end, _)| *end <= time);
    let mut before = ends[..until].iter().rev().filter(|(_, source)| *source != at);
    before.next().map(|(end, source)| (*source, *end))
}

/// The device work whose end a call waited for, with that end. `since` is the time from which on
/// the call did nothing else, `until` its end. The flag is whether this was inferred.
pub fn of_call(model: &Model, call: u32, since: i64, until: i64) -> Option<(u32, i64, bool)> {
    let fits = |source: u32| {
        let work = model.activity(source);
        let end = work.end.min(until);
        (work.end <= until + NEAR_NS && end > since && work.start < end).then_some((end, source))
    };
    if let Some(sources) = model.orders.of_calls.get(&call) {
        return sources.iter().filter_map(|s| fits(*s)).max().map(|(end, at)| (at, end, false));
    }
    match model.activity(call).role {
        Role::OwnWait => {
            let started = model.started_by(call);
            started.filter_map(fits).max().map(|(end, at)| (at, end, false))
        }
        Role::DeviceWait => {
            let ends = model.device_ends(model.domain_of(call));
            let last = ends.partition_point(|(end, _)| *end <= until + NEAR_NS);
            // Work that another thread started after the call may end near its end too.
            let mut before = ends[..last].iter().rev().take_while(|(end, _)| *end > since);
            before.find_map(|(_, at)| fits(*at)).map(|(end, at)| (at, end, true))
        }
        _ => None,
    }
}

/// The work of another thread of the team that ended last in an idle stretch of a thread.
pub fn of_idle(model: &Model, lane: u32, since: i64, until: i64) -> Option<(u32, i64)> {
    let team = model.lanes[lane as usize].team?;
    let others =
        (0..).zip(&model.lanes).filter(|(at, other)| *at != lane && other.team == Some(team));
    others
        .filter_map(|(_, other)| {
            let before = other.ends.partition_point(|(end, _)| *end <= until);
            before.checked_sub(1).map(|i| other.ends[i])
        })
        .filter(|(end, _)| *end > since)
        .max()
        .map(|(end, at)| (at, end))
}

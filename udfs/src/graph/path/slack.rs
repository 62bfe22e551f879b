//! Slack: how much longer work could take before the end of its window moves.
//!
//! One pass against the order of the recorded times, over the waits of a schedule. It is the
//! counterpart of the pass that forecasts: what that pass moves later, this one lets move.

use super::model::{Model, Role};
use super::schedule::{Point, Schedule, Source};
use super::walk::Window;

/// The delays that leave the ends of all windows where they are.
pub struct Slack {
    /// Of the end of device work, by position.
    ends: Vec<i64>,
    /// Of each thread, from a time back to the next entry; the latest time first.
    threads: Vec<Vec<(i64, i64)>>,
}

impl Slack {
    /// Computes all delays. The windows limit what ends in them.
    pub fn new(model: &Model, schedule: &Schedule, windows: &[Window]) -> Self {
        let mut limits = Limits::new(model, windows);
        let mut slack = Self {
            ends: vec![i64::MAX; model.positions().len()],
            threads: vec![Vec::new(); model.lanes.len()],
        };
        for at in model.positions() {
            let work = model.activity(at);
            if work.role == Role::Device {
                slack.ends[at as usize] = limits.of_work(model, at) - work.end;
            }
        }
        let mut launches = vec![i64::MAX; model.positions().len()];
        let mut handed = vec![i64::MAX; schedule.waits.len()];
        for (time, point) in schedule.points.iter().rev() {
            while let Some((at, lane, until)) = limits.next_at_or_after(*time) {
                slack.limit(lane, at, until.saturating_sub(at));
            }
            match *point {
                Point::Start(at) => {
                    let start = model.activity(at).start;
                    let own = slack.ends[at as usize];
                    for edge in schedule.edges_of(at) {
                        match edge.source {
                            Source::Call => {
                                let called = model.activity(model.activity(at).above).start;
                                let spare = start - (called + edge.lag);
                                launches[at as usize] = own.saturating_add(spare);
                            }
                            Source::Work(source) => {
                                let end = model.activity(source).end;
                                let spare = start - (end + edge.lag);
                                let known = &mut slack.ends[source as usize];
                                *known = (*known).min(own.saturating_add(spare));
                            }
                        }
                    }
                }
                Point::Launch(at) => {
                    let call = model.activity(model.activity(at).above);
                    slack.limit(call.lane, *time, launches[at as usize]);
                }
                Point::Return(wait) => {
                    let call = &schedule.waits[wait as usize];
                    let after = slack.now(call.lane);
                    let known = &mut slack.ends[call.other as usize];
                    *known = (*known).min(after);
                    slack.wait(call.lane, *time, after, call.since.map(|since| call.end - since));
                }
                Point::TakeOver(wait) => {
                    let idle = &schedule.waits[wait as usize];
                    let after = slack.now(idle.lane);
                    handed[wait as usize] = after;
                    slack.wait(idle.lane, *time, after, idle.since.map(|since| time - since));
                }
                Point::HandOver(wait) => {
                    let other = schedule.waits[wait as usize].other;
                    slack.limit(other, *time, handed[wait as usize]);
                }
            }
        }
        while let Some((at, lane, until)) = limits.next_at_or_after(i64::MIN) {
            slack.limit(lane, at, until.saturating_sub(at));
        }
        slack
    }

    /// How much longer an activity could take; `None` if nothing depends on its end.
    pub fn of(&self, model: &Model, at: u32) -> Option<i64> {
        let work = model.activity(at);
        let known = if work.role == Role::Device {
            self.ends[at as usize]
        } else {
            let steps = &self.threads[work.lane as usize];
            let after = steps.partition_point(|(time, _)| *time >= work.end);
            after.checked_sub(1).map_or(i64::MAX, |place| steps[place].1)
        };
        (known < i64::MAX).then_some(known.max(0))
    }

    /// The delay of a thread at the time reached.
    fn now(&self, lane: u32) -> i64 {
        self.threads[lane as usize].last().map_or(i64::MAX, |(_, known)| *known)
    }

    /// A thread must not be later than this from a time on.
    fn limit(&mut self, lane: u32, at: i64, by: i64) {
        if by < self.now(lane) {
            let steps = &mut self.threads[lane as usize];
            let at = steps.last().map_or(at, |(last, _)| at.min(*last));
            steps.push((at, by));
        }
    }

    /// A thread waited for so long. Before, it may be later by that time too.
    fn wait(&mut self, lane: u32, at: i64, after: i64, waited: Option<i64>) {
        let before = waited.map_or(i64::MAX, |ns| after.saturating_add(ns.max(0)));
        // What ends at the time itself is before the wait.
        self.threads[lane as usize].push((at - 1, before));
    }
}

/// The ends that must not move.
struct Limits {
    /// The end of each domain's whole window.
    whole: Vec<i64>,
    /// Marks of steps by domain and start, with the end of the window.
    steps: Vec<(u32, i64, i64, i64)>,
    /// Ends of threads and marks with the end of their window; the latest is taken first.
    ends: Vec<(i64, u32, i64)>,
}

impl Limits {
    fn new(model: &Model, windows: &[Window]) -> Self {
        let last = windows.iter().map(|window| window.to).max().unwrap_or(i64::MIN);
        let mut limits =
            Self { whole: vec![last; model.domains()], steps: Vec::new(), ends: Vec::new() };
        for window in windows {
            let Some(mark) = window.mark_id.and_then(|id| model.find(id)) else { continue };
            let (work, end) = (model.activity(mark), model.mark_end(mark));
            // A step of several domains ends with the latest of them.
            let of_step = windows.iter().filter(|other| other.number == window.number);
            let to = of_step.map(|other| other.to).max().unwrap_or(window.to);
            limits.steps.push((model.domain_of(mark), work.start, end, to));
            limits.ends.push((end, work.lane, to));
        }
        for (at, lane) in (0u32..).zip(&model.lanes) {
            if lane.is_main && !lane.is_queue {
                limits.ends.push((lane.end, at, limits.whole[lane.domain as usize]));
            }
        }
        limits.steps.sort_unstable();
        limits.ends.sort_unstable();
        limits
    }

    /// The end of the windows that device work belongs to.
    fn of_work(&self, model: &Model, at: u32) -> i64 {
        let domain = model.domain_of(at);
        let whole = self.whole[domain as usize].max(model.activity(at).end);
        let call = model.activity(at).above;
        if call == super::model::NONE {
            return whole;
        }
        let called = model.activity(call).start;
        let after = self.steps.partition_point(|step| (step.0, step.1) <= (domain, called));
        match after.checked_sub(1).map(|place| self.steps[place]) {
            Some((of, _, end, to)) if of == domain && called < end => {
                whole.min(to.max(model.activity(at).end))
            }
            _ => whole,
        }
    }

    /// Removes and returns the next end at or after a time.
    fn next_at_or_after(&mut self, time: i64) -> Option<(i64, u32, i64)> {
        self.ends.pop_if(|(at, _, _)| *at >= time)
    }
}

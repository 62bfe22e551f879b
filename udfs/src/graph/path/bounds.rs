//! Starts and ends of windows in other times.

use super::model::{Activity, Model, NONE};
use super::walk::Window;

/// The mark of a step.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    pub domain: u32,
    pub lane: u32,
    pub start: i64,
    pub end: i64,
}

impl Mark {
    fn new(model: &Model, at: u32) -> Self {
        let Activity { lane, start, .. } = *model.activity(at);
        Self { domain: model.domain_of(at), lane, start, end: model.mark_end(at) }
    }

    fn key(&self) -> (u32, i64, i64) {
        (self.domain, self.start, self.end)
    }
}

/// The marks of all windows, in order.
pub fn marks(model: &Model, windows: &[Window]) -> Vec<Mark> {
    let known = windows.iter().filter_map(|window| model.find(window.mark_id?));
    let mut marks: Vec<Mark> = known.map(|at| Mark::new(model, at)).collect();
    marks.sort_unstable_by_key(Mark::key);
    marks
}

/// The position of the mark in which a domain is at a time.
pub fn mark_at(marks: &[Mark], domain: u32, time: i64) -> Option<usize> {
    let after = marks.partition_point(|mark| (mark.domain, mark.start) <= (domain, time));
    let at = after.checked_sub(1)?;
    (marks[at].domain == domain && time < marks[at].end).then_some(at)
}

/// What the bounds of windows depend on.
pub struct Bounds {
    marks: Vec<Mark>,
    windows: Vec<Bound>,
    /// Device work, its domain, and the position of the mark in which it was launched.
    work: Vec<(u32, u32, u32)>,
}

/// A window.
enum Bound {
    /// All of a domain, from a time on; the end if nothing else tells.
    Whole { domain: u32, from: i64, to: i64 },
    /// The step of a mark; the position of the mark that has its device work.
    Step { mark: Mark, of_work: Option<usize> },
}

impl Bounds {
    /// Finds the marks of windows and the work that was launched in them.
    pub fn new(model: &Model, windows: &[Window]) -> Self {
        let marks = marks(model, windows);
        let bound = |window: &Window| match window.mark_id.and_then(|id| model.find(id)) {
            Some(at) => {
                let mark = Mark::new(model, at);
                let of_work = marks.binary_search_by_key(&mark.key(), Mark::key).ok();
                Bound::Step { mark, of_work }
            }
            None => Bound::Whole {
                domain: model.domain(window.domain).unwrap_or(0),
                from: window.from,
                to: window.to,
            },
        };
        let bounds = windows.iter().map(bound).collect();
        let mut work = Vec::new();
        for domain in 0..u32::try_from(model.domains()).unwrap_or(0) {
            for (_, at) in model.device_ends(domain) {
                let call = model.activity(*at).above;
                let called = (call != NONE).then(|| model.activity(call).start);
                let mark = called.and_then(|time| mark_at(&marks, domain, time));
                let mark = mark.and_then(|mark| u32::try_from(mark).ok()).unwrap_or(NONE);
                work.push((*at, domain, mark));
            }
        }
        work.sort_unstable();
        Self { marks, windows: bounds, work }
    }

    /// The starts and ends of windows, given the ends of device work and what times of threads
    /// become. A step lasts until its mark ends or the last device work that was launched during the
    /// mark. The whole trace lasts until the last end of device work and of threads that launch it.
    pub fn of(
        &self,
        model: &Model,
        ends: &[i64],
        on_thread: impl Fn(u32, i64) -> i64,
    ) -> Vec<(i64, i64)> {
        let mut whole: Vec<Option<i64>> = vec![None; model.domains()];
        for (at, lane) in (0..).zip(&model.lanes) {
            if lane.is_main && !lane.is_queue {
                let end = &mut whole[lane.domain as usize];
                *end = (*end).max(Some(on_thread(at, lane.end)));
            }
        }
        let mut last: Vec<Option<i64>> = vec![None; self.marks.len()];
        for (at, domain, mark) in &self.work {
            let end = Some(ends[*at as usize]);
            let known = &mut whole[*domain as usize];
            *known = (*known).max(end);
            if let Some(known) = last.get_mut(*mark as usize) {
                *known = (*known).max(end);
            }
        }
        let bounds = |bound: &Bound| match bound {
            Bound::Whole { domain, from, to } => {
                (*from, whole.get(*domain as usize).copied().flatten().unwrap_or(*to))
            }
            Bound::Step { mark, of_work } => {
                let end = on_thread(mark.lane, mark.end);
                let work = of_work.and_then(|at| last[at]);
                (on_thread(mark.lane, mark.start), work.map_or(end, |work| work.max(end)))
            }
        };
        self.windows.iter().map(bounds).collect()
    }
}

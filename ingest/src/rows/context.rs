//! Data about a whole trace that is needed when its rows are written.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::arrange::{DeviceLinks, Launches, NO_ROW, Nest, SortedRecords, SpillVec};
use crate::error::Result;
use crate::source::Content;
use crate::trace::{Class, EventRecord, Id, NO_LINK, NO_TIME, Span, Step, Track};

/// The data from which rows are built, shared by all threads.
pub struct Context<'a> {
    /// The value of `trace_id`.
    pub trace_id: &'a str,
    /// The text of the trace.
    pub content: &'a Content,
    /// Length of the text in bytes.
    pub text_bytes: u64,
    /// Elements in row order.
    pub records: &'a SortedRecords,
    /// Results of nesting, in row order.
    pub nests: &'a SpillVec<Nest>,
    /// Interned texts by id.
    pub texts: &'a [Arc<str>],
    /// Tracks by number.
    pub tracks: &'a [Track],
    /// The `track_id` of each track number.
    pub track_ids: &'a [u32],
    /// Calls that may have launched device work.
    pub launches: &'a Launches,
    /// Links that were found without the correlation.
    pub device_links: &'a DeviceLinks,
    /// The steps of each process.
    pub steps: &'a StepTimes,
    /// Byte offsets of the args of end events, for begin events whose end event has args.
    pub end_args: &'a FxHashMap<u32, u64>,
    /// The time span of the trace's work.
    pub span: &'a Span,
    /// Whether tracks of devices may have steps of their own, for work without a launch.
    pub has_device_steps: bool,
}

impl Context<'_> {
    /// Returns the process of a track.
    pub fn pid(&self, track: u32) -> Id {
        self.tracks[track as usize].pid()
    }

    /// Returns the `track_id` of a row.
    pub fn track_id(&self, record: &EventRecord) -> i64 {
        self.track_ids[record.track as usize].into()
    }

    /// Whether the profiler did not set the time of a row.
    pub fn is_unset(&self, record: &EventRecord) -> bool {
        self.span.unset.iter().any(|unset| unset.ts == record.ts)
    }

    /// Returns the launch and the operator of a device row, and how they were found. `near` is the
    /// place in the launches of the last one that was found.
    pub fn link(&self, record: &EventRecord, near: &mut usize) -> Link {
        let own_step = || match self.has_device_steps {
            true => self.steps.at(self.pid(record.track), record.ts),
            false => None,
        };
        let correlation = record.correlation();
        if correlation != NO_LINK
            && let Some(launch) = self.launches.find(near, correlation, record.ts)
        {
            let op = (launch.op != NO_ROW).then_some(launch.op);
            let way = if launch.graph { "graph" } else { "correlation" };
            return Link {
                launch: Some(launch.ord),
                op,
                way,
                reason: None,
                step: self.steps.at(self.pid(launch.track), launch.ts).or_else(own_step),
            };
        }
        let reason = Some(match correlation {
            NO_LINK if self.device_links.never_correlated(record) => "never_correlated",
            NO_LINK => "no_correlation",
            _ => "launch_missing",
        });
        match self.device_links.get(record.ord) {
            Some(other) => Link {
                launch: other.launch,
                op: other.op,
                way: other.way,
                reason: if other.launch.is_some() { None } else { reason },
                step: other
                    .at
                    .and_then(|(track, ts)| self.steps.at(self.pid(track), ts))
                    .or_else(own_step),
            },
            None => Link { launch: None, op: None, way: "none", reason, step: own_step() },
        }
    }
}

/// The link of a device row to the host.
pub struct Link {
    /// The launch, as a position in the event list.
    pub launch: Option<u32>,
    /// The operator, as a position in the event list.
    pub op: Option<u32>,
    /// The value of `kernels.link`.
    pub way: &'static str,
    /// The value of `kernels.link_reason`.
    pub reason: Option<&'static str>,
    /// The number of the step.
    pub step: Option<i64>,
}

/// The steps of each process by time.
#[derive(Default)]
pub struct StepTimes {
    /// Disjoint intervals in ascending order: start, end and step.
    by_pid: FxHashMap<Id, Vec<(i64, i64, i64)>>,
}

impl StepTimes {
    /// Sorts the steps, and other steps that are not in the table of steps. Where steps overlap, the
    /// one that started last applies.
    pub fn new(steps: &[Step], others: Option<&[Step]>) -> Self {
        let mut by_pid: FxHashMap<Id, Vec<&Step>> = FxHashMap::default();
        for step in steps.iter().chain(others.unwrap_or_default()) {
            by_pid.entry(step.pid).or_default().push(step);
        }
        Self { by_pid: by_pid.into_iter().map(|(pid, steps)| (pid, intervals(steps))).collect() }
    }

    /// Returns the step at a given time.
    pub fn at(&self, pid: Id, ts: i64) -> Option<i64> {
        self.span_at(pid, ts).step
    }

    /// Returns the step at a given time, and the interval in which it stays the same.
    fn span_at(&self, pid: Id, ts: i64) -> StepSpan {
        let Some(list) = self.by_pid.get(&pid) else {
            return StepSpan { from: i64::MIN, to: i64::MAX, step: None };
        };
        let after = list.partition_point(|&(from, ..)| from <= ts);
        match list[..after].last() {
            Some(&(_, to, step)) if ts < to => StepSpan { from: ts, to, step: Some(step) },
            _ => StepSpan {
                from: ts,
                to: list.get(after).map_or(i64::MAX, |&(from, ..)| from),
                step: None,
            },
        }
    }
}

/// Converts the steps of a process to disjoint intervals.
fn intervals(mut steps: Vec<&Step>) -> Vec<(i64, i64, i64)> {
    steps.sort_by_key(|s| (s.ts, s.ord));
    let mut intervals = Vec::with_capacity(steps.len());
    let mut open: Vec<&Step> = Vec::new();
    let mut at = i64::MIN;
    let mut go_to = |open: &mut Vec<&Step>, ts: i64| {
        while let Some(step) = open.last() {
            let (from, to) = (at.max(step.ts), step.end.min(ts));
            if from < to {
                intervals.push((from, to, step.number));
                at = to;
            }
            if step.end > ts {
                break;
            }
            open.pop();
        }
    };
    for step in steps {
        go_to(&mut open, step.ts);
        open.push(step);
    }
    go_to(&mut open, i64::MAX);
    intervals
}

/// An interval in which the step stays the same.
#[derive(Clone, Copy)]
struct StepSpan {
    from: i64,
    to: i64,
    step: Option<i64>,
}

/// Finds the steps of host rows, which must come in the order of time.
#[derive(Default)]
pub struct StepCursor {
    last: Option<(u32, StepSpan)>,
}

impl StepCursor {
    /// Returns the step of a host row.
    #[inline]
    pub fn step(&mut self, c: &Context<'_>, record: &EventRecord) -> Option<i64> {
        if record.ts == NO_TIME || record.class() == Class::DeviceAnnotation {
            return None;
        }
        match self.last {
            Some((track, span))
                if track == record.track && span.from <= record.ts && record.ts < span.to =>
            {
                span.step
            }
            _ => {
                let span = c.steps.span_at(c.pid(record.track), record.ts);
                self.last = Some((record.track, span));
                span.step
            }
        }
    }
}

impl Context<'_> {
    /// Copies the records and the nesting of a range of rows.
    pub fn read(
        &self,
        rows: std::ops::Range<usize>,
        records: &mut Vec<EventRecord>,
        nests: &mut Vec<Nest>,
    ) -> Result<()> {
        self.records.read(rows.clone(), records)?;
        self.nests.read(rows, nests)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step(ord: usize, ts: i64, end: i64) -> Step {
        Step { number: ord as i64, ord: ord as u32, name: 0, pid: Id::None, track: 0, ts, end }
    }

    proptest! {
        #[test]
        fn where_steps_overlap_the_one_that_started_last_applies(
            spans in prop::collection::vec((0i64..30, 0i64..15), 0..12),
        ) {
            let steps = spans.iter().enumerate().map(|(ord, &(ts, dur))| step(ord, ts, ts + dur));
            let steps: Vec<Step> = steps.collect();
            let times = StepTimes::new(&steps, None);
            let holds = |ts| {
                let open = steps.iter().filter(|s| s.ts <= ts && ts < s.end);
                open.max_by_key(|s| (s.ts, s.ord)).map(|s| s.number)
            };
            for ts in -1..50 {
                let span = times.span_at(Id::None, ts);
                prop_assert_eq!(span.step, holds(ts));
                prop_assert!((span.from..span.to.min(50)).all(|t| holds(t) == span.step));
            }
        }
    }

    #[test]
    fn a_step_around_all_others_takes_little_time() {
        let n = 200_000;
        let long = step(0, 0, 10 * n);
        let steps: Vec<Step> =
            [long].into_iter().chain((1..n).map(|i| step(i as usize, i, i))).collect();
        let times = StepTimes::new(&steps, None);
        assert!((n..2 * n).all(|ts| times.at(Id::None, ts) == Some(0)));
    }
}

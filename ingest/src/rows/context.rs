//! What is known about the whole trace when its rows are written.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::order::{DeviceLinks, Launches, NO_ROW, Nest, SortedKeys, SpillVec};
use crate::source::Content;
use crate::trace::{Class, Id, Key, NO_LINK, NO_TIME, Step, Track};

/// Everything that rows are made from.
pub struct Context<'a> {
    /// Value of `trace_id`.
    pub trace_id: &'a str,
    /// The text of the trace.
    pub content: &'a Content,
    /// Length of the text.
    pub text_bytes: u64,
    /// Elements in row order.
    pub keys: &'a SortedKeys,
    /// What nesting found, in row order.
    pub nests: &'a SpillVec<Nest>,
    /// Texts by number.
    pub texts: &'a [Arc<str>],
    /// Tracks by number.
    pub tracks: &'a [Track],
    /// `track_id` by track number.
    pub track_ids: &'a [u32],
    /// Launches.
    pub launches: &'a Launches,
    /// Links found by other ways than the correlation.
    pub device_links: &'a DeviceLinks,
    /// Steps.
    pub steps: &'a StepTimes,
    /// For begin events whose end carries args: where those begin.
    pub end_args: &'a FxHashMap<u32, u64>,
}

impl Context<'_> {
    /// The process of a row.
    pub fn pid(&self, key: &Key) -> Id {
        match self.tracks[key.track as usize] {
            Track::Thread { pid, .. } | Track::Async { pid, .. } | Track::Counter { pid, .. } => pid,
        }
    }

    /// Launch, operator and the way they were found, for a device row.
    pub fn link(&self, key: &Key) -> Link {
        if key.link != NO_LINK
            && let Some(launch) = self.launches.find(key.link, key.ts)
        {
            let op = (launch.op != NO_ROW).then_some(launch.op);
            let way = if launch.graph { "graph" } else { "correlation" };
            return Link { launch: Some(launch.ord), op, way, reason: None, step: self.steps.at(self.track_pid(launch.track), launch.ts) };
        }
        let reason = Some(if key.link == NO_LINK { "no_correlation" } else { "launch_missing" });
        match self.device_links.get(&key.ord) {
            Some(other) => Link {
                launch: other.launch,
                op: other.op,
                way: other.way,
                reason: if other.launch.is_some() { None } else { reason },
                step: other.at.and_then(|(track, ts)| self.steps.at(self.track_pid(track), ts)),
            },
            None => Link { launch: None, op: None, way: "none", reason, step: None },
        }
    }

    fn track_pid(&self, track: u32) -> Id {
        match self.tracks[track as usize] {
            Track::Thread { pid, .. } | Track::Async { pid, .. } | Track::Counter { pid, .. } => pid,
        }
    }
}

/// How a device row belongs to the host.
pub struct Link {
    /// The launch, as position in the event list.
    pub launch: Option<u32>,
    /// The operator, as position in the event list.
    pub op: Option<u32>,
    /// Value of `kernels.link`.
    pub way: &'static str,
    /// Value of `kernels.link_reason`.
    pub reason: Option<&'static str>,
    /// The step.
    pub step: Option<i64>,
}

/// Steps of each process by time.
#[derive(Default)]
pub struct StepTimes {
    by_pid: FxHashMap<Id, Vec<(Step, i64)>>,
}

impl StepTimes {
    /// Orders steps; of steps that overlap the one that started last holds.
    pub fn new(steps: &[Step]) -> Self {
        let mut by_pid: FxHashMap<Id, Vec<(Step, i64)>> = FxHashMap::default();
        for &step in steps {
            by_pid.entry(step.pid).or_default().push((step, step.end));
        }
        for list in by_pid.values_mut() {
            list.sort_by_key(|(s, _)| (s.ts, s.ord));
            let mut latest = i64::MIN;
            for (step, latest_end) in list {
                latest = latest.max(step.end);
                *latest_end = latest;
            }
        }
        Self { by_pid }
    }

    /// The step that holds a time.
    pub fn at(&self, pid: Id, ts: i64) -> Option<i64> {
        self.span_at(pid, ts).step
    }

    /// The step that holds a time, and how long that stays so.
    fn span_at(&self, pid: Id, ts: i64) -> StepSpan {
        let Some(list) = self.by_pid.get(&pid) else { return StepSpan { from: i64::MIN, to: i64::MAX, step: None } };
        let after = list.partition_point(|(s, _)| s.ts <= ts);
        let to = list.get(after).map_or(i64::MAX, |(s, _)| s.ts);
        for (step, latest_end) in list[..after].iter().rev() {
            if step.end > ts {
                return StepSpan { from: ts, to: to.min(step.end), step: Some(step.number) };
            }
            if *latest_end <= ts {
                break;
            }
        }
        StepSpan { from: ts, to, step: None }
    }
}

/// A stretch of time in which the step stays the same.
#[derive(Clone, Copy)]
struct StepSpan {
    from: i64,
    to: i64,
    step: Option<i64>,
}

/// Steps of host rows that come in the order of time.
#[derive(Default)]
pub struct StepCursor {
    last: Option<(u32, StepSpan)>,
}

impl StepCursor {
    /// The step of a host row.
    #[inline]
    pub fn step(&mut self, c: &Context<'_>, key: &Key) -> Option<i64> {
        if key.ts == NO_TIME || key.class() == Class::DeviceAnnotation {
            return None;
        }
        match self.last {
            Some((track, span)) if track == key.track && span.from <= key.ts && key.ts < span.to => span.step,
            _ => {
                let span = c.steps.span_at(c.pid(key), key.ts);
                self.last = Some((key.track, span));
                span.step
            }
        }
    }
}

impl Context<'_> {
    /// Copies keys and nests of a range of rows.
    pub fn read(&self, rows: std::ops::Range<usize>, keys: &mut Vec<Key>, nests: &mut Vec<Nest>) -> Result<()> {
        self.keys.read(rows.clone(), keys)?;
        self.nests.read(rows, nests)
    }
}

//! Pairs begin events with the end events that close them, and computes the duration of each begin
//! event.

use rustc_hash::FxHashMap;

use super::sort::Sorter;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::{EventRecord, FLOW_IN, FLOW_OUT, LONG_ARGS, MERGES_ARGS, NO_TEXT, OPEN, PAIRED};

/// Number of open begin events among which the one of an end event with a name is looked for.
const MAX_OPEN: usize = 512;

/// The results of pairing other than durations.
#[derive(Default)]
pub struct Pairs {
    /// Where the args of the end event begin, for begin events whose end event has args. The key is
    /// the position of the begin event in the event list.
    pub end_args: FxHashMap<u32, u64>,
    /// Positions of begin events in the event list, by the position of their end event, for end
    /// events that take part in flows.
    pub begins: FxHashMap<u32, u32>,
    /// Issues that were found.
    pub issues: Issues,
}

/// Pairs begin and end events of each track, in the order of time and file. An end event closes the
/// last open begin event. If it `ends_by_name` and has a name or category, it closes the last open
/// begin event with the same ones, and those that began after it. All events are pushed to `into`.
pub fn pair(
    sorter: Sorter,
    tracks: &[u32],
    budget: usize,
    ends_by_name: bool,
    into: &mut Sorter,
) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    let mut open: Vec<EventRecord> = Vec::new();
    let mut done: Vec<EventRecord> = Vec::new();
    let mut track = None;
    sorter.sorted(tracks, budget)?.for_each(|record| {
        if track != Some(record.track) {
            track = Some(record.track);
            leave_open(&mut open, &mut done, &mut pairs.issues);
        }
        if matches!(record.ph, b'B' | b'b') {
            open.push(*record);
            return Ok(());
        }
        let closed =
            if ends_by_name { last_like(&open, record) } else { open.len().checked_sub(1) };
        if let Some(closed) = closed {
            for mut inner in open.drain(closed + 1..).rev() {
                pairs.issues.add_at(Code::NameMismatch, record, b"");
                close(&mut inner, record, &mut pairs.issues);
                done.push(inner);
            }
        }
        match closed.and_then(|_| open.pop()) {
            Some(mut begin) => {
                if record.name != NO_TEXT && record.name != begin.name {
                    pairs.issues.add_at(Code::NameMismatch, record, b"");
                }
                close(&mut begin, record, &mut pairs.issues);
                if record.has(FLOW_IN | FLOW_OUT) {
                    pairs.begins.insert(record.ord, begin.ord);
                }
                if record.args != 0 && !record.has(LONG_ARGS) {
                    begin.flags |= MERGES_ARGS;
                    pairs.end_args.insert(begin.ord, record.offset + record.args as u64);
                }
                done.push(begin);
            }
            None => pairs.issues.add_at(Code::UnmatchedEnd, record, b""),
        }
        done.push(*record);
        if done.len() >= 4096 {
            into.push(&done)?;
            done.clear();
        }
        Ok(())
    })?;
    leave_open(&mut open, &mut done, &mut pairs.issues);
    into.push(&done)?;
    Ok(pairs)
}

/// Returns the position of the last open begin event with the name and category of an end event.
fn last_like(open: &[EventRecord], end: &EventRecord) -> Option<usize> {
    let is_like = |begin: &EventRecord| {
        (end.name == NO_TEXT || begin.name == NO_TEXT || end.name == begin.name)
            && (end.cat == NO_TEXT || end.cat == begin.cat)
    };
    let from = open.len().saturating_sub(MAX_OPEN);
    open[from..].iter().rposition(is_like).map(|at| from + at)
}

/// Sets the duration of a begin event.
fn close(begin: &mut EventRecord, end: &EventRecord, issues: &mut Issues) {
    match end.ts.checked_sub(begin.ts) {
        Some(dur) => {
            begin.dur = dur;
            begin.flags |= PAIRED;
        }
        None => {
            issues.add_at(Code::EndOverflow, begin, b"");
            begin.flags |= OPEN;
        }
    }
}

fn leave_open(open: &mut Vec<EventRecord>, done: &mut Vec<EventRecord>, issues: &mut Issues) {
    for mut begin in open.drain(..) {
        issues.add_at(Code::UnmatchedBegin, &begin, b"");
        begin.flags |= OPEN;
        done.push(begin);
    }
}

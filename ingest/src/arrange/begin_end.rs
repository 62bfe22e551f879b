//! Pairs begin events with the end events that close them, and computes the duration of each begin
//! event.

use rustc_hash::FxHashMap;

use super::sort::Sorter;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::{EventRecord, LONG_ARGS, MERGES_ARGS, NO_TEXT, OPEN, PAIRED};

/// The results of pairing other than durations.
#[derive(Default)]
pub struct Pairs {
    /// Where the args of the end event begin, for begin events whose end event has args. The key is
    /// the position of the begin event in the event list.
    pub end_args: FxHashMap<u32, u64>,
    /// Issues that were found.
    pub issues: Issues,
}

/// Pairs begin and end events of each track, in the order of time and file. An end event closes the
/// last open begin event. All events are pushed to `into`.
pub fn pair(sorter: Sorter, tracks: &[u32], budget: usize, into: &mut Sorter) -> Result<Pairs> {
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
        match open.pop() {
            Some(mut begin) => {
                if record.name != NO_TEXT && record.name != begin.name {
                    pairs.issues.add_at(Code::NameMismatch, record, b"");
                }
                match record.ts.checked_sub(begin.ts) {
                    Some(dur) => {
                        begin.dur = dur;
                        begin.flags |= PAIRED;
                    }
                    None => {
                        pairs.issues.add_at(Code::EndOverflow, &begin, b"");
                        begin.flags |= OPEN;
                    }
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

fn leave_open(open: &mut Vec<EventRecord>, done: &mut Vec<EventRecord>, issues: &mut Issues) {
    for mut begin in open.drain(..) {
        issues.add_at(Code::UnmatchedBegin, &begin, b"");
        begin.flags |= OPEN;
        done.push(begin);
    }
}

//! Giving begin events the duration of the end events that close them.

use rustc_hash::FxHashMap;

use super::sort::Sorter;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::{Key, LONG_ARGS, MERGES_ARGS, NO_TEXT, OPEN, PAIRED};

/// What pairing found beyond the durations.
#[derive(Default)]
pub struct Pairs {
    /// For begin events (by position in the event list) whose end carries args: where the end's
    /// text begins.
    pub end_args: FxHashMap<u32, u64>,
    /// What was odd.
    pub issues: Issues,
}

/// Pairs begins and ends track by track, last begin first, in order of time and file, and hands all
/// of them on.
pub fn pair(sorter: Sorter, tracks: &[u32], budget: usize, into: &mut Sorter) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    let mut open: Vec<Key> = Vec::new();
    let mut done: Vec<Key> = Vec::new();
    let mut track = None;
    sorter.sorted(tracks, budget)?.for_each(|key| {
        if track != Some(key.track) {
            track = Some(key.track);
            leave_open(&mut open, &mut done, &mut pairs.issues);
        }
        if matches!(key.ph, b'B' | b'b') {
            open.push(*key);
            return Ok(());
        }
        match open.pop() {
            Some(mut begin) => {
                if key.name != NO_TEXT && key.name != begin.name {
                    pairs.issues.add(
                        Code::NameMismatch,
                        Some(key.ord as u64),
                        Some(key.offset),
                        b"",
                    );
                }
                match key.ts.checked_sub(begin.ts) {
                    Some(dur) => {
                        begin.dur = dur;
                        begin.flags |= PAIRED;
                    }
                    None => {
                        pairs.issues.add(
                            Code::EndOverflow,
                            Some(begin.ord as u64),
                            Some(begin.offset),
                            b"",
                        );
                        begin.flags |= OPEN;
                    }
                }
                if key.args != 0 && !key.has(LONG_ARGS) {
                    begin.flags |= MERGES_ARGS;
                    pairs.end_args.insert(begin.ord, key.offset + key.args as u64);
                }
                done.push(begin);
            }
            None => {
                pairs.issues.add(Code::UnmatchedEnd, Some(key.ord as u64), Some(key.offset), b"")
            }
        }
        done.push(*key);
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

fn leave_open(open: &mut Vec<Key>, done: &mut Vec<Key>, issues: &mut Issues) {
    for mut begin in open.drain(..) {
        issues.add(Code::UnmatchedBegin, Some(begin.ord as u64), Some(begin.offset), b"");
        begin.flags |= OPEN;
        done.push(begin);
    }
}

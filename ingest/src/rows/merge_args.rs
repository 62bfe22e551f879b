//! Merges the args of an end event into those of its begin event.

use rustc_hash::FxHashSet;

use super::args::{ArgValues, OwnArgs};
use crate::json::{Copier, Cursor, Oddities};

/// Merges the args of an end event, at the start of `text`, into those of its begin event, which
/// are the compact object at `start` of `out`. If both contain the same key, the value of the end
/// event is kept.
pub fn merge_end_args(
    copier: &mut Copier,
    text: &[u8],
    values: &mut ArgValues,
    out: &mut Vec<u8>,
    start: usize,
    odd: &mut Oddities,
) {
    if out.get(start) != Some(&b'{') {
        return;
    }
    let mut end_args = Vec::new();
    ArgValues::default().read(copier, text, &mut end_args, odd, &mut OwnArgs::default());
    let mut ends: Vec<(&[u8], &[u8])> = Vec::new();
    let _ = Cursor::new(&end_args, 0).object(|key, value| ends.push((key, value)));
    let replaced: FxHashSet<&[u8]> = ends.iter().map(|&(key, _)| key).collect();
    let begins = out.split_off(start);
    let mut merged = vec![b'{'];
    let mut member = |key: &[u8], value: &[u8]| {
        if merged.len() > 1 {
            merged.push(b',');
        }
        merged.push(b'"');
        merged.extend_from_slice(key);
        merged.extend_from_slice(b"\":");
        merged.extend_from_slice(value);
    };
    let _ = Cursor::new(&begins, 0).object(|key, value| {
        if !replaced.contains(key) {
            member(key, value);
        }
    });
    for (key, value) in &ends {
        member(key, value);
    }
    merged.push(b'}');
    *values = ArgValues::default();
    values.read(copier, &merged, out, odd, &mut OwnArgs::default());
}

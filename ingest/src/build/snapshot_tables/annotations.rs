//! Annotations: ranges that a start and an end of the same name and device delimit.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::history::{extend, time_ns};
use crate::issues::{Code as IssueCode, Issues};
use crate::snapshot::*;

/// A row of `events` that comes from an annotation.
pub struct AnnotationRow {
    pub event_id: i64,
    pub ph: &'static str,
    pub name: u32,
    pub rest: u32,
    pub ts_ns: Option<i64>,
    pub dur_ns: Option<i64>,
    pub parent_id: Option<i64>,
    parent_row: Option<usize>,
    pub depth: Option<i64>,
    pub self_ns: Option<i64>,
    /// Position of the last descendant among the rows of the device.
    pub last: usize,
    pub overlaps: bool,
}

/// The annotations of a snapshot.
#[derive(Default)]
pub struct Annotations {
    /// Rows of each device in their order.
    pub by_device: BTreeMap<i64, Vec<AnnotationRow>>,
    /// Number of elements.
    pub elements: u64,
    bounds: Option<(i64, i64)>,
}

impl Annotations {
    /// Reads the annotations. `first` is the position of the first one among all elements.
    pub fn read(snapshot: &Snapshot, first: u64, issues: &mut Issues) -> Self {
        let heap = &snapshot.heap;
        let mut found = Self::default();
        let Some(items) = snapshot.layout.annotations else { return found };
        // Positions of ranges without an end, by device and name.
        let mut open: FxHashMap<(i64, u32), Vec<usize>> = FxHashMap::default();
        for code in &heap.items[items as usize] {
            let event_id = first + found.elements;
            found.elements += 1;
            let annotation = match code.unpack(&heap.scalars) {
                Some(Value::Dict(no)) => match heap.dicts[no as usize] {
                    Dict::Annotation(no) => heap.annotations[no as usize],
                    _ => {
                        issues.add(IssueCode::NotAnObject, Some(event_id), None, b"");
                        continue;
                    }
                },
                _ => {
                    issues.add(IssueCode::NotAnObject, Some(event_id), None, b"");
                    continue;
                }
            };
            let ts_ns = time_ns(annotation.time_us);
            if let Some(ts) = ts_ns {
                extend(&mut found.bounds, ts);
            }
            let stage = heap.texts.get(annotation.stage);
            let rows = found.by_device.entry(annotation.device).or_default();
            let starts = open.entry((annotation.device, annotation.name)).or_default();
            let ph = match stage {
                b"START" => "X",
                b"END" => "E",
                _ => "i",
            };
            if ph == "E" {
                match starts.pop() {
                    Some(start) => {
                        let start: &mut AnnotationRow = &mut rows[start];
                        start.dur_ns = ts_ns.zip(start.ts_ns).map(|(end, start)| end - start);
                    }
                    None => issues.add(IssueCode::UnmatchedEnd, Some(event_id), None, b""),
                }
            } else if ph == "X" {
                starts.push(rows.len());
            }
            rows.push(AnnotationRow {
                event_id: event_id as i64,
                ph,
                name: annotation.name,
                rest: annotation.rest,
                ts_ns,
                dur_ns: None,
                parent_id: None,
                parent_row: None,
                depth: None,
                self_ns: None,
                last: 0,
                overlaps: false,
            });
        }
        for rows in found.by_device.values_mut() {
            for row in rows.iter_mut().filter(|r| r.ph == "X" && r.dur_ns.is_none()) {
                row.ph = "B";
                issues.add(IssueCode::UnmatchedBegin, Some(row.event_id as u64), None, b"");
            }
            nest(rows, issues);
        }
        found
    }

    /// Extends bounds by the times of the annotations.
    pub fn bounds(&self, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
        let mut bounds = other;
        for ts in self.bounds.iter().flat_map(|b| [b.0, b.1]) {
            extend(&mut bounds, ts);
        }
        bounds
    }
}

struct Open {
    row: usize,
    end: i64,
    covered: i64,
}

/// Sorts the rows of a device and nests its ranges.
fn nest(rows: &mut [AnnotationRow], issues: &mut Issues) {
    rows.sort_by_key(|r| (r.ts_ns, std::cmp::Reverse(r.dur_ns), r.event_id));
    let mut open: Vec<Open> = Vec::new();
    for at in 0..rows.len() {
        rows[at].last = at;
        let (Some(start), true) = (rows[at].ts_ns, rows[at].ph != "E") else { continue };
        let dur = rows[at].dur_ns.unwrap_or(0).max(0);
        let end = start.saturating_add(dur);
        while open.last().is_some_and(|o| o.end <= start) {
            open.pop();
        }
        // An open range that ends first encloses nothing that this range does not enclose.
        while open.last().is_some_and(|o| o.end < end) {
            open.pop();
            rows[at].overlaps = true;
        }
        rows[at].depth = Some(open.len() as i64);
        rows[at].self_ns = rows[at].dur_ns;
        if let Some(parent) = open.last_mut() {
            let part = end - start.max(parent.covered).min(end);
            parent.covered = parent.covered.max(end);
            let parent = parent.row;
            rows[at].parent_id = Some(rows[parent].event_id);
            rows[at].parent_row = Some(parent);
            rows[parent].self_ns = rows[parent].self_ns.map(|own| own - part);
        }
        if rows[at].overlaps {
            let id = Some(rows[at].event_id as u64);
            issues.add(IssueCode::PartialOverlap, id, None, b"");
        }
        if dur > 0 {
            open.push(Open { row: at, end, covered: start });
        }
    }
    for at in (0..rows.len()).rev() {
        if let Some(parent) = rows[at].parent_row {
            rows[parent].last = rows[parent].last.max(rows[at].last);
        }
    }
}

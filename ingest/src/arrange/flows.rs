//! Arrows between events: connects flow elements that share an id, and thereby the events to which
//! they are attached.

use crate::issues::{Code, Issues};

/// A flow element, or a slice that takes part in a flow by `bind_id`.
#[derive(Debug, Clone, Copy)]
pub struct FlowPoint {
    /// Category, as the id of an interned text.
    pub cat: u32,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// The flow id, and whether it is the id of an interned text.
    pub id: (i64, bool),
    /// `s`, `t` or `f`.
    pub ph: u8,
    /// Time, ns.
    pub ts: i64,
    /// The element's position in the event list.
    pub ord: u32,
    /// Byte offset of the element's text.
    pub offset: u64,
    /// The event to which the element is attached.
    pub slice: Option<u32>,
}

/// All arrows, sorted by the position of their start in the event list.
pub struct Flows {
    points: Vec<FlowPoint>,
    /// Start and end of each arrow, as indices into `points`.
    arrows: Vec<(u32, u32)>,
}

impl Flows {
    /// Iterates over the start and the end of each arrow.
    pub fn iter(&self) -> impl Iterator<Item = (&FlowPoint, &FlowPoint)> {
        self.arrows
            .iter()
            .map(|&(src, dst)| (&self.points[src as usize], &self.points[dst as usize]))
    }
}

/// Connects flow elements that have the same category, name and id. Elements are processed in the
/// order of time; at equal times, starts come first, then steps, then ends, then file order
/// decides. Each start begins a chain, and each step or end is connected to the element before it.
pub fn pair_flows(mut points: Vec<FlowPoint>, issues: &mut Issues) -> Flows {
    let rank = |ph: u8| match ph {
        b's' => 0,
        b't' => 1,
        _ => 2,
    };
    points.sort_unstable_by_key(|p| (p.cat, p.name, p.id, p.ts, rank(p.ph), p.ord));
    let mut arrows = Vec::with_capacity(points.len() / 2);
    let mut halves = [None; 256];
    let mut half = |p: &FlowPoint| {
        let (count, first) = halves[p.ph as usize].get_or_insert((0, *p));
        *count += 1;
        if p.ord < first.ord {
            *first = *p;
        }
    };
    let same = |a: &FlowPoint, b: &FlowPoint| (a.cat, a.name, a.id) == (b.cat, b.name, b.id);
    // The element to which the next one of its chain is connected, and whether it is itself
    // connected to an earlier one.
    let mut last: Option<(u32, bool)> = None;
    for (at, point) in points.iter().enumerate() {
        if let Some((before, joined)) = last
            && (point.ph == b's' || !same(point, &points[before as usize]))
        {
            if !joined {
                half(&points[before as usize]);
            }
            last = None;
        }
        match last {
            Some((before, _)) => {
                arrows.push((before, at as u32));
                last = Some((if point.ph == b't' { at as u32 } else { before }, true));
            }
            None if point.ph == b'f' => half(point),
            None => last = Some((at as u32, false)),
        }
    }
    if let Some((before, false)) = last {
        half(&points[before as usize]);
    }
    for (count, first) in halves.into_iter().flatten() {
        issues.add_many(Code::FlowHalf, count, Some(first.ord as u64), Some(first.offset), b"");
    }
    arrows.sort_unstable_by_key(|&(src, dst)| (points[src as usize].ord, points[dst as usize].ord));
    Flows { points, arrows }
}

//! Arrows between events: joining flow elements that share an id, and the events that they touch.

use rustc_hash::FxHashMap;

use crate::issues::{Code, Issues};

/// A flow element, or a slice that takes part in a flow by `bind_id`.
#[derive(Debug, Clone, Copy)]
pub struct FlowPoint {
    /// Category, as a text number.
    pub cat: u32,
    /// Name, as a text number.
    pub name: u32,
    /// The id, and whether it is a text number.
    pub id: (i64, bool),
    /// `s`, `t` or `f`.
    pub ph: u8,
    /// Time, ns.
    pub ts: i64,
    /// The element's position in the event list.
    pub ord: u32,
    /// Where the element's text begins.
    pub offset: u64,
    /// The event it touches.
    pub slice: Option<u32>,
}

/// One arrow.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Where it starts.
    pub src: FlowPoint,
    /// Where it ends.
    pub dst: FlowPoint,
}

/// All arrows, by the position of their start in the event list.
pub type Flows = Vec<Flow>;

/// Joins flow elements. Elements with the same category, name and id belong together; in order of time (starts
/// before steps before ends at the same time, then file order) each start begins a chain and each step or end is
/// joined to the element before it.
pub fn pair_flows(mut points: Vec<FlowPoint>, issues: &mut Issues) -> Flows {
    let rank = |ph: u8| match ph {
        b's' => 0,
        b't' => 1,
        _ => 2,
    };
    points.sort_by_key(|p| (p.cat, p.name, p.id, p.ts, rank(p.ph), p.ord));
    let mut flows = Vec::with_capacity(points.len() / 2);
    let mut halves = FxHashMap::<u8, (u64, FlowPoint)>::default();
    let mut half = |p: &FlowPoint| {
        let entry = halves.entry(p.ph).or_insert((0, *p));
        entry.0 += 1;
        if p.ord < entry.1.ord {
            entry.1 = *p;
        }
    };
    for group in points.chunk_by(|a, b| (a.cat, a.name, a.id) == (b.cat, b.name, b.id)) {
        let mut last: Option<(FlowPoint, bool)> = None;
        for point in group {
            match (&mut last, point.ph) {
                (_, b's') | (None, _) => {
                    if let Some((p, false)) = last {
                        half(&p);
                    }
                    last = (point.ph != b'f').then_some((*point, false));
                    if point.ph == b'f' {
                        half(point);
                    }
                }
                (Some((src, used)), ph) => {
                    flows.push(Flow { src: *src, dst: *point });
                    *used = true;
                    if ph == b't' {
                        last = Some((*point, true));
                    }
                }
            }
        }
        if let Some((p, false)) = last {
            half(&p);
        }
    }
    for (n, p) in halves.into_values() {
        issues.add_many(Code::FlowHalf, n, Some(p.ord as u64), Some(p.offset), b"");
    }
    flows.sort_by_key(|f| (f.src.ord, f.dst.ord));
    flows
}

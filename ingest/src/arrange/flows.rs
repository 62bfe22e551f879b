//! Arrows between events: connects flow elements that share an id, and thereby the events to which
//! they are attached.

use std::cmp::Ordering;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::nest::NO_ROW;
use super::runs::Runs;
use super::spill::SpillVec;
use crate::error::Result;
use crate::issues::{Code, Issues};

/// A flow element, or a slice that takes part in a flow by `bind_id`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct FlowPoint {
    /// The flow id.
    pub id: i64,
    /// Time, ns.
    pub ts: i64,
    /// Byte offset of the element's text.
    pub offset: u64,
    /// Category, as the id of an interned text.
    pub cat: u32,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// The element's position in the event list.
    pub ord: u32,
    /// The event to which the element is attached, or [`NO_ROW`].
    pub slice: u32,
    /// `s`, `t`, `f`, or `F` for an end after which the id may be used for another flow.
    pub ph: u32,
    /// How the flow id is to be read: [`SIGNED`], [`TEXT`] or [`UNSIGNED`].
    pub is_text: u32,
}

/// A flow id that is a signed number.
pub const SIGNED: u32 = 0;
/// A flow id that is the id of an interned text.
pub const TEXT: u32 = 1;
/// A flow id that is an unsigned number.
pub const UNSIGNED: u32 = 2;

impl FlowPoint {
    /// Elements of one flow are in the order of time; at equal times, starts come first, then
    /// steps, then ends, then file order decides.
    pub fn order(&self, other: &Self) -> Ordering {
        let rank = |ph: u32| match ph as u8 {
            b's' => 0,
            b't' => 1,
            _ => 2,
        };
        let key = |p: &Self| (p.cat, p.name, p.id, p.is_text, p.ts, rank(p.ph), p.ord);
        key(self).cmp(&key(other))
    }

    fn is_of_flow(&self, other: &Self) -> bool {
        let flow = |p: &Self| (p.cat, p.name, p.id, p.is_text);
        flow(self) == flow(other)
    }
}

/// An arrow from one flow element to another.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Arrow {
    /// The flow id.
    pub id: i64,
    /// Time of the start, ns.
    pub src_ts: i64,
    /// Time of the end, ns.
    pub dst_ts: i64,
    /// Position of the start in the event list.
    pub src: u32,
    /// Position of the end in the event list.
    pub dst: u32,
    /// The event to which the start is attached, or [`NO_ROW`].
    pub src_slice: u32,
    /// The event to which the end is attached, or [`NO_ROW`].
    pub dst_slice: u32,
    /// Category, as the id of an interned text.
    pub cat: u32,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// How the flow id is to be read: [`SIGNED`], [`TEXT`] or [`UNSIGNED`].
    pub is_text: u32,
    unused: u32,
}

impl Arrow {
    fn between(src: &FlowPoint, dst: &FlowPoint) -> Self {
        Self {
            id: src.id,
            src_ts: src.ts,
            dst_ts: dst.ts,
            src: src.ord,
            dst: dst.ord,
            src_slice: src.slice,
            dst_slice: dst.slice,
            cat: src.cat,
            name: src.name,
            is_text: src.is_text,
            unused: 0,
        }
    }

    /// Returns the events that the arrow connects, if it is attached to events at both ends.
    pub fn events(&self) -> Option<(u32, u32)> {
        (self.src_slice != NO_ROW && self.dst_slice != NO_ROW)
            .then_some((self.src_slice, self.dst_slice))
    }

    fn order(&self, other: &Self) -> Ordering {
        (self.src, self.dst).cmp(&(other.src, other.dst))
    }
}

/// All arrows, sorted by the position of their start in the event list.
pub type Flows = SpillVec<Arrow>;

/// Connects flow elements that have the same category, name and id. Each start begins a chain, and
/// each step or end is connected to the element before it. Uses about `budget` bytes of memory for
/// each of two lists, and temporary files in `folder`.
pub fn pair_flows(
    points: Runs<FlowPoint>,
    folder: &Path,
    budget: usize,
    issues: &mut Issues,
) -> Result<Flows> {
    let mut arrows = Runs::new(Arrow::order, folder, budget);
    let mut halves = [None; 256];
    let mut half = |p: &FlowPoint| {
        let (count, first) = halves[p.ph as u8 as usize].get_or_insert((0, *p));
        *count += 1;
        if p.ord < first.ord {
            *first = *p;
        }
    };
    // The element to which the next one of its chain is connected, and whether it is itself
    // connected to an earlier one.
    let mut last: Option<(FlowPoint, bool)> = None;
    points.for_each(|point| {
        let ph = point.ph as u8;
        if let Some((before, joined)) = last
            && (ph == b's' || !point.is_of_flow(&before))
        {
            if !joined {
                half(&before);
            }
            last = None;
        }
        match last {
            Some((before, _)) => {
                arrows.push(Arrow::between(&before, point))?;
                last = match ph {
                    b't' => Some((*point, true)),
                    b'F' => None,
                    _ => Some((before, true)),
                };
            }
            None if matches!(ph, b'f' | b'F') => half(point),
            None => last = Some((*point, false)),
        }
        Ok(())
    })?;
    if let Some((before, false)) = last {
        half(&before);
    }
    for (count, first) in halves.into_iter().flatten() {
        issues.add_many(Code::FlowHalf, count, Some(first.ord as u64), Some(first.offset), b"");
    }
    let mut flows = SpillVec::new(folder, budget);
    arrows.for_each(|arrow| flows.push(*arrow))?;
    Ok(flows)
}

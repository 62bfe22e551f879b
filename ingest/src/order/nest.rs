//! Which event encloses which: one pass over each track in row order.
//!
//! The rules: intervals are half-open. An event's parent is the innermost open event that encloses
//! it fully; device work (kernels, copies, fills) is nobody's parent. An event that outlasts the
//! innermost open one *overlaps* it. Zero-length events at the same instant stack; one at the end
//! of another event is not its child. Self time is the duration less the union of the direct
//! children.

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;

use super::flows::FlowPoint;
use super::launches::{Launch, Launches};
use super::open::{Open, OpenEvents};
use super::spill::SpillVec;
use super::tree::Tree;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::*;

/// Stands for no event or no depth.
pub const NO_ROW: u32 = u32::MAX;
/// Bit of [`Nest::depth_and_overlap`].
const OVERLAPS: u32 = 1 << 31;
/// [`Nest::depth_and_overlap`] of a row that takes no part in nesting.
const NO_DEPTH: u32 = OVERLAPS - 1;

/// What nesting adds to a row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Nest {
    /// Duration less the union of the direct children, ns; [`NO_TIME`] if not known.
    pub self_ns: i64,
    /// The parent's position in the event list, or [`NO_ROW`].
    pub parent: u32,
    depth_and_overlap: u32,
    /// Number in an order in which all that an event encloses follows it at once: its row number,
    /// but where events overlap.
    pub pre: u32,
    /// Number of the last descendant, or its own.
    pub post: u32,
}

impl Nest {
    /// Number of ancestors; `None` if the row takes no part in nesting.
    pub fn depth(&self) -> Option<u32> {
        let depth = self.depth_and_overlap & !OVERLAPS;
        (depth != NO_DEPTH).then_some(depth)
    }

    /// Whether the event partly overlaps an earlier one on its track.
    pub fn overlaps(&self) -> bool {
        self.depth_and_overlap & OVERLAPS != 0
    }
}

/// A module at a place in the module tree.
#[derive(Debug, Clone, Copy)]
pub struct ModuleCall {
    /// The enclosing module, by position in the list of modules.
    pub parent: Option<u32>,
    /// Name, as a text number.
    pub name: u32,
    /// First call, ns.
    pub first_ts: i64,
    /// Number of calls.
    pub calls: u64,
}

/// Nests the rows of one track after the other.
pub struct Nester {
    /// What was found for each row, in row order.
    pub nests: SpillVec<Nest>,
    /// Launches.
    pub launches: Launches,
    /// Flow elements and the events they touch.
    pub flow_points: Vec<FlowPoint>,
    /// Modules seen as calls.
    pub modules: Vec<ModuleCall>,
    /// What was odd.
    pub issues: Issues,
    module_ids: FxHashMap<(u32, u32), u32>,
    open: OpenEvents,
    track: u32,
    row: u32,
    waiting: Vec<usize>,
    tree: Tree,
}

impl Nester {
    /// A nester that keeps its rows in `nests`.
    pub fn new(nests: SpillVec<Nest>) -> Self {
        Self {
            nests,
            launches: Launches::default(),
            flow_points: Vec::new(),
            modules: Vec::new(),
            issues: Issues::default(),
            module_ids: FxHashMap::default(),
            open: OpenEvents::default(),
            track: NO_ROW,
            row: 0,
            waiting: Vec::new(),
            tree: Tree::default(),
        }
    }

    /// Takes the next row.
    pub fn row(&mut self, key: &Key) -> Result<()> {
        if key.track != self.track {
            self.finish_track()?;
            self.track = key.track;
        }
        let row = self.row;
        self.row += 1;
        let mut nest = Nest {
            self_ns: NO_TIME,
            parent: NO_ROW,
            depth_and_overlap: NO_DEPTH,
            pre: row,
            post: row,
        };
        let (span, instant) = (key.is_span(), key.is_instant());
        let flow = matches!(key.ph, b's' | b't' | b'f');
        if key.ts != NO_TIME {
            self.close_before(key.ts, key.extent() == 0)?;
        }
        if self.open.is_empty() {
            self.tree.finish(&mut self.nests)?;
        }
        if key.ts == NO_TIME {
            self.tree.add(row, None);
            return self.nests.push(nest);
        }
        if flow {
            self.flow_point(key);
        }
        if !(span || instant) {
            self.tree.add(row, self.open.last().map(|open| open.row));
            return self.nests.push(nest);
        }
        let parent = self.open.parent_of(key);
        self.tree.add(row, parent.map(|at| self.open.get(at).row));
        // The innermost open event is no parent if it is outlasted, or is device work.
        self.tree.mixed |= parent.map_or(0, |at| at + 1) != self.open.len();
        let mut overlaps = 0;
        if span && self.open.last().is_some_and(|top| top.end < key.end()) {
            overlaps = OVERLAPS;
            self.issues.add(Code::PartialOverlap, Some(key.ord as u64), Some(key.offset), b"");
        }
        let mut module = NO_ROW;
        let mut depth = 0;
        if let Some(parent) = parent.map(|at| self.open.get_mut(at)) {
            nest.parent = parent.ord;
            depth = parent.depth + 1;
            module = parent.module;
            let end = key.end();
            if span && end > parent.covered_to {
                parent.children_ns += end.saturating_sub(key.ts.max(parent.covered_to));
                parent.covered_to = end;
            }
        }
        nest.depth_and_overlap = depth | overlaps;
        if key.class().is_launch() {
            let op = self.open.operator_around(key).map_or(NO_ROW, |open| open.ord);
            let graph = key.class() == Class::GraphLaunch;
            let (correlation, shared_id) = (key.correlation(), key.shared_id());
            let launch = Launch {
                correlation,
                shared_id,
                ord: key.ord,
                op,
                track: key.track,
                ts: key.ts,
                offset: key.offset,
                graph,
            };
            if self.launches.add(launch) {
                self.issues.add(
                    Code::DuplicateCorrelation,
                    Some(key.ord as u64),
                    Some(key.offset),
                    b"",
                );
            }
        }
        if span {
            if key.class() == Class::Module {
                module = self.module_call(module, key);
            }
            self.bind_waiting(key.ord);
            if key.has(FLOW_IN | FLOW_OUT) && key.link != NO_LINK {
                let ph = if !key.has(FLOW_IN) {
                    b's'
                } else if key.has(FLOW_OUT) {
                    b't'
                } else {
                    b'f'
                };
                self.flow_points.push(FlowPoint {
                    cat: NO_TEXT,
                    name: NO_TEXT,
                    ..point(key, ph, Some(key.ord))
                });
            }
            let dur = if key.has(OPEN) { NO_TIME } else { key.extent() };
            let open = Open {
                row,
                ord: key.ord,
                ts: key.ts,
                end: key.end(),
                dur,
                covered_to: key.ts,
                children_ns: 0,
                depth,
                module,
            };
            self.open.push(open, key);
        }
        self.nests.push(nest)
    }

    /// Closes the last track. Only then launches can be found.
    pub fn finish(&mut self) -> Result<()> {
        self.launches.finish();
        self.finish_track()
    }

    fn finish_track(&mut self) -> Result<()> {
        while self.open.pop().map(|top| self.close(top)).transpose()?.is_some() {}
        self.waiting.clear();
        self.tree.finish(&mut self.nests)
    }

    /// Closes the innermost events that ended before an event at `ts`.
    fn close_before(&mut self, ts: i64, zero_length: bool) -> Result<()> {
        while let Some(top) = self.open.last()
            && !top.is_open_at(ts, zero_length)
        {
            let top = *top;
            self.open.pop();
            self.close(top)?;
        }
        Ok(())
    }

    fn close(&mut self, top: Open) -> Result<()> {
        // The row being read has no record yet when it closes others.
        let post = self.nests.len() as u32 - 1;
        let self_ns = if top.dur == NO_TIME { NO_TIME } else { top.dur - top.children_ns };
        self.nests.update(top.row as usize, |nest| {
            nest.self_ns = self_ns;
            nest.post = post;
        })
    }

    fn module_call(&mut self, parent: u32, key: &Key) -> u32 {
        let next = self.modules.len() as u32;
        let id = *self.module_ids.entry((parent, key.name)).or_insert(next);
        if id == next {
            let parent = (parent != NO_ROW).then_some(parent);
            self.modules.push(ModuleCall { parent, name: key.name, first_ts: key.ts, calls: 0 });
        }
        let module = &mut self.modules[id as usize];
        module.calls += 1;
        module.first_ts = module.first_ts.min(key.ts);
        id
    }

    /// A start, step, or end with `bp: e` touches the event open at its time; another end the next
    /// event to start.
    fn flow_point(&mut self, key: &Key) {
        if key.link == NO_LINK {
            return;
        }
        let next = key.ph == b'f' && !key.has(BINDS_ENCLOSING);
        // Of events that start at the time of the flow the outermost is the next one; they were
        // seen before it.
        let starts_now = self.open.first_starting_at(key.ts).map(|open| open.ord);
        let slice = if next { starts_now } else { self.open.last().map(|open| open.ord) };
        if next && slice.is_none() {
            self.waiting.push(self.flow_points.len());
        } else if slice.is_none() {
            self.issues.add(Code::FlowUnbound, Some(key.ord as u64), Some(key.offset), b"");
        }
        self.flow_points.push(point(key, key.ph, slice));
    }

    fn bind_waiting(&mut self, ord: u32) {
        for at in self.waiting.drain(..) {
            self.flow_points[at].slice = Some(ord);
        }
    }
}

fn point(key: &Key, ph: u8, slice: Option<u32>) -> FlowPoint {
    FlowPoint {
        cat: key.cat,
        name: key.name,
        id: (key.link, key.has(TEXT_LINK)),
        ph,
        ts: key.ts,
        ord: key.ord,
        offset: key.offset,
        slice,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Complete events of one track in the order of rows.
    fn rows(spans: impl Iterator<Item = (i64, i64, Class)>) -> Vec<Key> {
        let mut keys: Vec<Key> = spans
            .enumerate()
            .map(|(ord, (ts, dur, class))| {
                let (link, flags) = (ord as i64, if class == Class::Op { IS_OP } else { 0 });
                Key {
                    ts,
                    dur,
                    class: class.code(),
                    link,
                    flags,
                    ph: b'X',
                    ord: ord as u32,
                    name: NO_TEXT,
                    ..Key::zeroed()
                }
            })
            .collect();
        keys.sort_by(Key::row_order);
        keys
    }

    fn nested(keys: &[Key]) -> (Vec<Nest>, Nester) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut nester = Nester::new(SpillVec::new(folder.path(), usize::MAX));
        keys.iter().for_each(|key| nester.row(key).expect("a row"));
        nester.finish().expect("the end");
        let mut nests = Vec::new();
        nester.nests.read(0..keys.len(), &mut nests).expect("all");
        (nests, nester)
    }

    /// The latest of the rows before one that fit and enclose it, by the words of the rules.
    fn around(keys: &[Key], row: usize, fits: impl Fn(&Key) -> bool) -> u32 {
        let key = &keys[row];
        let encloses = |k: &&Key| {
            fits(k)
                && key.end() <= k.end()
                && (key.ts < k.end() || (key.extent() == 0 && k.ts == key.ts))
        };
        keys[..row].iter().rev().find(encloses).map_or(NO_ROW, |k| k.ord)
    }

    proptest! {
        #[test]
        fn parents_and_operators_are_the_innermost(spans in prop::collection::vec((0i64..30, 0i64..12, 0u8..4), 0..60)) {
            let class = |n| [Class::Op, Class::Kernel, Class::Launch, Class::Other][n as usize];
            let keys = rows(spans.into_iter().map(|(ts, dur, n)| (ts, dur, class(n))));
            let (nests, nester) = nested(&keys);
            for (row, key) in keys.iter().enumerate() {
                prop_assert_eq!(nests[row].parent, around(&keys, row, |k| k.class().encloses()));
                if key.class() == Class::Launch {
                    let op = nester.launches.find(key.link, key.ts).map(|launch| launch.op);
                    prop_assert_eq!(op, Some(around(&keys, row, |k| k.has(IS_OP))));
                }
            }
        }
    }

    #[test]
    fn overlaps_take_linear_time() {
        let n = 300_000;
        // Each reaches into the next, so that none is over while the next one is open.
        for class in [Class::Other, Class::Kernel, Class::Launch] {
            let (nests, _) = nested(&rows((0..n).map(|i| (2 * i, 3, class))));
            assert!(nests.iter().all(|nest| nest.depth() == Some(0)));
        }
        // None of many that are open encloses what follows.
        let deep = (0..n).map(|i| (i, 2 * (n - i), Class::Op));
        let kernels = (0..n).map(|i| (n, 3 * n + i, Class::Kernel));
        let (nests, _) = nested(&rows(deep.chain(kernels)));
        assert_eq!(nests.iter().filter(|nest| nest.parent == NO_ROW).count() as i64, n + 1);
    }

    #[test]
    fn flows_among_overlaps_take_linear_time() {
        let n = 300_000;
        let mut keys = rows((0..n).map(|i| (2 * i, 3, Class::Other)));
        let flow = |i: i64| Key {
            ts: 2 * i,
            link: i,
            ph: b'f',
            ord: (n + i) as u32,
            dur: NO_TIME,
            ..Key::zeroed()
        };
        keys.extend((0..n).map(flow));
        keys.sort_by(Key::row_order);
        let (_, nester) = nested(&keys);
        assert!(nester.flow_points.iter().all(|point| point.slice == Some(point.ord - n as u32)));
    }
}

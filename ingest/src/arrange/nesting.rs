//! Finds the enclosing event of each event, in one pass over each track in row order.
//!
//! The rules: intervals are half-open. The parent of an event is the innermost open event that
//! encloses it fully. Device work (kernels, copies, fills) is never a parent. An event *overlaps*
//! the innermost open event if it ends after that event. Zero-length events at the same instant are
//! nested in each other. A zero-length event at the end of another event is not its child. Self
//! time is the duration minus the union of the direct children.

use rustc_hash::FxHashMap;

use super::flows::FlowPoint;
use super::launches::{Launch, Launches};
use super::nest::{NO_ROW, Nest};
use super::open_spans::{Open, OpenSpans};
use super::preorder::Tree;
use super::runs::Runs;
use super::spill::SpillVec;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::*;

/// A module at a position in the module tree.
#[derive(Debug, Clone, Copy)]
pub struct ModuleCall {
    /// The enclosing module, as an index into the list of modules.
    pub parent: Option<u32>,
    /// Name, as the id of an interned text.
    pub name: u32,
    /// Start of the first call, ns.
    pub first_ts: i64,
    /// Number of calls.
    pub calls: u64,
}

/// Nests the rows, track by track.
pub struct Nester {
    /// The nesting of each row, in row order.
    pub nests: SpillVec<Nest>,
    /// Calls that may have launched device work.
    pub launches: Launches,
    /// Flow elements and the events to which they are attached.
    pub flow_points: Runs<FlowPoint>,
    /// Modules that occur as Python calls.
    pub modules: Vec<ModuleCall>,
    /// Issues that were found.
    pub issues: Issues,
    module_ids: FxHashMap<(u32, u32), u32>,
    open: OpenSpans,
    track: u32,
    row: u32,
    /// Flow elements that are attached to the next event of the track.
    waiting: Vec<FlowPoint>,
    tree: Tree,
}

impl Nester {
    /// Creates a nester that stores its results in `nests` and `flow_points`. `launches` is the
    /// number of launches.
    pub fn new(nests: SpillVec<Nest>, flow_points: Runs<FlowPoint>, launches: usize) -> Self {
        Self {
            nests,
            launches: Launches::with_room_for(launches),
            flow_points,
            modules: Vec::new(),
            issues: Issues::default(),
            module_ids: FxHashMap::default(),
            open: OpenSpans::default(),
            track: NO_ROW,
            row: 0,
            waiting: Vec::new(),
            tree: Tree::default(),
        }
    }

    /// Adds the next row.
    pub fn row(&mut self, record: &EventRecord) -> Result<()> {
        if record.track != self.track {
            self.finish_track()?;
            self.track = record.track;
        }
        let row = self.row;
        self.row += 1;
        let mut nest = Nest::outside(row);
        if record.ts != NO_TIME {
            self.close_before(record.ts, record.extent() == 0)?;
        }
        if self.open.is_empty() {
            self.tree.finish(&mut self.nests)?;
        }
        if record.ts == NO_TIME {
            self.tree.add(row, None);
            return self.nests.push(nest);
        }
        if matches!(record.ph, b's' | b't' | b'f') {
            self.flow_point(record)?;
        }
        let span = record.is_span();
        if !(span || record.is_instant()) {
            self.tree.add(row, self.open.last().map(|open| open.row));
            return self.nests.push(nest);
        }
        let parent = self.open.parent_of(record);
        self.tree.add(row, parent.map(|at| self.open.get(at).row));
        // The innermost open event is not the parent if it ends before the record or if it is
        // device work.
        self.tree.mixed |= parent.map_or(0, |at| at + 1) != self.open.len();
        let overlaps = span && self.open.last().is_some_and(|top| top.end < record.end());
        if overlaps {
            self.issues.add_at(Code::PartialOverlap, record, b"");
        }
        let (mut module, mut depth) = (NO_ROW, 0);
        if let Some(parent) = parent.map(|at| self.open.get_mut(at)) {
            nest.parent = parent.ord;
            depth = parent.depth + 1;
            module = parent.module;
            if span {
                parent.cover(record.ts, record.end());
            }
        }
        nest.set_depth(depth, overlaps);
        if record.class().is_launch() {
            self.launch(row, record);
        }
        if span {
            self.open_span(row, record, depth, module)?;
        }
        self.nests.push(nest)
    }

    fn launch(&mut self, row: u32, record: &EventRecord) {
        let launch = Launch {
            correlation: record.correlation(),
            ord: record.ord,
            row,
            op: self.open.operator_around(record).map_or(NO_ROW, |open| open.ord),
            track: record.track,
            ts: record.ts,
            offset: record.offset,
            graph: record.class() == Class::GraphLaunch,
        };
        if launch.correlation == NO_LINK {
            self.launches.add_uncorrelated(record.shared_id(), launch);
        } else {
            self.launches.add(launch);
        }
    }

    /// Opens an event with a duration; `module` is the enclosing module.
    fn open_span(
        &mut self,
        row: u32,
        record: &EventRecord,
        depth: u32,
        mut module: u32,
    ) -> Result<()> {
        if record.class() == Class::Module {
            module = self.module_call(module, record);
        }
        self.bind_waiting(record.ord)?;
        if record.has(FLOW_IN | FLOW_OUT) && record.link != NO_LINK {
            let ph = if !record.has(FLOW_IN) {
                b's'
            } else if record.has(FLOW_OUT) {
                b't'
            } else {
                b'f'
            };
            let point = point(record, ph, Some(record.ord));
            self.flow_points.push(FlowPoint { cat: NO_TEXT, name: NO_TEXT, ..point })?;
        }
        let open = Open {
            row,
            ord: record.ord,
            ts: record.ts,
            end: record.end(),
            dur: if record.has(OPEN) { NO_TIME } else { record.extent() },
            covered_to: record.ts,
            children_ns: 0,
            depth,
            module,
        };
        self.open.push(open, record);
        Ok(())
    }

    /// Closes the last track. Launches can be looked up only after this call.
    pub fn finish(&mut self) -> Result<()> {
        self.launches.finish(&mut self.issues);
        self.finish_track()
    }

    fn finish_track(&mut self) -> Result<()> {
        while self.open.pop().map(|top| self.close(top)).transpose()?.is_some() {}
        for point in self.waiting.drain(..) {
            self.flow_points.push(point)?;
        }
        self.tree.finish(&mut self.nests)
    }

    /// Closes the innermost open events that ended before an event at `ts`.
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
        // The row that closes the others is not in `nests` yet.
        let post = self.nests.len() as u32 - 1;
        let self_ns = if top.dur == NO_TIME { NO_TIME } else { top.dur - top.children_ns };
        self.nests.update(top.row as usize, |nest| {
            nest.self_ns = self_ns;
            nest.post = post;
        })
    }

    fn module_call(&mut self, parent: u32, record: &EventRecord) -> u32 {
        let next = self.modules.len() as u32;
        let id = *self.module_ids.entry((parent, record.name)).or_insert(next);
        if id == next {
            let parent = (parent != NO_ROW).then_some(parent);
            self.modules.push(ModuleCall {
                parent,
                name: record.name,
                first_ts: record.ts,
                calls: 0,
            });
        }
        let module = &mut self.modules[id as usize];
        module.calls += 1;
        module.first_ts = module.first_ts.min(record.ts);
        id
    }

    /// Attaches a flow element to an event. A start, a step, or an end with `bp: e` belongs to the
    /// event that is open at its time. Any other end belongs to the next event that starts.
    fn flow_point(&mut self, record: &EventRecord) -> Result<()> {
        if record.link == NO_LINK {
            return Ok(());
        }
        let next = record.ph == b'f' && !record.has(BINDS_ENCLOSING);
        // Among the events that start at the time of the flow, the outermost is the next one. All
        // of them were read before the flow.
        let starts_now = self.open.first_starting_at(record.ts).map(|open| open.ord);
        let slice = if next { starts_now } else { self.open.last().map(|open| open.ord) };
        let point = point(record, record.ph, slice);
        if next && slice.is_none() {
            self.waiting.push(point);
            return Ok(());
        }
        if slice.is_none() {
            self.issues.add_at(Code::FlowUnbound, record, b"");
        }
        self.flow_points.push(point)
    }

    fn bind_waiting(&mut self, ord: u32) -> Result<()> {
        for point in self.waiting.drain(..) {
            self.flow_points.push(FlowPoint { slice: ord, ..point })?;
        }
        Ok(())
    }
}

fn point(record: &EventRecord, ph: u8, slice: Option<u32>) -> FlowPoint {
    FlowPoint {
        cat: record.cat,
        name: record.name,
        id: record.link,
        is_text: record.has(TEXT_LINK).into(),
        ph: ph.into(),
        ts: record.ts,
        ord: record.ord,
        offset: record.offset,
        slice: slice.unwrap_or(NO_ROW),
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use proptest::prelude::*;

    use super::*;

    /// Creates complete events of one track in row order.
    fn rows(spans: impl Iterator<Item = (i64, i64, Class)>) -> Vec<EventRecord> {
        let mut records: Vec<EventRecord> = spans
            .enumerate()
            .map(|(ord, (ts, dur, class))| {
                let (link, flags) = (ord as i64, if class == Class::Op { IS_OP } else { 0 });
                EventRecord {
                    ts,
                    dur,
                    class: class.code(),
                    link,
                    flags,
                    ph: b'X',
                    ord: ord as u32,
                    name: NO_TEXT,
                    ..EventRecord::zeroed()
                }
            })
            .collect();
        records.sort_by(EventRecord::row_order);
        records
    }

    fn nested(records: &[EventRecord]) -> (Vec<Nest>, Nester) {
        let folder = tempfile::tempdir().expect("a folder");
        let flow_points = Runs::new(FlowPoint::order, folder.path(), usize::MAX);
        let nests = SpillVec::new(folder.path(), usize::MAX);
        let mut nester = Nester::new(nests, flow_points, 0);
        records.iter().for_each(|record| nester.row(record).expect("a row"));
        nester.finish().expect("the end");
        let mut nests = Vec::new();
        nester.nests.read(0..records.len(), &mut nests).expect("all");
        (nests, nester)
    }

    /// Returns the latest row before `row` that fits and encloses it, by the definition of the
    /// rules.
    fn around(records: &[EventRecord], row: usize, fits: impl Fn(&EventRecord) -> bool) -> u32 {
        let record = &records[row];
        let encloses = |k: &&EventRecord| {
            fits(k)
                && record.end() <= k.end()
                && (record.ts < k.end() || (record.extent() == 0 && k.ts == record.ts))
        };
        records[..row].iter().rev().find(encloses).map_or(NO_ROW, |k| k.ord)
    }

    proptest! {
        #[test]
        fn parents_and_operators_are_the_innermost(
            spans in prop::collection::vec((0i64..30, 0i64..12, 0u8..4), 0..60),
        ) {
            let class = |n| [Class::Op, Class::Kernel, Class::Launch, Class::Other][n as usize];
            let records = rows(spans.into_iter().map(|(ts, dur, n)| (ts, dur, class(n))));
            let (nests, nester) = nested(&records);
            for (row, record) in records.iter().enumerate() {
                prop_assert_eq!(nests[row].parent, around(&records, row, |k| k.class().encloses()));
                if record.class() == Class::Launch {
                    let op = nester.launches.find(&mut 0, record.link, record.ts);
                    let op = op.map(|launch| launch.op);
                    prop_assert_eq!(op, Some(around(&records, row, |k| k.has(IS_OP))));
                }
            }
        }
    }

    #[test]
    fn overlaps_take_linear_time() {
        let n = 300_000;
        // Each event reaches into the next one, so none has ended when the next one opens.
        for class in [Class::Other, Class::Kernel, Class::Launch] {
            let (nests, _) = nested(&rows((0..n).map(|i| (2 * i, 3, class))));
            assert!(nests.iter().all(|nest| nest.depth() == Some(0)));
        }
        // Many events are open, and none of them encloses the kernels that follow.
        let deep = (0..n).map(|i| (i, 2 * (n - i), Class::Op));
        let kernels = (0..n).map(|i| (n, 3 * n + i, Class::Kernel));
        let (nests, _) = nested(&rows(deep.chain(kernels)));
        assert_eq!(nests.iter().filter(|nest| nest.parent == NO_ROW).count() as i64, n + 1);
    }

    #[test]
    fn flows_among_overlaps_take_linear_time() {
        let n = 300_000;
        let mut records = rows((0..n).map(|i| (2 * i, 3, Class::Other)));
        let flow = |i: i64| EventRecord {
            ts: 2 * i,
            link: i,
            ph: b'f',
            ord: (n + i) as u32,
            dur: NO_TIME,
            ..EventRecord::zeroed()
        };
        records.extend((0..n).map(flow));
        records.sort_by(EventRecord::row_order);
        let (_, nester) = nested(&records);
        let check = |point: &FlowPoint| {
            assert_eq!(point.slice, point.ord - n as u32);
            Ok(())
        };
        nester.flow_points.for_each(check).expect("all points");
    }
}

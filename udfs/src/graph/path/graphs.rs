//! CUDA graphs that could be made: runs of launches in a step without a wait of the host between
//! them, which one launch could replace.

use datafusion_common::HashMap;

use super::bounds::{mark_at, marks};
use super::model::{Model, NONE, Role};
use super::schedule::Schedule;
use super::walk::Window;

/// The graphs of all steps.
pub struct Graphs {
    /// By position of device work, the work of the first call of its graph; [`NONE`] for work that
    /// keeps its launch.
    heads: Vec<u32>,
    /// Time of threads that only serves to launch work: when it ends, by how much the thread moves,
    /// and which thread.
    pub removed: Vec<(i64, i64, u32)>,
}

/// A launch: where it belongs to, when, the call and the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Launch {
    domain: u32,
    start: i64,
    call: u32,
    work: u32,
}

impl Graphs {
    /// Finds the graphs. A call that waits for the device and the loading of data cannot be part of
    /// a graph, so a new one begins after them, and so it does with each step. Work that is launched
    /// outside of steps, or by a call that waits for it, keeps its launch.
    pub fn new(model: &Model, schedule: &Schedule, windows: &[Window]) -> Self {
        let marks = marks(model, windows);
        let (mut launches, mut breaks) = (Vec::new(), Vec::new());
        for at in model.positions() {
            let activity = model.activity(at);
            let domain = model.domain_of(at);
            if activity.role == Role::Device {
                let call = activity.above;
                if call != NONE && !waits(model, call) {
                    let start = model.activity(call).start;
                    launches.push(Launch { domain, start, call, work: at });
                }
            } else if activity.role == Role::Loading || waits(model, at) {
                breaks.push((domain, activity.start));
            }
        }
        launches.sort_unstable();
        breaks.sort_unstable();
        let graph_of = |launch: &Launch| {
            let mark = mark_at(&marks, launch.domain, launch.start)?;
            let part = breaks.partition_point(|at| *at <= (launch.domain, launch.start));
            Some((mark, part))
        };
        let mut ended: Vec<(u32, i64)> = schedule.waits.iter().map(|w| (w.lane, w.until)).collect();
        ended.sort_unstable();
        let mut graphs = Self { heads: vec![NONE; model.positions().len()], removed: Vec::new() };
        for graph in launches.chunk_by(|a, b| graph_of(a) == graph_of(b)) {
            if graph_of(&graph[0]).is_some() {
                graphs.join(model, graph, &ended);
            }
        }
        graphs.removed.sort_unstable();
        graphs
    }

    /// The work whose call launches the graph of this work, if that is another call.
    pub fn head(&self, at: u32) -> Option<u32> {
        self.heads.get(at as usize).copied().filter(|head| *head != NONE)
    }

    /// Makes one launch of several. A thread that launches work of the graph does nothing else from
    /// the first launch on, except for waiting for other threads.
    fn join(&mut self, model: &Model, graph: &[Launch], ended: &[(u32, i64)]) {
        let first = graph[0];
        let begun = model.activity(first.call).end;
        let mut reached: HashMap<u32, i64> = HashMap::new();
        for launch in graph.iter().filter(|launch| launch.call != first.call) {
            self.heads[launch.work as usize] = first.work;
            let call = model.activity(launch.call);
            let from = reached.entry(call.lane).or_insert(begun);
            let after = ended.partition_point(|wait| *wait <= (call.lane, call.start));
            if let Some((lane, until)) = after.checked_sub(1).map(|at| ended[at])
                && lane == call.lane
            {
                *from = (*from).max(until);
            }
            if call.end > *from {
                self.removed.push((call.end, *from - call.end, call.lane));
                *from = call.end;
            }
        }
    }
}

/// Whether a call waits for the device.
fn waits(model: &Model, at: u32) -> bool {
    let role = model.activity(at).role;
    let is_call = !matches!(role, Role::Device | Role::Frame | Role::Loading);
    matches!(role, Role::OwnWait | Role::DeviceWait)
        || is_call && model.orders.of_calls.contains_key(&at)
}

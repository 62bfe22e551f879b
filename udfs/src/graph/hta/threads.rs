//! Edges between nodes of the host: the lock of the CUDA runtime, and the call stacks of threads.

use std::collections::{BTreeMap, BTreeSet};

use datafusion_common::HashMap;

use super::edges::{Graph, Kind};
use super::events::Event;

/// Calls that HTA takes to hold a lock of the runtime.
const LOCKING: [&str; 3] = ["cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"];

/// Calls whose last part weighs nothing.
const BLOCKING: [&str; 6] = [
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
];

/// Orders calls that overlap on several threads by their ends.
pub fn runtime_lock(graph: &mut Graph<'_>) {
    let mut open: Vec<u32> = Vec::new();
    let mut last: Option<u32> = None;
    let count = u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    for node in 0..count {
        if !LOCKING.contains(&graph.event_of(node).name) {
            continue;
        }
        if graph.node(node).is_start {
            open.push(node);
        } else {
            let event = graph.node(node).event;
            while let Some(begin) = open.pop() {
                let same = graph.node(begin).event == event;
                let kind = if same { Kind::Operator } else { Kind::Dependency };
                graph.add(begin, node, kind, Some(event));
            }
            if let Some(before) = last.filter(|l| !graph.node(*l).is_start) {
                graph.add(before, node, Kind::Dependency, None);
            }
        }
        last = Some(node);
    }
}

/// Adds edges along the call stack of each thread.
pub fn call_stacks(graph: &mut Graph<'_>, clipped: &[u32]) {
    let rows = &graph.events().rows;
    let event = |row: u32| &rows[row as usize];
    let only_thread = |word: &str| {
        let named = clipped
            .iter()
            .map(|row| event(*row))
            .filter(|e| matches!(e.cat, "cpu_op" | "user_annotation") && e.name.contains(word));
        let tids: BTreeSet<&str> = named.map(|e| e.tid).collect();
        let is_true = |tid: &&str| !matches!(*tid, "0" | "''" | "None");
        tids.first().copied().filter(|_| tids.len() == 1).filter(is_true)
    };
    // The thread of the backward pass continues that of the forward pass.
    let (forward, backward) = (only_thread("forward"), only_thread("autograd"));
    let mut by_ids: HashMap<(&str, &str), Vec<u32>> = HashMap::new();
    for row in clipped {
        let own = event(*row).tid;
        let tid = forward.filter(|_| backward == Some(own)).unwrap_or(own);
        by_ids.entry((event(*row).pid, tid)).or_default().push(*row);
    }
    // HTA knows threads by a text.
    let mut threads: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for ((pid, tid), mut rows) in by_ids {
        threads.entry(format!("({pid}, {tid})")).or_default().append(&mut rows);
    }
    for thread in threads.values_mut() {
        thread.sort_unstable();
        if thread.iter().all(|row| event(*row).stream < 0) {
            call_stack(graph, thread);
        }
    }
}

/// The begin (`true`) or end of an event, by its place among those of the thread.
type Visit = (u32, bool);

/// Stands for no place.
const NONE: u32 = u32::MAX;

fn call_stack(graph: &mut Graph<'_>, thread: &[u32]) {
    let (visits, parents) = walk(&graph.events().rows, thread);
    let row_of = |place: u32| thread.get(place as usize).copied();
    let (mut last, mut last_parent, mut depth) = (None, None, 0i64);
    for (place, is_start) in visits {
        let Some(row) = row_of(place) else { continue };
        let node = if is_start { graph.start(row) } else { graph.end(row) };
        // Events without nodes do not count for the depth either.
        let (Some(node), true) = (node, graph.start(row).is_some()) else { continue };
        if let Some(before) = last.filter(|before| !is_locked(graph, *before, node)) {
            if is_start {
                let kind = if depth == 0 { Kind::Dependency } else { Kind::Operator };
                graph.add(before, node, kind, last_parent);
            } else if BLOCKING.contains(&graph.event_of(node).name) {
                graph.add_blocking(before, node, last_parent);
            } else {
                graph.add(before, node, Kind::Operator, last_parent);
            }
        }
        (last, last_parent) = (Some(node), row_of(parents[place as usize]));
        depth += if is_start { 1 } else { -1 };
    }
}

/// Whether the lock of the runtime already joins two nodes.
fn is_locked(graph: &Graph<'_>, from: u32, to: u32) -> bool {
    let both = [from, to].iter().all(|node| LOCKING.contains(&graph.event_of(*node).name));
    both && (graph.node(from).is_start || !graph.node(to).is_start)
}

/// Visits the tree of a thread depth first. The tree is HTA's: an end closes whatever event is
/// innermost. Also returns the parents by place; [`NONE`] for events without one.
fn walk(rows: &[Event<'_>], thread: &[u32]) -> (Vec<Visit>, Vec<u32>) {
    let mut points: Vec<(i64, bool, i64, i64, u32)> = Vec::with_capacity(thread.len() * 2);
    for (place, row) in (0u32..).zip(thread) {
        let event = &rows[*row as usize];
        let dur = event.dur.max(0);
        // At equal times ends come first, the shortest first; of starts, the longest.
        points.push((event.ts, true, -dur, event.id, place));
        points.push((event.ts.saturating_add(dur), false, dur, -event.id, place));
    }
    points.sort_unstable();
    let mut parents = vec![NONE; thread.len()];
    // The child that began last, and the sibling that began before.
    let (mut children, mut siblings) = (vec![NONE; thread.len()], vec![NONE; thread.len()]);
    let (mut outermost, mut open): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for (_, is_start, _, _, place) in points {
        if !is_start {
            open.pop();
            continue;
        }
        match open.last() {
            Some(parent) => {
                parents[place as usize] = *parent;
                let last = std::mem::replace(&mut children[*parent as usize], place);
                siblings[place as usize] = last;
            }
            None => outermost.push(place),
        }
        open.push(place);
    }
    let mut visits = Vec::with_capacity(thread.len() * 2);
    let mut todo: Vec<Visit> = outermost.into_iter().rev().map(|place| (place, true)).collect();
    while let Some((place, is_start)) = todo.pop() {
        if is_start {
            todo.push((place, false));
            let mut child = children[place as usize];
            while child != NONE {
                todo.push((child, true));
                child = siblings[child as usize];
            }
        }
        visits.push((place, is_start));
    }
    (visits, parents)
}

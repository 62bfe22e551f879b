//! Edges to and between nodes of the device: launches, the order of streams, synchronisation.

use datafusion_common::HashMap;

use super::edges::{Graph, Kind};
use super::events::Events;

/// Gaps between two activities of a stream from which on HTA adds no edge, in microseconds.
const MAX_KERNEL_GAP_US: i64 = 1500;

/// Adds the edges of all device rows of the window.
pub fn add(graph: &mut Graph<'_>, clipped: &[u32]) {
    let events = graph.events();
    let event = |row: u32| &events.rows[row as usize];
    let links = EventLinks::new(events);
    let lengths = events.queue_lengths();
    let length = |row: u32| lengths.get(&row).copied();
    let mut order: Vec<u32> = clipped
        .iter()
        .copied()
        .filter(|row| {
            let e = event(*row);
            (e.stream != -1 || e.is_host_sync()) && e.peer >= 0
        })
        .collect();
    order.sort_by_key(|row| {
        let e = event(*row);
        (if e.cat == "cuda_sync" { e.end() } else { e.ts }, e.id)
    });
    let mut tails = Tails::default();
    let mut waiting: HashMap<u32, u32> = HashMap::new();
    for row in order {
        let e = event(row);
        let call = events.peer(row);
        if e.cat == "cuda_sync" {
            let call_end = call.and_then(|call| graph.end(call));
            match e.name {
                "Stream Wait Event" | "Event Sync" => {
                    let Some(source) = links.source(e.wait_correlation) else { continue };
                    if e.name == "Stream Wait Event" {
                        let target = call.and_then(|call| links.target(call));
                        waiting.extend(target.map(|target| (target, source)));
                    } else if let (Some(from), Some(to)) = (graph.end(source), call_end) {
                        graph.add(from, to, Kind::Sync, None);
                    }
                }
                "Context Sync" => {
                    for (from, to) in tails.all().into_iter().zip(std::iter::repeat(call_end)) {
                        if let Some(to) = to {
                            graph.add(from, to, Kind::Sync, None);
                        }
                    }
                }
                _ => {
                    if let (Some(from), Some(to)) = (tails.of(e.stream), call_end) {
                        graph.add(from, to, Kind::Sync, None);
                    }
                }
            }
            continue;
        }
        let (Some(start), Some(end)) = (graph.start(row), graph.end(row)) else { continue };
        graph.add(start, end, Kind::Operator, None);
        let sync = waiting.remove(&row).and_then(|source| graph.end(source));
        if let Some(sync) = sync {
            graph.add(sync, start, Kind::Sync, None);
        }
        let time = |node: Option<u32>| node.map(|node| graph.node(node).time);
        let last = tails.of(e.stream);
        let (last_time, sync_time) = (time(last), time(sync));
        let starts_empty = call.filter(|call| length(*call) == Some(1) && length(row) == Some(0));
        let after_both = starts_empty.filter(|call| {
            let launch = event(*call).ts;
            last_time.is_none_or(|t| t < launch) && sync_time.is_none_or(|t| t < launch)
        });
        if let Some(launch) = after_both.and_then(|call| graph.start(call)) {
            graph.add(launch, start, Kind::Launch, None);
        } else if let (Some(last), Some(before)) = (last, last_time)
            && graph.node(start).time - before < MAX_KERNEL_GAP_US
            && sync_time.is_none_or(|t| t < before)
        {
            graph.add(last, start, Kind::KernelKernel, None);
        }
        tails.set(e.stream, end);
    }
}

/// The end of the last activity of each stream, in the order in which streams first occur.
#[derive(Default)]
struct Tails(Vec<(i64, u32)>);

impl Tails {
    fn of(&self, stream: i64) -> Option<u32> {
        self.0.iter().find(|(of, _)| *of == stream).map(|(_, node)| *node)
    }

    fn all(&self) -> Vec<u32> {
        self.0.iter().map(|(_, node)| *node).collect()
    }

    fn set(&mut self, stream: i64, node: u32) {
        match self.0.iter_mut().find(|(of, _)| *of == stream) {
            Some((_, known)) => *known = node,
            None => self.0.push((stream, node)),
        }
    }
}

/// Times of launches with the rows of their activities.
type Launches = Vec<(i64, u32)>;

/// The activities before recorded events and after waits for them.
struct EventLinks {
    /// The last activity before a cudaEventRecord, by its correlation.
    sources: HashMap<i64, u32>,
    /// The next activity after a cudaStreamWaitEvent, by its row.
    targets: HashMap<u32, u32>,
}

impl EventLinks {
    fn source(&self, correlation: i64) -> Option<u32> {
        self.sources.get(&correlation).copied()
    }

    fn target(&self, call: u32) -> Option<u32> {
        self.targets.get(&call).copied()
    }

    fn new(events: &Events<'_>) -> Self {
        let rows = &events.rows;
        // Launches with their activity.
        let mut launches: Vec<(u32, u32)> = (0..)
            .zip(rows)
            .filter(|(_, e)| e.is_launch())
            .filter_map(|(row, _)| Some((row, events.peer(row)?)))
            .filter(|(_, on)| rows[*on as usize].stream != -1 && rows[*on as usize].peer > 0)
            .collect();
        launches.sort_by_key(|(row, _)| (rows[*row as usize].ts, rows[*row as usize].id));
        let mut recorded_on: HashMap<i64, (i64, &str)> = HashMap::new();
        for e in rows.iter().filter(|e| e.wait_stream > -1) {
            recorded_on.entry(e.wait_correlation).or_insert((e.wait_stream, e.pid));
        }
        let mut on_stream: HashMap<(i64, &str), Launches> = HashMap::new();
        let mut by_thread: HashMap<(&str, &str, i64), Launches> = HashMap::new();
        for (row, on) in &launches {
            let (launch, activity) = (&rows[*row as usize], &rows[*on as usize]);
            let queue = on_stream.entry((activity.stream, activity.pid)).or_default();
            queue.push((launch.ts, *on));
            let queue = by_thread.entry((launch.pid, launch.tid, activity.stream)).or_default();
            queue.push((launch.ts, *on));
        }
        let (mut sources, mut targets) = (HashMap::new(), HashMap::new());
        for (row, e) in (0..).zip(rows) {
            if e.name == "cudaEventRecord"
                && let Some(queue) = recorded_on.get(&e.correlation).and_then(|k| on_stream.get(k))
            {
                let before = queue.partition_point(|(ts, _)| *ts <= e.ts);
                sources.extend(before.checked_sub(1).map(|at| (e.correlation, queue[at].1)));
            }
            if e.name == "cudaStreamWaitEvent"
                && e.peer > 0
                && let Some(on) = events.peer(row)
                && let Some(queue) = by_thread.get(&(e.pid, e.tid, rows[on as usize].stream))
            {
                let after = queue.partition_point(|(ts, _)| *ts < e.ts);
                targets.extend(queue.get(after).map(|(_, activity)| (row, *activity)));
            }
        }
        Self { sources, targets }
    }
}

//! The nodes and edges of HTA's graph.

use datafusion_common::HashMap;

use super::devices;
use super::events::{Event, Events};
use super::threads;

/// Stands for no node.
const NONE: u32 = u32::MAX;

/// The type of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Time of an operator or a kernel.
    Operator,
    /// Order without time.
    Dependency,
    /// Time from a launch to the start of its activity.
    Launch,
    /// Time between two activities of a stream.
    KernelKernel,
    /// A synchronisation, without time.
    Sync,
}

impl Kind {
    /// HTA's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Dependency => "dependency",
            Self::Launch => "kernel_launch_delay",
            Self::KernelKernel => "kernel_kernel_delay",
            Self::Sync => "sync_dependency",
        }
    }
}

/// The start or the end of an event.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Row of the event.
    pub event: u32,
    pub is_start: bool,
    pub time: i64,
}

/// An edge between two nodes.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub kind: Kind,
    pub weight: i64,
    /// Row of the event that the time belongs to.
    pub owner: Option<u32>,
}

/// The graph of a window.
pub struct Graph<'a> {
    pub nodes: Vec<Node>,
    /// Edges in the order in which their pairs of nodes were first joined.
    pub edges: Vec<Edge>,
    events: &'a Events<'a>,
    /// Nodes of the start and the end of each row; [`NONE`] for rows without nodes.
    of_event: Vec<[u32; 2]>,
    of_pair: HashMap<(u32, u32), u32>,
}

impl<'a> Graph<'a> {
    /// Builds the graph of the rows of a window.
    pub fn new(events: &'a Events<'a>, clipped: &[u32]) -> Self {
        let mut nodes = Vec::new();
        for row in clipped.iter().filter(|row| has_nodes(&events.rows[**row as usize])) {
            let event = &events.rows[*row as usize];
            nodes.push(Node { event: *row, is_start: true, time: event.ts });
            nodes.push(Node { event: *row, is_start: false, time: event.end() });
        }
        nodes.sort_unstable_by_key(|n| (n.time, events.rows[n.event as usize].id, !n.is_start));
        let mut of_event = vec![[NONE; 2]; events.rows.len()];
        for (at, node) in (0..).zip(&nodes) {
            of_event[node.event as usize][usize::from(!node.is_start)] = at;
        }
        let edges = Vec::with_capacity(nodes.len());
        let of_pair = HashMap::with_capacity(nodes.len());
        let mut graph = Self { nodes, edges, events, of_event, of_pair };
        threads::runtime_lock(&mut graph);
        threads::call_stacks(&mut graph, clipped);
        devices::add(&mut graph, clipped);
        graph
    }

    pub fn events(&self) -> &'a Events<'a> {
        self.events
    }

    /// The node of the start of a row.
    pub fn start(&self, row: u32) -> Option<u32> {
        self.node_of(row, 0)
    }

    /// The node of the end of a row.
    pub fn end(&self, row: u32) -> Option<u32> {
        self.node_of(row, 1)
    }

    fn node_of(&self, row: u32, side: usize) -> Option<u32> {
        let node = self.of_event.get(row as usize)?[side];
        (node != NONE).then_some(node)
    }

    pub fn node(&self, node: u32) -> Node {
        self.nodes[node as usize]
    }

    /// The event of a node.
    pub fn event_of(&self, node: u32) -> &'a Event<'a> {
        &self.events.rows[self.node(node).event as usize]
    }

    /// Adds an edge whose weight is the time between its nodes. It replaces an earlier edge of the
    /// same nodes. `parent` is the event around both if neither node says which one the time
    /// belongs to.
    pub fn add(&mut self, from: u32, to: u32, kind: Kind, parent: Option<u32>) {
        let time = self.node(to).time - self.node(from).time;
        let weight = if matches!(kind, Kind::Dependency | Kind::Sync) { 0 } else { time };
        self.put(from, to, kind, weight, parent);
    }

    /// Adds an operator edge without time.
    pub fn add_blocking(&mut self, from: u32, to: u32, parent: Option<u32>) {
        self.put(from, to, Kind::Operator, 0, parent);
    }

    fn put(&mut self, from: u32, to: u32, kind: Kind, weight: i64, parent: Option<u32>) {
        let (begin, end) = (self.node(from), self.node(to));
        let owner = match kind {
            Kind::KernelKernel => Some(begin.event),
            Kind::Operator if begin.is_start => Some(begin.event),
            Kind::Operator if !end.is_start => Some(end.event),
            Kind::Operator => parent,
            _ => None,
        };
        let edge = Edge { from, to, kind, weight, owner };
        let next = u32::try_from(self.edges.len()).unwrap_or(NONE);
        match *self.of_pair.entry((from, to)).or_insert(next) {
            known if known < next => self.edges[known as usize] = edge,
            _ => self.edges.push(edge),
        }
    }

    /// HTA's name for what an edge is bound by; `None` where the owner is not known.
    pub fn bound_by(&self, events: &Events<'_>, edge: &Edge) -> Option<&'static str> {
        match edge.kind {
            Kind::KernelKernel => Some("gpu_kernel_kernel_overhead"),
            Kind::Launch => Some("gpu_kernel_launch_overhead"),
            Kind::Dependency | Kind::Sync => Some(""),
            Kind::Operator => {
                let owner = &events.rows[edge.owner? as usize];
                let prefixes = ["nccl", "hip", "hccl"];
                Some(if owner.stream < 0 {
                    "cpu_bound"
                } else if prefixes.iter().any(|p| owner.name.starts_with(p))
                    || owner.name.contains("ncclKernel")
                {
                    "gpu_communication_bound"
                } else {
                    "gpu_compute_bound"
                })
            }
        }
    }
}

fn has_nodes(event: &Event<'_>) -> bool {
    matches!(event.cat, "cpu_op" | "cuda_runtime" | "cuda_driver")
        || (event.stream != -1 && event.peer >= 0)
}

//! Numbers of GPUs and ids of processes. Nodes, and processes that see only some of the GPUs, use
//! the same numbers for different ones.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json};

use crate::error::Result;
use crate::import::typed::TypedWriter;
use crate::issues::Code;
use crate::trace::Id;

/// A computer, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Node {
    pub host: Option<String>,
    pub machine: Option<String>,
}

impl Node {
    /// Returns what the node is called.
    pub fn name(&self) -> Option<&str> {
        self.host.as_deref().or(self.machine.as_deref())
    }
}

/// What tells a GPU of a node from another one.
const MARKS: [&str; 7] =
    ["uuid", "location_id", "domain", "node_id", "absolute_index", "product_name", "name"];

/// What tells GPUs with the same number apart.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub node: Node,
    marks: [Option<String>; MARKS.len()],
}

impl Identity {
    /// Takes the marks of a GPU from the values of its agent.
    pub fn new(node: Node, value: impl Fn(&str) -> Option<String>) -> Self {
        Self { node, marks: MARKS.map(value) }
    }

    fn is_known(&self) -> bool {
        self.marks.iter().any(Option::is_some)
    }

    /// Whether no other GPU of the node has it. These marks are numbers in the node, whatever a
    /// process sees of it.
    fn is_unique(&self) -> bool {
        MARKS
            .iter()
            .zip(&self.marks)
            .any(|(name, mark)| matches!(*name, "node_id" | "absolute_index") && mark.is_some())
    }
}

/// Returns the text of a value, if it is not empty.
pub fn mark(value: Option<&Json>) -> Option<String> {
    match value? {
        Json::Null => None,
        Json::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}

/// A GPU as an agent describes it.
pub struct Gpu {
    /// What refers to the agent.
    pub id: i64,
    /// The number that the agent states.
    pub stated: i64,
    pub identity: Identity,
    pub properties: Map<String, Json>,
}

/// The GPUs of a file.
#[derive(Default)]
pub struct Devices {
    /// Numbers of the GPUs by their identity, and by the number that their agents state unless the
    /// identity is unique.
    numbers: FxHashMap<(Option<i64>, Identity), i64>,
    properties: BTreeMap<i64, Map<String, Json>>,
    /// Numbers that agents state, including those whose GPU has no number yet.
    stated: FxHashSet<i64>,
    /// The number after all that agents state.
    next: i64,
    /// A GPU that several agents describe without saying which one it is.
    shared: Option<i64>,
}

impl Devices {
    /// Returns the numbers of the GPUs of a process, with the ids of their agents. A GPU keeps the
    /// number that its agent states, unless a known GPU with another identity has it.
    pub fn add(&mut self, gpus: Vec<Gpu>) -> Vec<(i64, i64)> {
        for stated in gpus.iter().map(|gpu| gpu.stated) {
            self.stated.insert(stated);
            self.next = self.next.max(stated.saturating_add(1));
        }
        gpus.into_iter().map(|gpu| (gpu.id, self.number(gpu))).collect()
    }

    fn number(&mut self, gpu: Gpu) -> i64 {
        let Gpu { stated, identity, mut properties, .. } = gpu;
        let (is_known, node) = (identity.is_known(), identity.node.name().map(str::to_owned));
        let key = (Some(stated).filter(|_| !identity.is_unique()), identity);
        if let Some(&number) = self.numbers.get(&key) {
            if !is_known {
                self.shared.get_or_insert(number);
            }
            return number;
        }
        let mut number = stated;
        if self.properties.contains_key(&stated) {
            number = self.free();
            properties.insert("id".to_owned(), number.into());
            properties.insert("agent_number".to_owned(), stated.into());
            properties.insert("agent_node".to_owned(), node.map_or(Json::Null, Json::String));
        }
        self.numbers.insert(key, number);
        self.properties.insert(number, properties);
        number
    }

    /// Returns a number that no GPU has and no known agent states.
    fn free(&mut self) -> i64 {
        while self.properties.contains_key(&self.next) || self.stated.contains(&self.next) {
            self.next = self.next.checked_add(1).unwrap_or(0);
        }
        self.next
    }

    /// Writes the properties of all GPUs.
    pub fn finish(&mut self, writer: &mut TypedWriter<'_>) -> Result<()> {
        if let Some(device) = self.shared {
            let example = format!("device {device}");
            writer.issue(Code::SharedDevice, false, example.as_bytes());
        }
        let devices: Vec<Json> =
            std::mem::take(&mut self.properties).into_values().map(Json::Object).collect();
        if devices.is_empty() {
            return Ok(());
        }
        writer.value("deviceProperties", Json::Array(devices).to_string().as_bytes())
    }
}

/// The processes of a file by number, with the first node that has a process of the number.
#[derive(Default)]
pub struct Processes {
    nodes: FxHashMap<i64, Option<String>>,
}

impl Processes {
    /// Returns the id of a process: its number, or a text if another node has such a process.
    pub fn id(&mut self, writer: &TypedWriter<'_>, pid: i64, node: &Node) -> Id {
        let name = node.name();
        let first = self.nodes.entry(pid).or_insert_with(|| name.map(str::to_owned));
        match (first.as_deref(), name) {
            (Some(first), Some(name)) if first != name => {
                Id::Text(writer.intern_always(&format!("{pid} ({name})")))
            }
            _ => Id::Int(pid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(id: i64, stated: i64, host: Option<&str>, name: Option<&str>) -> Gpu {
        let node = Node { host: host.map(str::to_owned), machine: None };
        let value = |key: &str| name.filter(|_| key == "name").map(str::to_owned);
        Gpu { id, stated, identity: Identity::new(node, value), properties: Map::new() }
    }

    #[test]
    fn only_gpus_with_another_identity_get_another_number() {
        let mut devices = Devices::default();
        let of = |host, name| vec![gpu(1, 0, host, name), gpu(2, 1, host, name)];
        assert_eq!(devices.add(vec![gpu(7, 0, Some("a"), Some("x"))]), [(7, 0)]);
        assert_eq!(devices.add(of(Some("b"), Some("x"))), [(1, 2), (2, 1)]);
        assert_eq!(devices.add(of(Some("b"), Some("x"))), [(1, 2), (2, 1)]);
        assert_eq!(devices.add(of(Some("a"), Some("x"))), [(1, 0), (2, 3)]);
        assert_eq!(devices.shared, None);
    }

    #[test]
    fn a_gpu_has_one_number_whatever_processes_see() {
        let see = |stated: i64, index: &str| {
            let value = |key: &str| (key == "absolute_index").then(|| index.to_owned());
            let identity = Identity::new(Node::default(), value);
            Gpu { id: stated, stated, identity, properties: Map::new() }
        };
        let mut devices = Devices::default();
        assert_eq!(devices.add(vec![see(0, "4"), see(1, "5")]), [(0, 0), (1, 1)]);
        assert_eq!(devices.add(vec![see(0, "5")]), [(0, 1)], "a process that sees the second");
        assert_eq!(devices.add(vec![see(0, "6")]), [(0, 2)]);
    }

    #[test]
    fn gpus_that_nothing_describes_are_shared() {
        let mut devices = Devices::default();
        devices.add(vec![gpu(1, 4, None, None)]);
        assert_eq!(devices.shared, None);
        assert_eq!(devices.add(vec![gpu(9, 4, None, None)]), [(9, 4)]);
        assert_eq!(devices.shared, Some(4));
    }
}

//! Processes, threads, agents, queues, streams and counters of a rocpd database.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use super::devices::{Gpu, Identity, Node, mark};
use super::rocpd::Shared;
use crate::error::Result;
use crate::sqlite::{Database, Row, Table};
use crate::trace::{Id, MetaKind};

/// An agent: a CPU or a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Whether the agent is a GPU.
    pub is_gpu: bool,
    /// The number of the agent among those of its type.
    pub number: i64,
}

/// A counter.
pub struct Counter {
    /// The name of the counter.
    pub name: String,
    /// The number of the agent that counts.
    pub agent: Option<i64>,
}

/// Numbers of the process, thread and name of a track.
pub type TrackNumbers = (Option<i64>, Option<i64>, Option<i64>);

/// The rows that events of a process refer to, by their number.
pub struct Info<'d> {
    pub nodes: FxHashMap<i64, Node>,
    /// Numbers of processes in the operating system, with what tells them from other nodes'.
    pub processes: FxHashMap<i64, (i64, Id)>,
    /// Numbers of threads in the operating system, with the row of their process.
    pub threads: FxHashMap<i64, (i64, Option<i64>)>,
    pub agents: FxHashMap<i64, Agent>,
    pub streams: FxHashMap<i64, String>,
    pub counters: FxHashMap<i64, Counter>,
    /// Tracks of samples.
    pub tracks: FxHashMap<i64, TrackNumbers>,
    /// Kernels by number.
    pub kernels: Option<crate::sqlite::Lookup<'d>>,
}

impl<'d> Info<'d> {
    /// Reads all tables except that of kernels, which is read where a dispatch needs it.
    pub fn read(db: &'d Database<'_>, suffix: &str, shared: &mut Shared<'_>) -> Result<Self> {
        let mut tables = Tables { db, suffix, shared };
        let mut info = Self {
            nodes: FxHashMap::default(),
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            agents: FxHashMap::default(),
            streams: tables.names("rocpd_info_stream")?,
            counters: FxHashMap::default(),
            tracks: FxHashMap::default(),
            kernels: db.lookup(&format!("rocpd_info_kernel_symbol{suffix}"), "id")?,
        };
        tables.metadata()?;
        tables.nodes(&mut info)?;
        tables.processes(&mut info)?;
        tables.threads(&mut info)?;
        tables.agents(&mut info)?;
        tables.counters(&mut info)?;
        tables.tracks(&mut info)?;
        let symbols = format!("rocpd_info_kernel_symbol{suffix}");
        shared.read.insert(symbols);
        for base in ["rocpd_string", "rocpd_event"] {
            shared.read.insert(format!("{base}{suffix}"));
        }
        Ok(info)
    }
}

impl Info<'_> {
    fn node(&self, row: Option<i64>) -> Node {
        row.and_then(|row| self.nodes.get(&row)).cloned().unwrap_or_default()
    }
}

struct Tables<'s, 'd, 'a> {
    db: &'d Database<'d>,
    suffix: &'s str,
    shared: &'s mut Shared<'a>,
}

/// Returns an integer of a row.
fn int(row: &Row<'_>, table: &Table, column: &str) -> Option<i64> {
    row.int(table.column(column), &mut false)
}

/// Returns a text of a row, if it is not empty.
fn text(row: &Row<'_>, table: &Table, column: &str) -> Option<String> {
    row.text(table.column(column)).filter(|text| !text.is_empty()).map(|text| text.into_owned())
}

impl<'d> Tables<'_, 'd, '_> {
    fn scan(
        &mut self,
        base: &str,
        mut each: impl FnMut(&Table, Row<'_>, &mut Shared<'_>),
    ) -> Result<()> {
        let Some(table) = self.db.table(&format!("{base}{}", self.suffix)) else { return Ok(()) };
        self.shared.read.insert(table.name.clone());
        self.db.scan(table, |row| {
            each(table, row, self.shared);
            Ok(())
        })
    }

    fn names(&mut self, base: &str) -> Result<FxHashMap<i64, String>> {
        let mut names = FxHashMap::default();
        self.scan(base, |table, row, _| {
            if let (Some(id), Some(name)) = (int(&row, table, "id"), text(&row, table, "name")) {
                names.insert(id, name);
            }
        })?;
        Ok(names)
    }

    fn metadata(&mut self) -> Result<()> {
        self.scan("rocpd_metadata", |table, row, shared| {
            if let (Some(tag), Some(value)) = (text(&row, table, "tag"), text(&row, table, "value"))
                && tag == "schema_version"
            {
                shared.values.insert(tag, value.into());
            }
        })
    }

    fn nodes(&mut self, info: &mut Info<'_>) -> Result<()> {
        self.scan("rocpd_info_node", |table, row, shared| {
            let host = text(&row, table, "hostname");
            if let Some(host) = &host {
                shared.values.entry("host").or_insert(host.clone().into());
            }
            if let Some(id) = int(&row, table, "id") {
                info.nodes.insert(id, Node { host, machine: text(&row, table, "machine_id") });
            }
        })
    }

    fn processes(&mut self, info: &mut Info<'_>) -> Result<()> {
        self.scan("rocpd_info_process", |table, row, shared| {
            let (Some(id), Some(pid)) = (int(&row, table, "id"), int(&row, table, "pid")) else {
                return;
            };
            let number = pid;
            let node = info.node(int(&row, table, "nid"));
            let pid = shared.processes.id(&shared.writer, number, &node);
            info.processes.insert(id, (number, pid));
            if let Some(command) = text(&row, table, "command") {
                let name = command.split(' ').next().unwrap_or_default();
                let name = name.rsplit('/').next().unwrap_or_default();
                shared.writer.property(MetaKind::ProcessName, pid, Id::None, name);
                let list = shared.values.entry("commands").or_insert_with(|| Json::Array(vec![]));
                if let Json::Array(list) = list {
                    list.push(command.into());
                }
            }
        })
    }

    fn threads(&mut self, info: &mut Info<'_>) -> Result<()> {
        let processes = &info.processes;
        let threads = &mut info.threads;
        self.scan("rocpd_info_thread", |table, row, shared| {
            let (Some(id), Some(tid)) = (int(&row, table, "id"), int(&row, table, "tid")) else {
                return;
            };
            let process = int(&row, table, "pid");
            threads.insert(id, (tid, process));
            let pid = process.and_then(|process| processes.get(&process));
            if let (Some(name), Some((_, pid))) = (text(&row, table, "name"), pid) {
                shared.writer.property(MetaKind::ThreadName, *pid, Id::Int(tid), &name);
            }
        })
    }

    fn agents(&mut self, info: &mut Info<'_>) -> Result<()> {
        let mut gpus = Vec::new();
        self.scan("rocpd_info_agent", |table, row, _| {
            let Some(id) = int(&row, table, "id") else { return };
            let is_gpu = text(&row, table, "type").is_some_and(|kind| kind == "GPU");
            let number = ["type_index", "logical_index", "absolute_index"]
                .iter()
                .find_map(|column| int(&row, table, column));
            let number = number.unwrap_or(id);
            info.agents.insert(id, Agent { is_gpu, number });
            if is_gpu {
                let extra = text(&row, table, "extdata").unwrap_or_default();
                let extra = serde_json::from_str::<Map<String, Json>>(&extra).unwrap_or_default();
                let name = text(&row, table, "product_name").or(text(&row, table, "name"));
                let mut properties = properties(number, name, &extra);
                for column in ["name", "model_name", "vendor_name"] {
                    if let Some(value) = text(&row, table, column) {
                        properties.insert(format!("agent_{column}"), value.into());
                    }
                }
                let node = info.node(int(&row, table, "nid"));
                let identity = Identity::new(node, |key| {
                    text(&row, table, key).or_else(|| mark(extra.get(key)))
                });
                gpus.push(Gpu { id, stated: number, identity, properties });
            }
        })?;
        for (id, number) in self.shared.devices.add(gpus) {
            info.agents.insert(id, Agent { is_gpu: true, number });
        }
        Ok(())
    }

    fn counters(&mut self, info: &mut Info<'_>) -> Result<()> {
        self.scan("rocpd_info_pmc", |table, row, _| {
            let Some(id) = int(&row, table, "id") else { return };
            let name = text(&row, table, "name").or(text(&row, table, "symbol"));
            let name = name.unwrap_or_else(|| format!("counter {id}"));
            info.counters.insert(id, Counter { name, agent: int(&row, table, "agent_id") });
        })
    }

    fn tracks(&mut self, info: &mut Info<'_>) -> Result<()> {
        self.scan("rocpd_track", |table, row, _| {
            if let Some(id) = int(&row, table, "id") {
                let of = |column: &str| int(&row, table, column);
                info.tracks.insert(id, (of("pid"), of("tid"), of("name_id")));
            }
        })
    }
}

/// Returns the properties of a GPU with Kineto's keys, from the values that AMD's tools give.
pub fn properties(
    number: i64,
    name: Option<String>,
    extra: &Map<String, Json>,
) -> Map<String, Json> {
    let mut properties = Map::new();
    properties.insert("id".to_owned(), number.into());
    properties.insert("name".to_owned(), name.map_or(Json::Null, Json::String));
    for (key, theirs) in [
        ("numSms", "cu_count"),
        ("warpSize", "wave_front_size"),
        ("sharedMemPerMultiprocessor", "lds_size_in_kb"),
    ] {
        if let Some(value) = extra.get(theirs).and_then(Json::as_i64) {
            let value = if theirs == "lds_size_in_kb" { value.saturating_mul(1024) } else { value };
            properties.insert(key.to_owned(), value.into());
        }
    }
    let waves = ["max_waves_per_cu", "wave_front_size"].map(|key| extra.get(key)?.as_i64());
    if let [Some(waves), Some(size)] = waves {
        properties
            .insert("maxThreadsPerMultiprocessor".to_owned(), waves.saturating_mul(size).into());
    }
    for (key, value) in extra {
        if matches!(value, Json::Number(_)) {
            properties.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    properties
}

//! Reads the JSON of rocprofv3 (`rocprofiler-sdk-tool`).
//!
//! The document is walked in its order, without a tree. Names, agents and kernels come before the
//! records as rocprofv3 writes it; in another order, the records are walked again at the end. Events
//! are the items of the lists in `buffer_records`, list by list. Each item of the outer list is a
//! process.

mod agents;
mod record;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use super::devices::{Devices, Gpu, Node, Processes, mark};
use super::names::{HIP, blocks, copy_name, host_call};
use super::rocpd::Event;
use super::rocpd_info::Agent;
use super::tracks::{Allocations, Made, Streams};
use crate::error::{IngestError, Result};
use crate::import::Source;
use crate::import::strings::Text;
use crate::import::typed::{Args, Key, Times, TypedRead, TypedWriter};
use crate::issues::Code;
use crate::json::{self, Cursor, Oddities};
use crate::source::{Content, Ends, Walk};
use crate::trace::{Class, IS_OP, Id, MetaKind, NO_LINK, Track, is_real_id, step_number};
use record::Record;

const KEY: &[u8] = b"\"rocprofiler-sdk-tool\"";
/// The parts of a process that its records need.
const NEEDED: [&[u8]; 4] = [b"metadata", b"agents", b"strings", b"kernel_symbols"];
/// Maximum length of a part that is parsed as a tree, in bytes.
const MAX_PART: u64 = 64 << 20;

/// Whether a content is the JSON of rocprofv3: its first key tells.
pub fn is_output(content: &Content) -> Result<bool> {
    let (len, _) = content.wait(256)?;
    let head = content.map(0, len.min(256))?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    let Some(inner) = text.strip_prefix(b"{") else { return Ok(false) };
    Ok(inner.trim_ascii_start().starts_with(KEY))
}

/// Reads an output.
pub fn read(source: &Source<'_>) -> Result<TypedRead> {
    let mut walk = Walk::new(source.content)?;
    let mut reader = Reader {
        content: source.content,
        // The length is known when the document is complete.
        writer: source.writer("rocprofv3", source.content.wait(u64::MAX)?.0)?,
        args: Args::default(),
        streams: Streams::default(),
        made: Made::default(),
        devices: Devices::default(),
        processes: Processes::default(),
        commands: Vec::new(),
        others: Map::new(),
        process: 0,
        this: Process::default(),
    };
    let end = reader.document(&mut walk);
    match end {
        Ok(()) => {}
        Err(Ends::Cut) => {
            let len = walk.offset();
            reader.writer.issue(Code::TruncatedInput, false, b"");
            let detail = format!("the text ends within a value, after byte {len}");
            reader.writer.detail(Code::TruncatedInput, detail);
            if reader.writer.elements() == 0 {
                return Err(IngestError::input_at(
                    source.name,
                    "the input ends before any record",
                    len,
                ));
            }
        }
        Err(Ends::Bad(what)) => {
            let reason = format!("rocprofv3's JSON cannot be read: {what}");
            return Err(IngestError::input_at(source.name, reason, walk.offset()));
        }
        Err(Ends::Failed(error)) => return Err(error),
    }
    reader.finish()?;
    reader.writer.finish(source.content.issues())
}

/// What is known of the process that is being read.
#[derive(Default)]
struct Process {
    pid: Option<i64>,
    /// What tells the process from those of other nodes.
    id: Option<Id>,
    node: Node,
    /// Agents by handle.
    agents: FxHashMap<i64, Agent>,
    /// GPUs that have no number yet.
    gpus: Vec<Gpu>,
    /// Names of kinds of records and of their operations.
    kinds: Vec<(String, Vec<Text>)>,
    /// Texts of markers by correlation.
    markers: FxHashMap<i64, Text>,
    /// Places of the descriptions of kernels in the text.
    symbols: FxHashMap<i64, (u64, u32)>,
    kernels: FxHashMap<i64, Option<Symbol>>,
    allocations: Allocations,
}

/// A kernel.
#[derive(Clone)]
struct Symbol {
    name: Text,
    registers: Option<i64>,
    scalars: Option<i64>,
    shared: Option<i64>,
}

struct Reader<'a> {
    content: &'a Content,
    writer: TypedWriter<'a>,
    args: Args,
    streams: Streams,
    made: Made,
    devices: Devices,
    processes: Processes,
    commands: Vec<Json>,
    /// Numbers of records that are not read, by the name of their list.
    others: Map<String, Json>,
    /// Number of the process in the file.
    process: i64,
    this: Process,
}

type Walked = std::result::Result<(), Ends>;

impl<'a> Reader<'a> {
    fn document(&mut self, walk: &mut Walk<'a>) -> Walked {
        walk.object(|walk, key| {
            if key != b"rocprofiler-sdk-tool" {
                return walk.skip();
            }
            walk.list(|walk| {
                self.this = Process::default();
                let done = self.process(walk);
                self.process += 1;
                done
            })
        })
    }

    fn process(&mut self, walk: &mut Walk<'a>) -> Walked {
        let (mut needed, mut records) = (NEEDED.to_vec(), None);
        let done = walk.object(|walk, key| {
            needed.retain(|part| *part != key);
            if key == b"buffer_records" && !needed.is_empty() {
                records = Some(walk.at(walk.offset())?);
                return walk.object(|walk, _| walk.list(|walk| walk.skip()));
            }
            self.part(walk, key)
        });
        self.number_gpus();
        // The records of a text that is cut are kept as far as they go.
        match records {
            Some(mut walk) if !matches!(done, Err(Ends::Failed(_))) => {
                self.part(&mut walk, b"buffer_records").and(done)
            }
            _ => done,
        }
    }

    fn part(&mut self, walk: &mut Walk<'a>, key: &[u8]) -> Walked {
        match key {
            b"metadata" => self.metadata(&walk.tree(MAX_PART)?),
            b"agents" => self.agents(&walk.tree(MAX_PART)?),
            b"strings" => self.strings(&walk.tree(MAX_PART)?),
            b"kernel_symbols" => {
                return walk.list(|walk| {
                    let at = walk.offset();
                    let raw = walk.value()?;
                    let (mut id, len) = (None, raw.len() as u32);
                    let _ = Cursor::new(raw, 0).object(|key, value| {
                        if key == b"kernel_id" {
                            id = json::int(value);
                        }
                    });
                    if let Some(id) = id {
                        self.this.symbols.insert(id, (at, len));
                    }
                    Ok(())
                });
            }
            b"buffer_records" => {
                self.number_gpus();
                return walk.object(|walk, list| {
                    // Samples of program counters wrap their time in another object.
                    if list.starts_with(b"pc_sample") {
                        return self.count(walk, list);
                    }
                    if walk.token()? != b'[' {
                        return walk.skip();
                    }
                    let list = String::from_utf8_lossy(list).into_owned();
                    walk.list(|walk| {
                        let raw = walk.value()?;
                        Ok(self.record(&list, raw)?)
                    })
                });
            }
            b"callback_records" => {
                return walk.object(|walk, list| self.count(walk, list));
            }
            _ => return walk.skip(),
        }
        Ok(())
    }

    /// Counts the items of a list that is not read.
    fn count(&mut self, walk: &mut Walk<'a>, list: &[u8]) -> Walked {
        let mut items = 0u64;
        let name = String::from_utf8_lossy(list).into_owned();
        if walk.token()? != b'[' {
            return walk.skip();
        }
        walk.list(|walk| {
            items += 1;
            walk.skip()
        })?;
        let known = self.others.entry(name).or_insert_with(|| 0u64.into());
        *known = (known.as_u64().unwrap_or(0) + items).into();
        Ok(())
    }

    fn metadata(&mut self, tree: &Json) {
        let node = |key: &str| mark(tree.get("node").and_then(|node| node.get(key)));
        self.this.node = Node { host: node("hostname"), machine: node("machine_id") };
        self.this.pid = tree.get("pid").and_then(Json::as_i64);
        let of = |pid| self.processes.id(&self.writer, pid, &self.this.node);
        self.this.id = self.this.pid.map(of);
        if let Some(command) = tree.get("command") {
            let words: Vec<&str> =
                command.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            if let (Some(pid), Some(first)) = (self.this.id, words.first()) {
                let name = first.rsplit('/').next().unwrap_or_default();
                self.writer.property(MetaKind::ProcessName, pid, Id::None, name);
            }
            self.commands.push(command.clone());
        }
        let host = tree.get("node").and_then(|node| node.get("hostname"));
        if let (Some(host), 0) = (host, self.process) {
            // Writing to memory; a full disk shows at the end.
            let _ = self.writer.value("host_name", host.to_string().as_bytes());
        }
    }

    fn strings(&mut self, tree: &Json) {
        for kind in tree.get("buffer_records").and_then(Json::as_array).into_iter().flatten() {
            let name = kind.get("kind").and_then(Json::as_str).unwrap_or_default().to_owned();
            let operations = kind.get("operations").and_then(Json::as_array).into_iter().flatten();
            let operations = operations
                .map(|name| Text::new(&self.writer, name.as_str().unwrap_or_default()))
                .collect();
            self.this.kinds.push((name, operations));
        }
        for marker in tree.get("marker_api").and_then(Json::as_array).into_iter().flatten() {
            let key = marker.get("key").and_then(Json::as_i64);
            let value = marker.get("value").and_then(Json::as_str);
            if let (Some(key), Some(value)) = (key, value) {
                self.this.markers.insert(key, Text::new(&self.writer, value));
            }
        }
    }

    /// Returns the GPU of an agent.
    fn gpu(&mut self, agent: Option<i64>) -> Option<i64> {
        let agent = agent?;
        match self.this.agents.get(&agent) {
            Some(known) => known.is_gpu.then_some(known.number),
            None => {
                self.missing("agent", agent);
                None
            }
        }
    }

    fn missing(&mut self, what: &str, key: i64) {
        let example = format!("{what} {key}");
        self.writer.issue(Code::MissingReference, true, example.as_bytes());
    }

    /// Returns a kernel by its number.
    fn symbol(&mut self, kernel: i64) -> Result<Option<Symbol>> {
        if let Some(known) = self.this.kernels.get(&kernel) {
            return Ok(known.clone());
        }
        let symbol = match self.this.symbols.get(&kernel) {
            Some(&(at, len)) => self.read_symbol(&self.content.map(at, at + u64::from(len))?),
            None => {
                self.missing("kernel", kernel);
                None
            }
        };
        self.this.kernels.insert(kernel, symbol.clone());
        Ok(symbol)
    }

    fn read_symbol(&self, raw: &[u8]) -> Option<Symbol> {
        let tree: Json = serde_json::from_slice(raw).ok()?;
        let int = |key: &str| tree.get(key).and_then(Json::as_i64);
        let name = ["formatted_kernel_name", "demangled_kernel_name", "kernel_name"]
            .iter()
            .find_map(|key| tree.get(key)?.as_str().filter(|name| !name.is_empty()))?;
        let registers = match (int("arch_vgpr_count"), int("accum_vgpr_count")) {
            (None, None) => None,
            (vector, matrix) => vector.unwrap_or(0).checked_add(matrix.unwrap_or(0)),
        };
        Some(Symbol {
            name: Text::new(&self.writer, name),
            registers,
            scalars: int("sgpr_count"),
            shared: int("group_segment_size"),
        })
    }

    fn record(&mut self, list: &str, raw: &[u8]) -> Result<()> {
        if raw.first() != Some(&b'{') {
            return self.writer.skip(Code::NotAnObject, raw);
        }
        let r = Record::read(raw);
        let Some(times) = self.writer.times(r.start, r.end)? else { return Ok(()) };
        let known = r.kind.and_then(|kind| self.this.kinds.get(usize::try_from(kind).ok()?));
        let kind = known.map_or_else(|| list.to_uppercase(), |(name, _)| name.clone());
        let operation = known
            .zip(r.operation.and_then(|operation| usize::try_from(operation).ok()))
            .and_then(|((_, operations), at)| operations.get(at))
            .filter(|name| !name.text.is_empty())
            .cloned();
        let device = self.gpu(r.agent).or(self.gpu(r.to)).or(self.gpu(r.from));
        let link = match r.correlation {
            Some(id) if is_real_id(id) && (0..1 << 48).contains(&id) => self.process << 48 | id,
            _ => NO_LINK,
        };
        self.args.clear();
        self.args.maybe_int("correlation", r.correlation);
        let (name, cat, class, track) = match list {
            "kernel_dispatch" => {
                let symbol = match r.kernel {
                    Some(kernel) => self.symbol(kernel)?,
                    None => None,
                };
                self.device_args(&r, device);
                if let (Some(items), Some(block)) = (r.grid, r.block) {
                    self.args.triple("grid", [0, 1, 2].map(|i| blocks(items[i], block[i])));
                    self.args.triple("block", block);
                    self.args.triple("grid_size", items);
                }
                let symbol_of = symbol.as_ref();
                let args = &mut self.args;
                args.maybe_int("registers per thread", symbol_of.and_then(|s| s.registers));
                args.maybe_int("shared memory", r.shared.or(symbol_of.and_then(|s| s.shared)));
                args.maybe_int("sgpr_count", symbol_of.and_then(|s| s.scalars));
                args.maybe_int("private_segment_size", r.private);
                args.maybe_int("kernel_id", r.kernel);
                let track = self.stream(device, r.stream);
                (symbol.map(|symbol| symbol.name), "kernel", Class::Kernel, track)
            }
            "memory_copy" => {
                self.device_args(&r, device);
                self.args.maybe_int("bytes", r.bytes);
                if let (Some(bytes), Times::Whole(_, dur @ 1..)) = (r.bytes, times) {
                    self.args.float("memory bandwidth (GB/s)", bytes as f64 / dur as f64);
                }
                if let Some(operation) = &operation {
                    self.args.json("operation", &operation.json);
                }
                let name = operation.as_ref().map(|operation| {
                    let name = copy_name(&operation.text);
                    self.made.get(&self.writer, &name)
                });
                let track = self.stream(device, r.stream);
                (name, "gpu_memcpy", Class::Memcpy, track)
            }
            "memory_allocation" => {
                let what = operation.as_ref().map_or("", |operation| &operation.text);
                let what = if what.contains("FREE") { "FREE" } else { "ALLOC" };
                let bytes = self.this.allocations.bytes(self.process, what, r.address, r.bytes);
                self.args.maybe_int("Addr", r.address);
                self.args.maybe_int("Bytes", bytes);
                self.args.int("Device Type", if device.is_some() { HIP } else { 0 });
                self.args.int("Device Id", device.unwrap_or(-1));
                if let Some(operation) = &operation {
                    self.args.json("operation", &operation.json);
                }
                let cat = self.writer.intern_always("cuda_memory");
                let id = self.writer.intern_always("memory");
                let pid = self.this.id.unwrap_or(Id::None);
                let track = self.writer.track(Track::Async { pid, cat, id });
                let name = self.made.get(&self.writer, "[memory]");
                (Some(name), "cuda_memory", Class::Memory, track)
            }
            _ => {
                let (cat, class) =
                    host_call(&kind, operation.as_ref().map_or("", |name| &name.text));
                let marker = r.correlation.and_then(|id| self.this.markers.get(&id)).cloned();
                let name = marker.filter(|_| class == Class::Op).or(operation.clone());
                self.args.text("category", &kind);
                self.args.maybe_int("stream", r.stream);
                let pid = self.this.id.unwrap_or(Id::None);
                let tid = r.thread.map_or(Id::None, Id::Int);
                (name, cat, class, self.writer.track(Track::Thread { pid, tid }))
            }
        };
        self.args.maybe_int("external", r.external.filter(|id| *id != 0));
        for (key, value) in &r.others {
            let (mut odd, mut compact) = (Oddities::default(), Vec::new());
            json::compact_value(value, &mut compact, &mut odd);
            self.args.any_json(&Key::new(&json::as_text(key, &mut odd)), &compact);
        }
        let link = if class == Class::Memory { NO_LINK } else { link };
        self.event(name, cat, class, track, link, times)
    }

    fn event(
        &mut self,
        name: Option<Text>,
        cat: &str,
        class: Class,
        track: u32,
        link: i64,
        times: Times,
    ) -> Result<()> {
        let step = name.as_ref().filter(|_| class == Class::Op);
        let step = step.and_then(|name| step_number(name.text.as_bytes()));
        let (class, flags) = match class {
            Class::Op if step.is_some() => (Class::Step, 0),
            Class::Op => (Class::Op, IS_OP),
            class => (class, 0),
        };
        let cat = self.writer.intern_always(cat);
        let event = Event { ph: b'X', cat, name: name.as_ref(), track, class, link, flags };
        event.push(&mut self.writer, times, &self.args)?;
        if let (Some(step), Some(name), Times::Whole(..)) = (step, name, times) {
            let id = self.writer.intern_always(&name.text);
            self.writer.step(step, self.this.id.unwrap_or(Id::None), id);
        }
        Ok(())
    }

    fn device_args(&mut self, r: &Record<'_>, device: Option<i64>) {
        let args = &mut self.args;
        args.maybe_int("device", device);
        args.maybe_int("stream", r.stream);
        args.maybe_int("queue", r.queue);
        args.maybe_int("thread", r.thread);
    }

    fn stream(&mut self, device: Option<i64>, stream: Option<i64>) -> u32 {
        let process = (self.process, self.this.pid);
        self.streams.track(&mut self.writer, device, stream, process, None)
    }

    fn finish(&mut self) -> Result<()> {
        self.devices.finish(&mut self.writer)?;
        let commands = Json::Array(std::mem::take(&mut self.commands));
        let others = Json::Object(std::mem::take(&mut self.others));
        let values = serde_json::json!({ "commands": commands, "other_records": others });
        self.writer.value("rocprofv3", values.to_string().as_bytes())
    }
}

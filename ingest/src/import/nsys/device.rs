//! Work on devices: kernels, copies, fills, waits, graphs, memory and metrics.

use super::names::{copy_kind, is_unified, memory_kind};
use super::{Event, Reader, Stream, pid_of, rest};
use crate::error::Result;
use crate::import::columns::{Rest, real_u32};
use crate::import::strings::Text;
use crate::import::typed::Times;
use crate::sqlite::{Column, Row, Table};
use crate::trace::{Class, Id, MetaKind, NO_TEXT, Track};

/// Stands for a device that is not stated.
const NO_DEVICE: i64 = i64::MIN;

/// The columns that all activities have.
const COMMON: [&str; 9] = [
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId",
    "graphNodeId",
];

/// An activity, without the columns of its kind.
struct Activity {
    times: Times,
    track: u32,
    link: i64,
}

/// A table of activities.
struct Activities<'a> {
    table: &'a Table,
    common: [Column; 9],
    rest: Rest,
}

impl<'a> Activities<'a> {
    fn new(table: &'a Table, own: &[&str]) -> Self {
        let taken: Vec<&str> = COMMON.iter().chain(own).copied().collect();
        Self {
            table,
            common: COMMON.map(|name| table.column(name)),
            rest: rest(table, &taken).without_zeros(),
        }
    }

    /// Reads the common columns and begins the args with them.
    fn common(&self, reader: &mut Reader<'_>, row: &Row<'_>) -> Result<Option<Activity>> {
        let mut bad = false;
        let [start, end, device, context, stream, correlation, process, graph, node] =
            self.common.map(|column| row.int(column, &mut bad));
        reader.note_bad(bad, self.table, row);
        let Some(times) = reader.writer.times(start, end)? else { return Ok(None) };
        let device = device.map(|device| reader.devices.number(process, device));
        let [stream, context, correlation] = [stream, context, correlation].map(real_u32);
        let args = &mut reader.args;
        args.clear();
        args.maybe_int("device", device);
        args.maybe_int("context", context);
        args.maybe_int("stream", stream);
        args.maybe_int("correlation", correlation);
        args.maybe_int("graph id", real_u32(graph));
        args.maybe_int("graph node id", node);
        let link = reader.link(process, correlation);
        let track = reader.stream(device, stream, context, process);
        Ok(Some(Activity { times, track, link }))
    }
}

impl Reader<'_> {
    /// Returns the track of a stream. The first context that uses a stream of a device has the
    /// track with the stream's number; streams of other contexts and processes are independent.
    fn stream(
        &mut self,
        device: Option<i64>,
        stream: Option<i64>,
        context: Option<i64>,
        process: Option<i64>,
    ) -> u32 {
        let device = device.unwrap_or(NO_DEVICE);
        let key = Stream { device, stream, context, process: process.map_or(0, |p| p >> 24) };
        if let Some((last, no)) = self.last_stream
            && last == key
        {
            return no;
        }
        if let Some(&no) = self.streams.get(&key) {
            self.last_stream = Some((key, no));
            return no;
        }
        let owner = (key.context, key.process);
        let first = *self.owners.entry((device, stream)).or_insert(owner);
        let name = match stream {
            Some(stream) => format!("stream {stream}"),
            None => "no stream".to_owned(),
        };
        let mut tid = stream.map_or(Id::None, Id::Int);
        let mut shown = name.clone();
        if first != owner {
            let process = process.map(|process| format!("process {}", pid_of(process)));
            let context = context.map(|context| format!("context {context}"));
            let owner: Vec<String> = process.into_iter().chain(context).collect();
            let owner = if owner.is_empty() { "no process".to_owned() } else { owner.join(", ") };
            shown = format!("{name} ({owner})");
            tid = Id::Text(self.writer.intern_always(&shown));
        }
        let pid = if device == NO_DEVICE { Id::None } else { Id::Int(device) };
        self.writer.property(MetaKind::ThreadName, pid, tid, &shown);
        if device != NO_DEVICE {
            let label = format!("GPU {device}");
            self.writer.property(MetaKind::ProcessLabels, pid, Id::None, &label);
        }
        let no = self.writer.track(Track::Thread { pid, tid });
        self.streams.insert(key, no);
        no
    }

    /// Reads kernels.
    pub fn kernels(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let own = [
            "demangledName",
            "shortName",
            "registersPerThread",
            "staticSharedMemory",
            "dynamicSharedMemory",
            "gridX",
            "gridY",
            "gridZ",
            "blockX",
            "blockY",
            "blockZ",
        ];
        let columns = own.map(|name| table.column(name));
        let taken = [&own[..], &["mangledName"]].concat();
        let activities = Activities::new(table, &taken);
        let mangled = table.column("mangledName");
        let cat = self.writer.intern_always("kernel");
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let Some(activity) = activities.common(self, &row)? else { return Ok(()) };
            let mut bad = false;
            let [name, short, registers, fixed, dynamic, grid @ .., bx, by, bz] =
                columns.map(|column| row.int(column, &mut bad));
            let mangled = row.int(mangled, &mut bad);
            self.note_bad(bad, table, &row);
            let name = match self.text(name.or(short))? {
                Some(name) => Some(name),
                None => self.text(mangled)?,
            };
            let short = if short.is_some() { self.text(short)? } else { None };
            let args = &mut self.args;
            if let [Some(x), Some(y), Some(z)] = grid {
                args.triple("grid", [x, y, z]);
            }
            if let (Some(x), Some(y), Some(z)) = (bx, by, bz) {
                args.triple("block", [x, y, z]);
            }
            args.maybe_int("registers per thread", registers);
            if let Some(bytes) = fixed.unwrap_or(0).checked_add(dynamic.unwrap_or(0))
                && (fixed.is_some() || dynamic.is_some())
            {
                args.int("shared memory", bytes);
            }
            // The rest of the sum is static.
            args.maybe_int("dynamicSharedMemory", dynamic.filter(|bytes| *bytes != 0));
            if let Some(short) = short {
                args.json("shortName", &short.json);
            }
            activities.rest.push(&row, encoding, args);
            let event = Event::span(cat, name.as_ref(), activity.track, Class::Kernel);
            self.push(Event { link: activity.link, ..event }, activity.times)
        })
    }

    /// Reads copies.
    pub fn copies(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let own = ["bytes", "copyKind", "srcKind", "dstKind"];
        let columns = own.map(|name| table.column(name));
        let activities = Activities::new(table, &own);
        let cat = self.writer.intern_always("gpu_memcpy");
        let encoding = self.db.encoding();
        let mut names = rustc_hash::FxHashMap::default();
        self.db.scan(table, |row| {
            let Some(activity) = activities.common(self, &row)? else { return Ok(()) };
            let mut bad = false;
            let [bytes, kind, from, to] = columns.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let name = names.entry((kind, from, to)).or_insert_with(|| {
                let name = match (from, to) {
                    (None, None) => format!("Memcpy {}", copy_kind(kind)),
                    _ => format!(
                        "Memcpy {} ({} -> {})",
                        copy_kind(kind),
                        memory_kind(from),
                        memory_kind(to)
                    ),
                };
                Text::new(&self.writer, &name)
            });
            self.moved(bytes, activity.times);
            self.args.maybe_int("copyKind", kind);
            if is_unified(kind) {
                self.args.text("kind", "unified memory");
            }
            activities.rest.push(&row, encoding, &mut self.args);
            let event = Event::span(cat, Some(name), activity.track, Class::Memcpy);
            self.push(Event { link: activity.link, ..event }, activity.times)
        })
    }

    /// Adds the bytes of a copy or fill, and their rate in GB/s, as Kineto computes it.
    fn moved(&mut self, bytes: Option<i64>, times: Times) {
        self.args.maybe_int("bytes", bytes);
        if let (Some(bytes), Times::Whole(_, dur @ 1..)) = (bytes, times) {
            self.args.float("memory bandwidth (GB/s)", bytes as f64 / dur as f64);
        }
    }

    /// Reads fills.
    pub fn fills(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let own = ["bytes", "memKind"];
        let columns = own.map(|name| table.column(name));
        let activities = Activities::new(table, &own);
        let cat = self.writer.intern_always("gpu_memset");
        let encoding = self.db.encoding();
        let mut names = rustc_hash::FxHashMap::default();
        self.db.scan(table, |row| {
            let Some(activity) = activities.common(self, &row)? else { return Ok(()) };
            let mut bad = false;
            let [bytes, kind] = columns.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let name = names.entry(kind).or_insert_with(|| {
                let name = match kind {
                    Some(_) => format!("Memset ({})", memory_kind(kind)),
                    None => "Memset".to_owned(),
                };
                Text::new(&self.writer, &name)
            });
            self.moved(bytes, activity.times);
            activities.rest.push(&row, encoding, &mut self.args);
            let event = Event::span(cat, Some(name), activity.track, Class::Memset);
            self.push(Event { link: activity.link, ..event }, activity.times)
        })
    }

    /// Reads waits for the device.
    pub fn waits(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let event = table.column("eventId");
        let activities = Activities::new(table, &["eventId"]);
        let cat = self.writer.intern_always("cuda_sync");
        let encoding = self.db.encoding();
        let unknown = Text::new(&self.writer, "Synchronize");
        let mut names = rustc_hash::FxHashMap::default();
        self.db.scan(table, |row| {
            let Some(activity) = activities.common(self, &row)? else { return Ok(()) };
            let wait = self.waits.get(&activity.link).copied();
            let name = match wait {
                Some(wait) => {
                    self.args.text("cuda_sync_kind", wait);
                    names.entry(wait).or_insert_with(|| Text::new(&self.writer, wait))
                }
                None => &unknown,
            };
            let id = real_u32(row.int(event, &mut false));
            self.args.maybe_int("wait_on_cuda_event_id", id);
            activities.rest.push(&row, encoding, &mut self.args);
            let event = Event::span(cat, Some(name), activity.track, Class::Sync);
            self.push(Event { link: activity.link, ..event }, activity.times)
        })
    }

    /// Reads launches of graphs, which stand for all work in the graph.
    pub fn graphs(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let graph = table.column("graphId");
        let activities = Activities::new(table, &[]);
        let cat = self.writer.intern_always("cuda_graph");
        let encoding = self.db.encoding();
        let mut names = rustc_hash::FxHashMap::default();
        self.db.scan(table, |row| {
            let Some(activity) = activities.common(self, &row)? else { return Ok(()) };
            let graph = real_u32(row.int(graph, &mut false));
            let name = names.entry(graph).or_insert_with(|| {
                let name = match graph {
                    Some(graph) => format!("CUDA graph {graph}"),
                    None => "CUDA graph".to_owned(),
                };
                Text::new(&self.writer, &name)
            });
            self.args.text("kind", "graph");
            activities.rest.push(&row, encoding, &mut self.args);
            let event = Event::span(cat, Some(name), activity.track, Class::Kernel);
            self.push(Event { link: activity.link, ..event }, activity.times)
        })
    }

    /// Reads allocations and frees of memory.
    pub fn memory(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let own = [
            "start",
            "globalPid",
            "deviceId",
            "contextId",
            "address",
            "bytes",
            "memKind",
            "memoryOperationType",
            "correlationId",
            "streamId",
        ];
        let columns = own.map(|name| table.column(name));
        let rest = rest(table, &own);
        let cat = self.writer.intern_always("cuda_memory");
        let name = Text::new(&self.writer, "[memory]");
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [start, process, device, context, address, bytes, kind, what, correlation, stream] =
                columns.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.writer.times(start, start)? else { return Ok(()) };
            let start = match times {
                Times::Whole(start, _) | Times::Open(start) | Times::At(start) => start,
            };
            let device = device.map(|device| self.devices.number(process, device));
            let is_free = what == Some(1);
            let is_host = matches!(kind, Some(0 | 1));
            let args = &mut self.args;
            args.clear();
            args.maybe_int("Addr", address);
            args.maybe_int("Bytes", if is_free { bytes.map(|b| -b.max(0)) } else { bytes });
            args.int("Device Type", if is_host { 0 } else { 1 });
            args.maybe_int("Device Id", device);
            args.text("kind", memory_kind(kind));
            args.maybe_int("context", context);
            args.maybe_int("stream", real_u32(stream));
            args.maybe_int("correlation", real_u32(correlation));
            rest.push(&row, encoding, args);
            let process = process.map_or(Id::None, |process| Id::Int(pid_of(process)));
            let id = self.writer.intern_always("device memory");
            let track = self.writer.track(Track::Async { pid: process, cat, id });
            let event = Event::span(cat, Some(&name), track, Class::Memory);
            self.push(Event { ph: b'i', ..event }, Times::At(start))
        })
    }

    /// Reads metrics that were sampled on the devices.
    pub fn metrics(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let mut names = rustc_hash::FxHashMap::default();
        if let Some(known) = self.db.table("TARGET_INFO_GPU_METRICS") {
            let [kind, metric, text] =
                ["typeId", "metricId", "metricName"].map(|name| known.column(name));
            self.db.scan(known, |row| {
                let [kind, metric] = [kind, metric].map(|column| row.int(column, &mut false));
                if let Some(text) = row.text(text) {
                    names.insert((kind, metric), Text::new(&self.writer, &text));
                }
                Ok(())
            })?;
        }
        let columns = ["timestamp", "typeId", "metricId"].map(|name| table.column(name));
        let value = table.column("value");
        let cat = self.writer.intern_always("gpu_metrics");
        self.db.scan(table, |row| {
            let mut bad = false;
            let [time, kind, metric] = columns.map(|column| row.int(column, &mut bad));
            let value = row.float(value, &mut bad);
            self.note_bad(bad, table, &row);
            let Some(Times::Whole(time, _)) = self.writer.times(time, time)? else {
                return Ok(());
            };
            let name = names.entry((kind, metric)).or_insert_with(|| {
                Text::new(&self.writer, &format!("metric {}", metric.unwrap_or(-1)))
            });
            self.args.clear();
            match value {
                Some(value) => self.args.float("value", value),
                None => self.args.json("value", b"null"),
            }
            // The lowest byte of the type is the number of the device.
            let pid = kind.map_or(Id::None, |kind| Id::Int(kind & 0xff));
            let id = self.writer.intern_always(&name.text);
            let track = self.writer.track(Track::Counter { pid, name: id, id: NO_TEXT });
            let event = Event::span(cat, Some(name), track, Class::Other);
            self.push(Event { ph: b'C', ..event }, Times::At(time))
        })
    }
}

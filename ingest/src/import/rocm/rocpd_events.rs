//! The events of one process of a rocpd database.

use serde_json::Value as Json;

use super::names::{HIP, blocks, copy_name, host_call};
use super::rocpd::{Event, Facts, Reader};
use crate::error::Result;
use crate::import::columns::Rest;
use crate::import::strings::Text;
use crate::import::typed::Times;
use crate::issues::Code;
use crate::sqlite::{Column, Table};
use crate::trace::{Class, IS_OP, Id, NO_TEXT, Track, step_number};

/// Columns that every table has and that say nothing of an event.
const COMMON: [&str; 9] =
    ["id", "guid", "nid", "pid", "tid", "start", "end", "event_id", "region_name_id"];

/// Returns the columns of a table by name.
fn columns<const N: usize>(table: &Table, names: [&str; N]) -> [Column; N] {
    names.map(|name| table.column(name))
}

/// Returns the columns of a table that have no meaning of their own.
fn rest(table: &Table, own: &[&str]) -> Rest {
    Rest::of(table, &[&COMMON[..], own].concat())
}

/// Returns `extdata`, unless it is the empty object that nearly all rows have.
fn extra(row: &crate::sqlite::Row<'_>, column: Column) -> Option<String> {
    row.text(column).filter(|text| text.len() > 2).map(|text| text.into_owned())
}

impl Reader<'_, '_, '_> {
    /// Returns the process and the track of a thread by the numbers of their rows.
    fn thread(&mut self, process: Option<i64>, thread: Option<i64>) -> (Id, u32) {
        let mut pid = process.and_then(|process| self.info.processes.get(&process)).copied();
        let mut tid = None;
        match thread.map(|thread| (thread, self.info.threads.get(&thread).copied())) {
            Some((_, Some((number, of)))) => {
                tid = Some(number);
                pid = pid.or_else(|| self.info.processes.get(&of?).copied());
            }
            Some((thread, None)) => self.missing("rocpd_info_thread", thread),
            None => {}
        }
        if let (Some(process), None) = (process, pid) {
            self.missing("rocpd_info_process", process);
        }
        let pid = pid.map_or(Id::None, |(_, pid)| pid);
        let tid = tid.map_or(Id::None, Id::Int);
        (pid, self.shared.writer.track(Track::Thread { pid, tid }))
    }

    /// Returns the number of an agent if it is a GPU.
    fn gpu(&mut self, agent: Option<i64>) -> Option<i64> {
        let agent = agent?;
        match self.info.agents.get(&agent) {
            Some(known) => known.is_gpu.then_some(known.number),
            None => {
                self.missing("rocpd_info_agent", agent);
                None
            }
        }
    }

    /// Reads calls and markers.
    pub fn regions(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_region") else { return Ok(()) };
        let numbers = columns(table, ["pid", "tid", "start", "end", "name_id", "event_id"]);
        let extdata = table.column("extdata");
        let rest = rest(table, &["name_id", "extdata"]);
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [process, thread, start, end, name, event] =
                numbers.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.shared.writer.times(start, end)? else { return Ok(()) };
            let facts = self.facts(event)?;
            self.note_start(event, start, None);
            let mut name = self.text(name)?;
            let kind = facts.category.as_ref().map_or("", |c| &c.text);
            let (cat, class) = host_call(kind, name.as_ref().map_or("", |n| &n.text));
            if cat == "user_annotation"
                && let Some(message) = message(&facts)
            {
                name = Some(Text::new(&self.shared.writer, &message));
            }
            let step = name.as_ref().filter(|_| class == Class::Op);
            let step = step.and_then(|name| step_number(name.text.as_bytes()));
            let (class, flags) = match class {
                Class::Op if step.is_some() => (Class::Step, 0),
                Class::Op => (Class::Op, IS_OP),
                class => (class, 0),
            };
            self.shared.args.clear();
            self.shared.args.maybe_int("correlation", facts.stack);
            self.push_facts(&facts);
            if let Some(text) = extra(&row, extdata) {
                super::rocpd::push_json(&mut self.shared.args, "region_extdata", &text);
            }
            rest.push(&row, encoding, &mut self.shared.args);
            let (pid, track) = self.thread(process, thread);
            let cat = self.shared.writer.intern_always(cat);
            let link = self.link(process, facts.stack);
            let event = Event { ph: b'X', cat, name: name.as_ref(), track, class, link, flags };
            self.push(event, times)?;
            if let (Some(step), Some(name), Times::Whole(..)) = (step, name, times) {
                let id = self.shared.writer.intern_always(&name.text);
                self.shared.writer.step(step, pid, id);
            }
            Ok(())
        })
    }

    /// Reads instants.
    pub fn samples(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_sample") else { return Ok(()) };
        let numbers = columns(table, ["track_id", "timestamp", "event_id"]);
        let rest = rest(table, &["track_id", "timestamp", "extdata"]);
        let extdata = table.column("extdata");
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [track, time, event] = numbers.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(Times::Whole(time, _)) = self.shared.writer.times(time, time)? else {
                return Ok(());
            };
            let facts = self.facts(event)?;
            let place = track.and_then(|track| self.info.tracks.get(&track)).copied();
            if let (Some(track), None) = (track, place) {
                self.missing("rocpd_track", track);
            }
            let (process, thread, name) = place.unwrap_or_default();
            self.note_start(event, Some(time), None);
            let kind = facts.category.as_ref().map_or("", |c| &c.text);
            let (cat, _) = host_call(kind, "");
            let marked = if cat == "user_annotation" { message(&facts) } else { None };
            let name = match (marked, self.text(name)?) {
                (Some(message), _) => Some(Text::new(&self.shared.writer, &message)),
                (None, Some(name)) => Some(name),
                (None, None) => facts.category.clone(),
            };
            self.shared.args.clear();
            self.shared.args.maybe_int("correlation", facts.stack);
            self.push_facts(&facts);
            if let Some(text) = extra(&row, extdata) {
                super::rocpd::push_json(&mut self.shared.args, "sample_extdata", &text);
            }
            rest.push(&row, encoding, &mut self.shared.args);
            let (_, track) = self.thread(process, thread);
            let cat = self.shared.writer.intern_always(cat);
            let (class, link) = (Class::Other, crate::trace::NO_LINK);
            let event = Event { ph: b'i', cat, name: name.as_ref(), track, class, link, flags: 0 };
            self.push(event, Times::At(time))
        })
    }

    /// Returns the track of a stream.
    fn stream(&mut self, device: Option<i64>, stream: Option<i64>, process: Option<i64>) -> u32 {
        let owner = self.owner(process);
        let pid = process.and_then(|row| self.info.processes.get(&row)).map(|(pid, _)| *pid);
        let name = stream.and_then(|stream| self.info.streams.get(&stream));
        self.shared.streams.track(
            &mut self.shared.writer,
            device,
            stream,
            (owner, pid),
            name.map(String::as_str),
        )
    }

    /// Reads kernels.
    pub fn dispatches(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_kernel_dispatch") else { return Ok(()) };
        let own = [
            "agent_id",
            "kernel_id",
            "queue_id",
            "stream_id",
            "group_segment_size",
            "workgroup_size_x",
            "workgroup_size_y",
            "workgroup_size_z",
            "grid_size_x",
            "grid_size_y",
            "grid_size_z",
        ];
        let numbers = columns(table, own);
        let common = columns(table, ["pid", "start", "end", "event_id"]);
        let extdata = table.column("extdata");
        let rest = rest(table, &[&own[..], &["extdata"]].concat());
        let encoding = self.db.encoding();
        let cat = self.shared.writer.intern_always("kernel");
        let mut kernels = rustc_hash::FxHashMap::default();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [process, start, end, event] = common.map(|column| row.int(column, &mut bad));
            let [agent, kernel, queue, stream, shared, block @ .., gx, gy, gz] =
                numbers.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.shared.writer.times(start, end)? else { return Ok(()) };
            let facts = self.facts(event)?;
            let device = self.gpu(agent);
            self.note_start(event, start, device);
            if let Some(kernel) = kernel
                && !kernels.contains_key(&kernel)
            {
                let symbol = self.symbol(kernel)?;
                kernels.insert(kernel, symbol);
            }
            let symbol = kernel.and_then(|kernel| kernels.get(&kernel)).and_then(Option::as_ref);
            let args = &mut self.shared.args;
            args.clear();
            args.maybe_int("device", device);
            args.maybe_int("stream", stream);
            args.maybe_int("correlation", facts.stack);
            if let (Some(items), Some(block)) = (triple([gx, gy, gz]), triple(block)) {
                args.triple("grid", [0, 1, 2].map(|i| blocks(items[i], block[i])));
                args.triple("block", block);
                args.triple("grid_size", items);
            }
            args.maybe_int("registers per thread", symbol.and_then(|s| s.registers));
            args.maybe_int("shared memory", shared.or(symbol.and_then(|s| s.shared)));
            args.maybe_int("sgpr_count", symbol.and_then(|s| s.scalars));
            args.maybe_int("queue", queue);
            args.maybe_int("kernel_id", kernel);
            self.push_facts(&facts);
            if let Some(text) = extra(&row, extdata) {
                super::rocpd::push_json(&mut self.shared.args, "dispatch_extdata", &text);
            }
            rest.push(&row, encoding, &mut self.shared.args);
            let track = self.stream(device, stream, process);
            let link = self.link(process, facts.stack);
            let name = symbol.map(|symbol| &symbol.name);
            let event = Event { ph: b'X', cat, name, track, class: Class::Kernel, link, flags: 0 };
            self.push(event, times)
        })
    }

    /// Returns a kernel by its number; `None` and a counted issue if there is none.
    fn symbol(&mut self, kernel: i64) -> Result<Option<Symbol>> {
        let Some(lookup) = &mut self.info.kernels else { return Ok(None) };
        let [display, plain] = ["display_name", "kernel_name"].map(|name| lookup.column(name));
        let numbers = ["arch_vgpr_count", "accum_vgpr_count", "sgpr_count", "group_segment_size"]
            .map(|name| lookup.column(name));
        let Some(row) = lookup.find(kernel)? else {
            self.missing("rocpd_info_kernel_symbol", kernel);
            return Ok(None);
        };
        let [vector, matrix, scalars, shared] = numbers.map(|c| row.int(c, &mut false));
        let name = row.text(display).filter(|name| !name.is_empty()).or_else(|| row.text(plain));
        let Some(name) = name else { return Ok(None) };
        let registers = match (vector, matrix) {
            (None, None) => None,
            (vector, matrix) => vector.unwrap_or(0).checked_add(matrix.unwrap_or(0)),
        };
        let name = Text::new(&self.shared.writer, &name);
        Ok(Some(Symbol { name, registers, scalars, shared }))
    }

    /// Reads copies.
    pub fn copies(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_memory_copy") else { return Ok(()) };
        let own =
            ["name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id", "extdata"];
        let [name, to, from, size, queue, stream, _] = columns(table, own);
        let common = columns(table, ["pid", "start", "end", "event_id"]);
        let rest = rest(table, &own);
        let encoding = self.db.encoding();
        let cat = self.shared.writer.intern_always("gpu_memcpy");
        self.db.scan(table, |row| {
            let mut bad = false;
            let [process, start, end, event] = common.map(|column| row.int(column, &mut bad));
            let [name, to, from, size, queue, stream] =
                [name, to, from, size, queue, stream].map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.shared.writer.times(start, end)? else { return Ok(()) };
            let facts = self.facts(event)?;
            let operation = self.text(name)?;
            let name = operation.as_ref().map(|operation| {
                let name = copy_name(&operation.text);
                self.shared.made.get(&self.shared.writer, &name)
            });
            let (to, from) = (self.gpu(to), self.gpu(from));
            let device = to.or(from);
            let args = &mut self.shared.args;
            args.clear();
            args.maybe_int("device", device);
            args.maybe_int("stream", stream);
            args.maybe_int("correlation", facts.stack);
            args.maybe_int("bytes", size);
            if let (Some(size), Times::Whole(_, dur @ 1..)) = (size, times) {
                args.float("memory bandwidth (GB/s)", size as f64 / dur as f64);
            }
            args.maybe_int("source device", from);
            args.maybe_int("target device", to);
            args.maybe_int("queue", queue);
            if let Some(operation) = &operation {
                args.json("operation", &operation.json);
            }
            self.push_facts(&facts);
            rest.push(&row, encoding, &mut self.shared.args);
            let track = self.stream(device, stream, process);
            let (class, link) = (Class::Memcpy, self.link(process, facts.stack));
            let event = Event { ph: b'X', cat, name: name.as_ref(), track, class, link, flags: 0 };
            self.push(event, times)
        })
    }

    /// Reads allocations and frees.
    pub fn allocations(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_memory_allocate") else { return Ok(()) };
        let own = ["agent_id", "address", "size", "type", "level", "extdata"];
        let [agent, address, size, kind, level, _] = columns(table, own);
        let common = columns(table, ["pid", "start", "end", "event_id"]);
        let rest = rest(table, &own);
        let encoding = self.db.encoding();
        let cat = self.shared.writer.intern_always("cuda_memory");
        let name = Text::new(&self.shared.writer, "[memory]");
        self.db.scan(table, |row| {
            let mut bad = false;
            let [process, start, end, event] = common.map(|column| row.int(column, &mut bad));
            let [agent, address, size] =
                [agent, address, size].map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.shared.writer.times(start, end)? else { return Ok(()) };
            let facts = self.facts(event)?;
            let kind = row.text(kind).unwrap_or_default();
            let owner = self.owner(process);
            let bytes = self.allocations.bytes(owner, &kind, address, size);
            let device = self.gpu(agent);
            let args = &mut self.shared.args;
            args.clear();
            args.maybe_int("Addr", address);
            args.maybe_int("Bytes", bytes);
            args.int("Device Type", if device.is_some() { HIP } else { 0 });
            args.int("Device Id", device.unwrap_or(-1));
            args.text("type", &kind);
            args.text("level", &row.text(level).unwrap_or_default());
            args.maybe_int("correlation", facts.stack);
            self.push_facts(&facts);
            rest.push(&row, encoding, &mut self.shared.args);
            let pid = process.and_then(|process| self.info.processes.get(&process)).copied();
            let id = self.shared.writer.intern_always("memory");
            let pid = pid.map_or(Id::None, |(_, pid)| pid);
            let track = self.shared.writer.track(Track::Async { pid, cat, id });
            let (class, link) = (Class::Memory, crate::trace::NO_LINK);
            let event = Event { ph: b'X', cat, name: Some(&name), track, class, link, flags: 0 };
            self.push(event, times)
        })
    }

    /// Finds the events that have values of counters.
    pub fn counted_events(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_pmc_event") else { return Ok(()) };
        let event = table.column("event_id");
        let (counted, most) = (&mut self.counted, self.max_started);
        self.db.scan(table, |row| {
            if counted.len() < most {
                counted.extend(row.int(event, &mut false));
            }
            Ok(())
        })
    }

    /// Keeps the time of an event that has values of counters.
    fn note_start(&mut self, event: Option<i64>, start: Option<i64>, device: Option<i64>) {
        if let (Some(event), Some(start)) = (event, start)
            && self.counted.contains(&event)
        {
            self.started.insert(event, (start, device));
        }
    }

    /// Reads values of counters, which have the time of the dispatch, region or sample that they
    /// belong to.
    pub fn counters(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_pmc_event") else { return Ok(()) };
        let [event, counter] = columns(table, ["event_id", "pmc_id"]);
        let value = table.column("value");
        let cat = self.shared.writer.intern_always("pmc");
        self.db.scan(table, |row| {
            let mut bad = false;
            let [event, counter] = [event, counter].map(|column| row.int(column, &mut bad));
            let value = row.float(value, &mut bad);
            self.note_bad(bad, table, &row);
            let known = event.and_then(|event| self.started.get(&event)).copied();
            let Some((time, device)) = known else {
                return self.shared.writer.skip(Code::NoTimestamp, b"rocpd_pmc_event");
            };
            let (name, agent) = match counter.and_then(|id| self.info.counters.get(&id)) {
                Some(counter) => (counter.name.clone(), counter.agent),
                None => (format!("counter {}", counter.unwrap_or(-1)), None),
            };
            if let Some(id) = counter.filter(|id| !self.info.counters.contains_key(id)) {
                self.missing("rocpd_info_pmc", id);
            }
            let device = device.or_else(|| agent.and_then(|agent| self.gpu(Some(agent))));
            let args = &mut self.shared.args;
            args.clear();
            match value {
                Some(value) => args.float("value", value),
                None => args.json("value", b"null"),
            }
            let name = self.shared.made.get(&self.shared.writer, &name);
            let id = self.shared.writer.intern_always(&name.text);
            let pid = device.map_or(Id::None, Id::Int);
            let track = self.shared.writer.track(Track::Counter { pid, name: id, id: NO_TEXT });
            let (class, link) = (Class::Other, crate::trace::NO_LINK);
            let event = Event { ph: b'C', cat, name: Some(&name), track, class, link, flags: 0 };
            self.push(event, Times::At(time))
        })
    }
}

/// A kernel.
struct Symbol {
    name: Text,
    registers: Option<i64>,
    scalars: Option<i64>,
    shared: Option<i64>,
}

/// Returns three numbers if all are there.
fn triple(values: [Option<i64>; 3]) -> Option<[i64; 3]> {
    match values {
        [Some(x), Some(y), Some(z)] => Some([x, y, z]),
        _ => None,
    }
}

/// Returns the text of a marker.
fn message(facts: &Facts) -> Option<String> {
    let extra: Json = serde_json::from_str(&facts.extra).ok()?;
    let message = extra.get("message")?.as_str()?;
    (!message.is_empty()).then(|| message.to_owned())
}

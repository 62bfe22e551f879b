//! Reads the databases of rocmProfileData (RPD).
//!
//! Events come as calls, then work on devices, then values of monitors, each in the order of its
//! rows. The table `rocpd_api_ops` tells which call started which work.

use serde_json::{Map, Value as Json};

use super::names::blocks;
use super::rocpd::Event;
use super::tracks::{Made, Streams};
use crate::error::Result;
use crate::import::columns::Rest;
use crate::import::strings::{Strings, Text};
use crate::import::typed::{Args, Times, TypedRead, TypedWriter};
use crate::import::{Source, issues};
use crate::issues::Code;
use crate::sqlite::{Column, Database, Lookup, Row, Table};
use crate::trace::{Class, IS_OP, Id, NO_LINK, NO_TEXT, Track, step_number};

/// Whether a database is one of rocmProfileData.
pub fn is_rpd(db: &Database<'_>) -> bool {
    db.table("rocpd_op").is_some() && db.table("rocpd_api").is_some()
}

/// Reads a database.
pub fn read(source: &Source<'_>, db: &Database<'_>) -> Result<TypedRead> {
    let mut reader = Reader {
        db,
        writer: source.writer("rpd", db.bytes())?,
        args: Args::default(),
        strings: Strings::new(db, "rocpd_string", "id", "string")?,
        streams: Streams::default(),
        made: Made::default(),
        read: vec!["rocpd_string"],
        max_links: source.options.memory_limit / 8 / 16,
    };
    reader.calls()?;
    reader.work()?;
    reader.monitors()?;
    reader.values()?;
    reader.writer.finish(issues(source, db))
}

struct Reader<'a> {
    db: &'a Database<'a>,
    writer: TypedWriter<'a>,
    args: Args,
    strings: Strings<'a>,
    streams: Streams,
    made: Made,
    /// Tables that were read.
    read: Vec<&'static str>,
    /// Maximum number of links between calls and work that are kept.
    max_links: usize,
}

/// Returns the category and the class of a call by its name.
fn call_kind(name: &str) -> (&'static str, Class) {
    let launch = Class::of(b"cuda_runtime", name.as_bytes(), b'X');
    match name {
        "UserMarker" => ("user_annotation", Class::Op),
        _ if name.starts_with("hip") => ("cuda_runtime", launch),
        _ if name.starts_with("hsa") => ("hsa_api", launch),
        _ if name.starts_with("roctx") => ("user_annotation", Class::Op),
        _ => ("host_api", Class::Other),
    }
}

/// Returns the class of work by the text of its type.
fn work_class(kind: &str) -> Class {
    if kind.starts_with("Copy") {
        Class::Memcpy
    } else if kind.starts_with("Fill") {
        Class::Memset
    } else if kind.starts_with("Barrier") || kind.starts_with("Marker") {
        Class::Sync
    } else {
        Class::Kernel
    }
}

impl<'a> Reader<'a> {
    fn table(&mut self, name: &'static str) -> Option<&'a Table> {
        self.read.push(name);
        self.db.table(name)
    }

    fn text(&mut self, key: Option<i64>) -> Result<Option<Text>> {
        let Some(key) = key else { return Ok(None) };
        let text = self.strings.get(&mut self.writer, key)?;
        if text.is_none() {
            let example = format!("rocpd_string {key}");
            self.writer.issue(Code::MissingReference, true, example.as_bytes());
        }
        Ok(text.filter(|text| !text.text.is_empty()))
    }

    fn note_bad(&mut self, bad: bool, table: &Table, row: &Row<'_>) {
        if bad {
            let example = format!("{} row {}", table.name, row.rowid);
            self.writer.issue(Code::ColumnType, true, example.as_bytes());
        }
    }

    fn calls(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_api") else { return Ok(()) };
        let own = ["id", "pid", "tid", "start", "end", "apiName_id", "args_id"];
        let columns = own.map(|name| table.column(name));
        let (rest, encoding) = (Rest::of(table, &own), self.db.encoding());
        self.db.scan(table, |row| {
            let mut bad = false;
            let [id, pid, tid, start, end, name, args] =
                columns.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.writer.times(start, end)? else { return Ok(()) };
            let (call, text) = (self.text(name)?, self.text(args)?);
            let (cat, class) = call_kind(call.as_ref().map_or("", |name| &name.text));
            self.args.clear();
            self.args.maybe_int("correlation", id);
            let mut name = call;
            if let Some(text) = text {
                match cat {
                    // A marker has its text in its arguments.
                    "user_annotation" => name = Some(text),
                    _ => self.args.json("args", &text.json),
                }
            }
            rest.push(&row, encoding, &mut self.args);
            let step = name.as_ref().filter(|_| class == Class::Op);
            let step = step.and_then(|name| step_number(name.text.as_bytes()));
            let (class, flags) = match class {
                Class::Op if step.is_some() => (Class::Step, 0),
                Class::Op => (Class::Op, IS_OP),
                class => (class, 0),
            };
            let [pid, tid] = [pid, tid].map(|id| id.map_or(Id::None, Id::Int));
            let track = self.writer.track(Track::Thread { pid, tid });
            let cat = self.writer.intern_always(cat);
            let link = id.filter(|id| *id != NO_LINK).unwrap_or(NO_LINK);
            let event = Event { ph: b'X', cat, name: name.as_ref(), track, class, link, flags };
            event.push(&mut self.writer, times, &self.args)?;
            if let (Some(step), Some(name), Times::Whole(..)) = (step, name, times) {
                let id = self.writer.intern_always(&name.text);
                self.writer.step(step, pid, id);
            }
            Ok(())
        })
    }

    /// Reads which call started which work, sorted by work.
    fn links(&mut self) -> Result<Vec<(i64, i64)>> {
        let Some(table) = self.table("rocpd_api_ops") else { return Ok(Vec::new()) };
        let [api, op] = ["api_id", "op_id"].map(|name| table.column(name));
        let (mut links, max) = (Vec::new(), self.max_links);
        let mut left_out = 0;
        self.db.scan(table, |row| {
            let [api, op] = [api, op].map(|column| row.int(column, &mut false));
            match (api, op) {
                (Some(api), Some(op)) if links.len() < max => links.push((op, api)),
                (Some(_), Some(_)) => left_out += 1,
                _ => {}
            }
            Ok(())
        })?;
        if left_out > 0 {
            self.writer.issue(Code::TopLevelValue, false, b"rocpd_api_ops");
            let detail =
                format!("{left_out} links need more memory than --memory-limit leaves for them");
            self.writer.detail(Code::TopLevelValue, detail);
        }
        links.sort_unstable();
        Ok(links)
    }

    fn work(&mut self) -> Result<()> {
        let links = self.links()?;
        let Some(table) = self.table("rocpd_op") else { return Ok(()) };
        self.read.extend(["rocpd_kernelapi", "rocpd_copyapi"]);
        let mut kernels = Launches::new(self.db, "rocpd_kernelapi")?;
        let mut copies = Launches::new(self.db, "rocpd_copyapi")?;
        let mut calls = Launches::new(self.db, "rocpd_api")?;
        let function = calls.column("apiName_id");
        let own =
            ["id", "gpuId", "queueId", "sequenceId", "start", "end", "description_id", "opType_id"];
        let columns = own.map(|name| table.column(name));
        let rest = Rest::of(table, &[&own[..], &["completionSignal"]].concat());
        let encoding = self.db.encoding();
        let cats = ["kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"]
            .map(|cat| self.writer.intern_always(cat));
        self.db.scan(table, |row| {
            let mut bad = false;
            let [id, device, queue, sequence, start, end, name, kind] =
                columns.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.writer.times(start, end)? else { return Ok(()) };
            let (mut name, kind) = (self.text(name)?, self.text(kind)?);
            let class = work_class(kind.as_ref().map_or("", |kind| &kind.text));
            let call = id.and_then(|id| {
                let from = links.partition_point(|(op, _)| *op < id);
                links.get(from).filter(|(op, _)| *op == id).map(|(_, api)| *api)
            });
            self.args.clear();
            self.args.maybe_int("device", device);
            self.args.maybe_int("stream", queue);
            self.args.maybe_int("correlation", call);
            if let Some(kind) = &kind {
                self.args.json("opType", &kind.json);
            }
            self.args.maybe_int("sequence", sequence.filter(|sequence| *sequence != 0));
            if let Some(call) = call {
                let api = calls.find(call)?.and_then(|row| row.int(function, &mut false));
                let api = self.text(api)?;
                let symbol = self.kernel_args(&mut kernels, call, api.as_ref())?;
                if name.is_none() {
                    name = self.text(symbol)?;
                }
                if class == Class::Memcpy {
                    self.copy_args(&mut copies, call, times)?;
                }
            }
            rest.push(&row, encoding, &mut self.args);
            let name = name.or(kind);
            let track = self.streams.track(&mut self.writer, device, queue, (0, None), None);
            let cat = match class {
                Class::Memcpy => cats[1],
                Class::Memset => cats[2],
                Class::Sync => cats[3],
                _ => cats[0],
            };
            let link = call.unwrap_or(NO_LINK);
            let event = Event { ph: b'X', cat, name: name.as_ref(), track, class, link, flags: 0 };
            event.push(&mut self.writer, times, &self.args)
        })
    }

    /// Adds the shape of a launch; returns the number of the kernel's name.
    fn kernel_args(
        &mut self,
        kernels: &mut Launches<'_>,
        call: i64,
        api: Option<&Text>,
    ) -> Result<Option<i64>> {
        let columns = [
            "gridX",
            "gridY",
            "gridZ",
            "workgroupX",
            "workgroupY",
            "workgroupZ",
            "groupSegmentSize",
            "privateSegmentSize",
            "kernelName_id",
        ]
        .map(|name| kernels.column(name));
        let Some(row) = kernels.find(call)? else { return Ok(None) };
        let [gx, gy, gz, bx, by, bz, shared, private, name] =
            columns.map(|column| row.int(column, &mut false));
        if let ([Some(gx), Some(gy), Some(gz)], [Some(bx), Some(by), Some(bz)]) =
            ([gx, gy, gz], [bx, by, bz])
        {
            // These calls state the size of the grid in work-items, all others in blocks.
            let is_items = api.is_some_and(|api| {
                matches!(&*api.text, "hipExtModuleLaunchKernel" | "hipHccModuleLaunchKernel")
            });
            let grid = if is_items {
                self.args.triple("grid_size", [gx, gy, gz]);
                [blocks(gx, bx), blocks(gy, by), blocks(gz, bz)]
            } else {
                [gx, gy, gz]
            };
            self.args.triple("grid", grid);
            self.args.triple("block", [bx, by, bz]);
        }
        self.args.maybe_int("shared memory", shared);
        self.args.maybe_int("privateSegmentSize", private);
        Ok(name)
    }

    /// Adds the size of a copy.
    fn copy_args(&mut self, copies: &mut Launches<'_>, call: i64, times: Times) -> Result<()> {
        let columns = ["size", "kind", "sync", "pinned"].map(|name| copies.column(name));
        let texts = ["src", "dst"].map(|name| (name, copies.column(name)));
        let Some(row) = copies.find(call)? else { return Ok(()) };
        let [size, kind, sync, pinned] = columns.map(|column| row.int(column, &mut false));
        self.args.maybe_int("bytes", size);
        if let (Some(size), Times::Whole(_, dur @ 1..)) = (size, times) {
            self.args.float("memory bandwidth (GB/s)", size as f64 / dur as f64);
        }
        self.args.maybe_int("copyKind", kind);
        self.args.maybe_int("sync", sync);
        self.args.maybe_int("pinned", pinned);
        for (name, column) in texts {
            if let Some(text) = row.text(column).filter(|text| !text.is_empty()) {
                self.args.text(name, &text);
            }
        }
        Ok(())
    }

    fn monitors(&mut self) -> Result<()> {
        let Some(table) = self.table("rocpd_monitor") else { return Ok(()) };
        let numbers = ["deviceId", "start"].map(|name| table.column(name));
        let [kind, device_type, value] =
            ["monitorType", "deviceType", "value"].map(|name| table.column(name));
        let cat = self.writer.intern_always("monitor");
        self.db.scan(table, |row| {
            let mut bad = false;
            let [device, start] = numbers.map(|column| row.int(column, &mut bad));
            let value = row.float(value, &mut bad);
            self.note_bad(bad, table, &row);
            let Some(Times::Whole(time, _)) = self.writer.times(start, start)? else {
                return Ok(());
            };
            let of = row.text(device_type).unwrap_or_default();
            let kind = row.text(kind).unwrap_or_default();
            let name = if of == "gpu" { kind.to_string() } else { format!("{of} {kind}") };
            self.args.clear();
            match value {
                Some(value) => self.args.float("value", value),
                None => self.args.json("value", b"null"),
            }
            let name = self.made.get(&self.writer, &name);
            let id = self.writer.intern_always(&name.text);
            let pid = device.map_or(Id::None, Id::Int);
            let track = self.writer.track(Track::Counter { pid, name: id, id: NO_TEXT });
            let (class, link) = (Class::Other, NO_LINK);
            let event = Event { ph: b'C', cat, name: Some(&name), track, class, link, flags: 0 };
            event.push(&mut self.writer, Times::At(time), &self.args)
        })
    }

    fn values(&mut self) -> Result<()> {
        let mut values = Map::new();
        if let Some(table) = self.table("rocpd_metadata") {
            let [tag, value] = ["tag", "value"].map(|name| table.column(name));
            self.db.scan(table, |row| {
                if let (Some(tag), Some(value)) = (row.text(tag), row.text(value))
                    && matches!(&*tag, "schema_version" | "session_count")
                {
                    values.insert(tag.into_owned(), value.into_owned().into());
                }
                Ok(())
            })?;
        }
        self.writer.value("rpd", Json::Object(values).to_string().as_bytes())?;
        let mut rows = Map::new();
        for table in self.db.tables().filter(|table| !self.read.contains(&&table.name[..])) {
            rows.insert(table.name.clone(), self.db.count(table)?.into());
        }
        self.writer.value("rpd_other_tables", Json::Object(rows).to_string().as_bytes())
    }
}

/// Rows that describe calls, found by the number of the call.
struct Launches<'a> {
    lookup: Option<Lookup<'a>>,
}

impl<'a> Launches<'a> {
    fn new(db: &'a Database<'_>, table: &str) -> Result<Self> {
        let key = if table == "rocpd_api" { "id" } else { "api_ptr_id" };
        Ok(Self { lookup: db.lookup(table, key)? })
    }

    fn column(&self, name: &str) -> Column {
        self.lookup.as_ref().map_or(Column::NONE, |lookup| lookup.column(name))
    }

    fn find(&mut self, call: i64) -> Result<Option<Row<'_>>> {
        match &mut self.lookup {
            Some(lookup) => lookup.find(call),
            None => Ok(None),
        }
    }
}

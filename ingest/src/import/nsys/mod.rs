//! Reads Nsight Systems exports: the databases that `nsys export --type sqlite` writes.
//!
//! Tables and columns differ by version, and tables without rows are absent, so a missing column is
//! NULL. Events come table by table in the order of [`read`], each in the order of rowid. The
//! environment of the processes is in several tables; none of them is read, and texts are read only
//! where an event refers to them.

mod context;
mod device;
mod host;
mod names;
mod nvtx;
mod stacks;

use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::Rest;
use super::strings::{Strings, Text};
use super::{Source, issues};
use crate::error::Result;
use crate::import::typed::{Args, Times, TypedRead, TypedWriter};
use crate::issues::Code;
use crate::sqlite::{Database, Row, Table};
use crate::trace::{Class, EventRecord, Id, NO_LINK, NO_TEXT, TextId, Track, is_real_id};

/// Whether a database is an export of Nsight Systems.
pub fn is_export(db: &Database<'_>) -> bool {
    let has = |name: &str| db.table(name).is_some();
    let marks = [
        "TARGET_INFO_GPU",
        "ProcessStreams",
        "ANALYSIS_DETAILS",
        "META_DATA_EXPORT",
        "EXPORT_META_DATA",
        "NVTX_EVENTS",
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
    ];
    has("StringIds") && marks.into_iter().any(has)
}

/// Reads an export.
pub fn read(source: &Source<'_>, db: &Database<'_>) -> Result<TypedRead> {
    let writer = source.writer("nsys", db.bytes())?;
    let mut reader = Reader {
        db,
        strings: Strings::new(db, "StringIds", "id", "value")?,
        writer,
        args: Args::default(),
        processes: FxHashMap::default(),
        threads: FxHashMap::default(),
        last_thread: None,
        last_process: None,
        last_stream: None,
        streams: FxHashMap::default(),
        owners: FxHashMap::default(),
        devices: context::Devices::read(db)?,
        waits: FxHashMap::default(),
        read: FxHashSet::default(),
        max_memory: source.options.memory_limit / 8,
    };
    reader.api_calls("CUPTI_ACTIVITY_KIND_RUNTIME")?;
    reader.kernels("CUPTI_ACTIVITY_KIND_KERNEL")?;
    reader.copies("CUPTI_ACTIVITY_KIND_MEMCPY")?;
    reader.fills("CUPTI_ACTIVITY_KIND_MEMSET")?;
    reader.waits("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")?;
    reader.graphs("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")?;
    reader.nvtx("NVTX_EVENTS")?;
    reader.os_calls("OSRT_API")?;
    reader.overheads("CUPTI_ACTIVITY_KIND_OVERHEAD")?;
    reader.overheads("PROFILER_OVERHEAD")?;
    reader.memory("CUDA_GPU_MEMORY_USAGE_EVENTS")?;
    reader.library_calls("CUBLAS_EVENTS", "cublas")?;
    reader.library_calls("CUDNN_EVENTS", "cudnn")?;
    reader.metrics("GPU_METRICS")?;
    reader.context()?;
    reader.writer.finish(issues(source, db))
}

/// The process of a serialized global id: 24 bits above those of the thread.
fn pid_of(global: i64) -> i64 {
    global >> 24 & 0xff_ffff
}

/// The thread of a serialized global id.
fn tid_of(global: i64) -> i64 {
    global & 0xff_ffff
}

/// A stream as the activities name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stream {
    device: i64,
    stream: Option<i64>,
    context: Option<i64>,
    process: i64,
}

/// An export that is being read.
struct Reader<'a> {
    db: &'a Database<'a>,
    strings: Strings<'a>,
    writer: TypedWriter<'a>,
    /// The args of the current event.
    args: Args,
    /// Numbers of the processes, in the order in which they occur.
    processes: FxHashMap<i64, u32>,
    /// Tracks of threads by global id.
    threads: FxHashMap<i64, u32>,
    last_thread: Option<(i64, u32)>,
    last_process: Option<(Option<i64>, u32)>,
    last_stream: Option<(Stream, u32)>,
    /// Tracks of streams.
    streams: FxHashMap<Stream, u32>,
    /// The first owner of each device and stream, which has the track with the stream's number.
    owners: FxHashMap<(i64, Option<i64>), (Option<i64>, i64)>,
    devices: context::Devices,
    /// What the calls that wait for the device wait for, by link.
    waits: FxHashMap<i64, &'static str>,
    /// Tables whose rows are events.
    read: FxHashSet<String>,
    /// Memory in bytes that stacks of calls may take.
    max_memory: usize,
}

impl<'a> Reader<'a> {
    /// Returns a table whose rows become events.
    fn events_of(&mut self, name: &str) -> Option<&'a Table> {
        let table = self.db.table(name)?;
        self.read.insert(table.name.clone());
        Some(table)
    }

    /// Returns a text by its number. A number without a text is counted.
    #[inline]
    fn text(&mut self, key: Option<i64>) -> Result<Option<Text>> {
        let Some(key) = key else { return Ok(None) };
        let text = self.strings.get(&mut self.writer, key)?;
        if text.is_none() {
            self.writer.issue(Code::MissingReference, true, format!("StringIds {key}").as_bytes());
        }
        Ok(text)
    }

    /// Returns the track of a thread by its global id.
    #[inline]
    fn thread(&mut self, global: Option<i64>) -> u32 {
        let Some(global) = global else {
            return self.writer.track(Track::Thread { pid: Id::None, tid: Id::None });
        };
        match self.last_thread {
            Some((last, no)) if last == global => no,
            _ => {
                let no = match self.threads.get(&global) {
                    Some(&no) => no,
                    None => {
                        let (pid, tid) = (Id::Int(pid_of(global)), Id::Int(tid_of(global)));
                        let no = self.writer.track(Track::Thread { pid, tid });
                        self.threads.insert(global, no);
                        no
                    }
                };
                self.last_thread = Some((global, no));
                no
            }
        }
    }

    /// Returns the link of a correlation, which is unique only within a process.
    #[inline]
    fn link(&mut self, global: Option<i64>, correlation: Option<i64>) -> i64 {
        let Some(id) = correlation.filter(|id| is_real_id(*id) && (0..1 << 32).contains(id)) else {
            return NO_LINK;
        };
        let key = global.map(|global| global >> 24);
        let process = match self.last_process {
            Some((last, process)) if last == key => process,
            _ => {
                let next = self.processes.len() as u32;
                let process = *self.processes.entry(key.unwrap_or(-1)).or_insert(next);
                self.last_process = Some((key, process));
                process
            }
        };
        i64::from(process) << 32 | id
    }

    /// Counts a row with values of another type than its columns have.
    fn note_bad(&mut self, bad: bool, table: &Table, row: &Row<'_>) {
        if bad {
            let example = format!("{} row {}", table.name, row.rowid);
            self.writer.issue(Code::ColumnType, true, example.as_bytes());
        }
    }

    /// Adds an event with the current args.
    fn push(&mut self, event: Event<'_>, times: Times) -> Result<()> {
        let (name, text) = match event.name {
            Some(name) => (name.id, &*name.text),
            None => {
                self.writer.issue(Code::NoName, true, b"");
                (NO_TEXT, "")
            }
        };
        let record = EventRecord {
            ts: 0,
            dur: 0,
            offset: 0,
            link: event.link,
            ord: 0,
            track: event.track,
            name,
            cat: event.cat,
            args: 0,
            ph: event.ph,
            class: event.class.code(),
            flags: event.flags,
        };
        self.writer.push(record, times, text, &self.args)
    }
}

/// An event without its times and args.
struct Event<'t> {
    ph: u8,
    cat: TextId,
    name: Option<&'t Text>,
    track: u32,
    class: Class,
    link: i64,
    flags: u16,
}

impl<'t> Event<'t> {
    /// A span of a class.
    fn span(cat: TextId, name: Option<&'t Text>, track: u32, class: Class) -> Self {
        Self { ph: b'X', cat, name, track, class, link: NO_LINK, flags: 0 }
    }
}

/// Returns the columns of a table that have no meaning of their own.
fn rest(table: &Table, taken: &[&str]) -> Rest {
    Rest::of(table, taken)
}

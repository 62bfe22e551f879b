//! Writes Chrome JSON for one trace or several.
//!
//! A single whole trace keeps its processes, IDs and times, so that reading the file gives the same
//! rows. Several traces are shifted to a common clock and kept separate ([`super::merge`]).

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use serde_json::{Value, json};
use tracesql_formats::chrome::{Elements, Ids, Shape, TrackIds, members};

use super::computed::{self, Place};
use super::gzip::Gzip;
use super::merge::{Merger, Process};
use super::select::{Selection, TraceFacts};
use super::{literal, rows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Document, Target};

/// The top-level key under which an export records its selection and the number of skipped
/// elements.
pub(super) const OWN_KEY: &str = "tracesqlExport";
/// The default limit of memory for elements, in bytes.
const MEMORY: usize = 512 << 20;

/// The contents of a Chrome trace.
pub struct ChromeRequest {
    /// The traces, in order.
    pub traces: Vec<TraceFacts>,
    /// The selected events.
    pub selection: Selection,
    /// What is added to the events of the traces.
    pub extras: Extras,
    /// Whether the file is compressed with gzip.
    pub gzip: bool,
    /// The limit of memory for elements, in bytes; 0 for the default.
    pub memory: usize,
    /// Whether times count from the earliest start of the traces, for readers that lose digits of
    /// large times.
    pub from_start: bool,
}

/// What an export adds to the events of traces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Findings as instant events on a separate track.
    pub findings: bool,
    /// Device utilization and memory as counters.
    pub counters: bool,
    /// The pieces of critical paths on separate tracks.
    pub critical_path: bool,
}

/// The result of an export.
pub struct Written {
    /// The number of elements from traces.
    pub elements: u64,
    /// The number of elements that the export added.
    pub added: u64,
    /// The number of input elements that were skipped at ingest.
    pub skipped: u64,
    /// Notes on anything that a user may not expect.
    pub notes: Vec<String>,
}

/// Writes a Chrome trace.
pub async fn chrome(engine: &Engine, request: &ChromeRequest, target: &Target) -> Result<Written> {
    if request.traces.is_empty() {
        return Err(Error::Usage("there is no trace to export".into()));
    }
    let clock = Clock::of(request);
    let mut written = Written {
        elements: 0,
        added: 0,
        skipped: request.traces.iter().map(|t| t.skipped).sum(),
        notes: clock.notes(),
    };
    let mut file = File { document: Document::begin(target)?, first: true };
    if request.gzip {
        file.document = file.document.map(|out| Box::new(Gzip::new(out)));
    }
    file.document.put(head(request, &clock).as_bytes())?;
    let merges = request.traces.len() > 1;
    let mut merger = Merger::new(engine).await?;
    let mut places = Vec::new();
    for (at, trace) in request.traces.iter().enumerate() {
        let tracks = tracks(engine, trace).await?;
        let shift_ns = clock.shift(trace);
        let label = label(trace, at, &request.traces);
        let mut shape = Shape {
            tracks,
            shift_ns,
            make_ends: !request.selection.is_all() || trace.format == "mllm_perf",
            only: None,
            merge: None,
        };
        if merges {
            let (merge, processes) = merger.next(engine, trace, &label, &shape.tracks).await?;
            shape.merge = Some(merge);
            for process in &processes {
                written.added += file.process(process)?;
            }
        } else if trace.format == "mllm_perf" {
            written.added +=
                file.process(&Process { pid: 1, name: "MLLM".to_owned(), sort_index: 0 })?;
        }
        if trace.format == "mllm_perf" {
            let pid =
                shape.merge.as_ref().and_then(|m| m.pids.get(&b"1"[..])).copied().unwrap_or(1);
            written.added += file.blob_threads(engine, trace, pid).await?;
        }
        written.elements += events(engine, request, trace, shape, target, &mut file).await?;
        places.push(Place { trace: trace.clone(), shift_ns, label });
    }
    if request.extras != Extras::default() {
        let pid = merger.new_pid();
        for element in computed::elements(engine, &places, pid, request.extras).await? {
            file.put(element.as_bytes())?;
            written.added += 1;
        }
    }
    file.document.put(b"\n]}\n")?;
    file.document.complete()?;
    Ok(written)
}

/// The output file, with commas between its elements.
struct File<'a> {
    document: Document<'a>,
    first: bool,
}

impl File<'_> {
    fn put(&mut self, element: &[u8]) -> Result<()> {
        if !std::mem::take(&mut self.first) {
            self.document.put(b",\n")?;
        }
        self.document.put(element)
    }

    /// Writes the name and position of a process; returns the number of elements.
    fn process(&mut self, process: &Process) -> Result<u64> {
        let of = |name: &str, args: Value| {
            json!({"ph": "M", "name": name, "pid": process.pid, "args": args}).to_string()
        };
        self.put(of("process_name", json!({"name": process.name})).as_bytes())?;
        self.put(of("process_sort_index", json!({"sort_index": process.sort_index})).as_bytes())?;
        Ok(2)
    }

    /// Writes the names of the tracks of blobs.
    async fn blob_threads(&mut self, engine: &Engine, trace: &TraceFacts, pid: i64) -> Result<u64> {
        let sql = format!(
            "SELECT track_id + 1 AS tid, thread_name FROM tracks WHERE trace_id = {} ORDER BY 1",
            literal(&trace.trace_id)
        );
        let mut count = 0;
        for row in rows::query(engine, &sql).await?.iter() {
            let args = json!({"name": row.text("thread_name")});
            let tid = row.int("tid");
            let element =
                json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": args});
            self.put(element.to_string().as_bytes())?;
            count += 1;
        }
        Ok(count)
    }
}

/// The common clock of all traces in the file.
struct Clock {
    base_time_ns: Option<i64>,
    /// The time of the traces that is 0 in the file.
    zero_ns: i64,
    is_merged: bool,
    without_base: Vec<String>,
}

impl Clock {
    fn of(request: &ChromeRequest) -> Self {
        let traces = &request.traces;
        let without_base = traces
            .iter()
            .filter(|t| t.base_time_ns.is_none())
            .map(|t| t.trace_id.clone())
            .collect();
        let mut clock = Self {
            base_time_ns: traces.iter().filter_map(|t| t.base_time_ns).min(),
            zero_ns: 0,
            is_merged: traces.len() > 1,
            without_base,
        };
        if request.from_start {
            let starts = traces
                .iter()
                .filter_map(|t| t.start_ns.map(|ns| ns.saturating_add(clock.shift(t))));
            clock.zero_ns = starts.min().unwrap_or(0);
        }
        clock
    }

    /// The number of nanoseconds to add to the times of a trace.
    fn shift(&self, trace: &TraceFacts) -> i64 {
        let shift: i64 = match (self.is_merged, trace.base_time_ns, self.base_time_ns) {
            (true, Some(own), Some(base)) => own.saturating_sub(base),
            _ => 0,
        };
        shift.saturating_sub(self.zero_ns)
    }

    fn notes(&self) -> Vec<String> {
        if !self.is_merged || self.without_base.is_empty() {
            return Vec::new();
        }
        let names = self.without_base.join(", ");
        vec![match self.base_time_ns {
            Some(_) => {
                format!(
                    "{names}: no baseTimeNanoseconds, so it is not known where these traces lie \
                     among the others; their times are as written"
                )
            }
            None => "no trace has baseTimeNanoseconds: their times are taken as those of one clock"
                .to_owned(),
        }]
    }
}

/// The label of a trace in a file with several traces.
fn label(trace: &TraceFacts, at: usize, all: &[TraceFacts]) -> String {
    match trace.rank {
        Some(rank) if all.iter().filter(|t| t.rank == trace.rank).count() == 1 => {
            format!("rank {rank}")
        }
        Some(rank) => format!("rank {rank} of {}", trace.trace_id),
        None => format!("trace {at} {}", trace.trace_id),
    }
}

/// Everything before the first element.
fn head(request: &ChromeRequest, clock: &Clock) -> String {
    let skipped: u64 = request.traces.iter().map(|t| t.skipped).sum();
    let mut own = json!({"version": env!("CARGO_PKG_VERSION"), "skipped_elements": skipped});
    if !request.selection.is_all() {
        own["selection"] = request.selection.text().into();
    }
    let mut out = String::from("{");
    if let [trace] = &request.traces[..] {
        let is_left_out =
            |key: &str| key == OWN_KEY || (key == "baseTimeNanoseconds" && clock.zero_ns != 0);
        for (key, value) in members(&trace.metadata).filter(|(key, _)| !is_left_out(key)) {
            out += &format!("\"{key}\":{value},\n");
        }
        // A perf.json stores the base time under another key.
        let is_moved = clock.zero_ns != 0;
        let states_base = trace.format == "mllm_perf" || is_moved;
        if let Some(base) = trace.base_time_ns.filter(|_| states_base) {
            let base = base.saturating_add(clock.zero_ns);
            out += &format!("\"baseTimeNanoseconds\":{base},\n");
        }
    } else {
        // Keys with the same value in all traces are written once for the file.
        let is_common = |key: &str, value: &str| {
            request.traces.iter().all(|t| members(&t.metadata).any(|m| m == (key, value)))
        };
        for (key, value) in members(&request.traces[0].metadata) {
            if !matches!(key, OWN_KEY | "baseTimeNanoseconds" | "traceEvents")
                && is_common(key, value)
            {
                out += &format!("\"{key}\":{value},\n");
            }
        }
        if let Some(base) = clock.base_time_ns {
            let base = base.saturating_add(clock.zero_ns);
            out += &format!("\"baseTimeNanoseconds\":{base},\n");
        }
        let of = |t: &TraceFacts| {
            let metadata: Value = serde_json::from_str(&t.metadata).unwrap_or(Value::Null);
            json!({"trace_id": t.trace_id, "rank": t.rank, "path": t.path, "metadata": metadata})
        };
        own["traces"] = request.traces.iter().map(of).collect();
    }
    out + &format!("\"{OWN_KEY}\":{own},\n\"traceEvents\":[\n")
}

/// The processes and threads of all tracks of a trace.
async fn tracks(engine: &Engine, trace: &TraceFacts) -> Result<Vec<TrackIds>> {
    let sql = format!(
        "SELECT track_id, pid, pid_text, tid_text FROM tracks WHERE trace_id = {} ORDER BY \
         track_id",
        literal(&trace.trace_id)
    );
    let found = rows::query(engine, &sql).await?;
    let is_blobs = trace.format == "mllm_perf";
    let of = |row: rows::Row<'_>| TrackIds {
        pid: row.int("pid").or(is_blobs.then_some(1)),
        pid_text: row.text("pid_text").map(str::to_owned),
        tid_text: row.text("tid_text").map(str::to_owned),
    };
    Ok(found.iter().map(of).collect())
}

/// Writes the events of a trace; returns the number of their elements.
async fn events(
    engine: &Engine,
    request: &ChromeRequest,
    trace: &TraceFacts,
    mut shape: Shape,
    target: &Target,
    file: &mut File<'_>,
) -> Result<u64> {
    if !request.selection.is_all() {
        shape.only = Some(chosen(engine, &request.selection, trace).await?);
    }
    let between = shape.only.as_ref().map(|only| only.ends().unwrap_or((0, -1)));
    let sql = request.selection.sql(trace, between);
    let folder = temporary_folder(target);
    let make_file = move || tempfile::tempfile_in(&folder);
    let max_held = if request.memory == 0 { MEMORY } else { (request.memory / 4).max(16 << 20) };
    let elements =
        Arc::new(Elements::new(trace.elements, trace.text_bytes, max_held, Box::new(make_file)));
    let shape = Arc::new(shape);
    let frame = engine.context().sql(&sql).await?;
    let tasks = frame
        .execute_stream_partitioned()
        .await?
        .into_iter()
        .map(|rows| tokio::spawn(write(rows, shape.clone(), elements.clone())));
    let mut count = 0;
    for task in tasks.collect::<Vec<_>>() {
        count += task.await.map_err(|e| Error::Query(format!("writing events failed: {e}")))??;
    }
    let elements = Arc::try_unwrap(elements)
        .map_err(|_| Error::Query("events are still being written".into()))?;
    let name = file.document.name().to_owned();
    elements
        .finish(|text| {
            file.put(text).map_err(|e| {
                if let Error::Output(_, e) = e { e } else { std::io::Error::other(e.to_string()) }
            })
        })
        .map_err(|e| Error::Output(name, e))?;
    Ok(count)
}

/// The IDs of the events that a selection contains.
async fn chosen(engine: &Engine, selection: &Selection, trace: &TraceFacts) -> Result<Ids> {
    let mut ids = Ids::default();
    let mut rows = engine.context().sql(&selection.ids_sql(trace)).await?.execute_stream().await?;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        let Some(column) = batch.column(0).as_primitive_opt::<Int64Type>() else {
            return Err(Error::Query(format!(
                "event_id is {}, not a whole number",
                batch.column(0).data_type()
            )));
        };
        column.iter().flatten().for_each(|id| ids.add(id));
    }
    Ok(ids)
}

async fn write(
    mut rows: SendableRecordBatchStream,
    shape: Arc<Shape>,
    elements: Arc<Elements>,
) -> Result<u64> {
    let mut count = 0;
    while let Some(batch) = rows.next().await {
        count += shape.write(&batch?, &elements)?;
    }
    Ok(count)
}

/// The folder for temporary files, which is on the same disk as the result.
fn temporary_folder(target: &Target) -> PathBuf {
    match target {
        Target::File(path) => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        },
        Target::Stdout => std::env::temp_dir(),
    }
}

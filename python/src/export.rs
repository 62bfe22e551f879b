//! Exports of traces and views for other tools.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use tracesql::engine::Engine;
use tracesql::export::{
    self, ChromeRequest, PerfRequest, Selection, TablesRequest, TraceFacts, Written,
};
use tracesql::output::{Format, Target};
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::profiles::parsed;
use crate::session::Session;
use crate::{choose, wait};

/// Written files with their numbers of rows or elements.
type Files = Vec<(String, u64)>;

#[derive(Clone, Copy)]
enum Kind {
    Chrome,
    PerfJson,
    Table(Format, &'static str),
}

const KINDS: &[(&str, Kind)] = &[
    ("chrome", Kind::Chrome),
    ("perf-json", Kind::PerfJson),
    ("csv", Kind::Table(Format::Csv, "csv")),
    ("tsv", Kind::Table(Format::Tsv, "tsv")),
    ("ndjson", Kind::Table(Format::Ndjson, "ndjson")),
    ("parquet", Kind::Table(Format::Parquet, "parquet")),
    ("arrow", Kind::Table(Format::Arrow, "arrow")),
];

/// Writes traces, views or the rows of a query. Returns the files with their numbers of rows or
/// elements, and notes.
#[pyfunction]
#[pyo3(name = "export")]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (
    session, format, path, traces, rank, steps, filter, views, sql, findings, counters,
    critical_path
))]
pub fn run(
    py: Python<'_>,
    session: &Bound<'_, Session>,
    format: &str,
    path: PathBuf,
    traces: Vec<String>,
    rank: Option<i64>,
    steps: Option<(i64, i64)>,
    filter: Option<String>,
    views: Vec<String>,
    sql: Option<String>,
    findings: bool,
    counters: bool,
    critical_path: bool,
) -> PyResult<(Files, Vec<String>)> {
    let session = session.get();
    let kind = parsed("format", format, KINDS)?;
    let text = sql.clone().unwrap_or_default();
    let engine = session.engine.clone();
    let all = wait::query(py, &session.threads, async move { export::traces(&engine).await })?;
    let all = all.map_err(exception)?;
    let ids = choose::named(&session.engine, &traces).map_err(exception)?;
    let chosen = chosen(&all, &ids, rank).map_err(exception)?;
    let engine = if chosen.len() == all.len() {
        session.engine.clone()
    } else {
        let ids = chosen.iter().map(|t| t.trace_id.clone()).collect();
        let location = session.location.clone().with_only(ids);
        Arc::new(location.engine(&session.options).map_err(exception)?)
    };
    let selection = Selection { condition: filter, steps, query: sql };
    let memory = session.options.memory_limit;
    let work = async move {
        let extras = export::Extras { findings, counters, critical_path };
        write(&engine, kind, chosen, selection, views, (extras, memory), path).await
    };
    let done = wait::query(py, &session.threads, work)?;
    session.explained(py, &text, done)
}

async fn write(
    engine: &Engine,
    kind: Kind,
    mut traces: Vec<TraceFacts>,
    selection: Selection,
    views: Vec<String>,
    (extras, memory): (export::Extras, usize),
    path: PathBuf,
) -> Result<(Files, Vec<String>)> {
    let name = path.display().to_string();
    let gzip = path.extension().is_some_and(|e| e == "gz");
    let target = Target::File(path);
    let done = |written: Written| {
        let mut notes = written.notes;
        if written.skipped > 0 {
            notes.push(format!(
                "{} elements of the inputs could not be read and are not there (see ingest_issues)",
                written.skipped
            ));
        }
        (vec![(name, written.elements)], notes)
    };
    match kind {
        Kind::Table(format, ending) => {
            let request = TablesRequest { views, selection, format, ending };
            let files = export::tables(engine, &request, &target).await?;
            Ok((files.into_iter().map(|(name, rows)| (name, rows as u64)).collect(), Vec::new()))
        }
        Kind::Chrome => {
            let request =
                ChromeRequest { traces, selection, extras, gzip, memory, from_start: false };
            export::chrome(engine, &request, &target).await.map(done)
        }
        Kind::PerfJson => {
            let (Some(trace), true) = (traces.pop(), traces.is_empty()) else {
                return Err(Error::Usage(
                    "a perf.json holds one trace; choose one with traces=".into(),
                ));
            };
            let request = PerfRequest { trace, selection, gzip };
            export::perf(engine, &request, &target).await.map(done)
        }
    }
}

/// The traces with these ids and this rank.
fn chosen(all: &[TraceFacts], ids: &[String], rank: Option<i64>) -> Result<Vec<TraceFacts>> {
    let wanted = |t: &&TraceFacts| {
        (ids.is_empty() || ids.contains(&t.trace_id)) && (rank.is_none() || t.rank == rank)
    };
    let chosen: Vec<TraceFacts> = all.iter().filter(wanted).cloned().collect();
    match rank {
        Some(rank) if chosen.is_empty() => {
            let mut ranks: Vec<String> =
                all.iter().filter_map(|t| t.rank).map(|r| r.to_string()).collect();
            ranks.dedup();
            let ranks = if ranks.is_empty() { "none".to_owned() } else { ranks.join(", ") };
            Err(Error::Usage(format!("no trace has rank {rank}; recorded ranks: {ranks}")))
        }
        _ => Ok(chosen),
    }
}

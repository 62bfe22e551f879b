//! Files for other tools.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State as Shared;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tracesql::engine::Engine;
use tracesql::export::{ChromeRequest, Extras, Selection, chrome, traces};
use tracesql::output::{Format, Target, write};
use tracesql::requests::{Call, Shape};
use tracesql::{Error, Result};

use super::query::failure;
use super::{Statement, parsed};
use crate::failure::Failure;
use crate::open::State;
use crate::timeline::Timeline;

/// Bytes of a piece of an answer.
const PIECE: usize = 256 << 10;

#[derive(Debug, Deserialize)]
struct Asked {
    format: String,
    /// The id of a trace; all traces if none is named.
    #[serde(default)]
    trace: Option<String>,
    /// Times of the timeline between which events start.
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    end: Option<f64>,
    #[serde(default)]
    sql: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

/// POST `/api/export`.
pub async fn export(Shared(state): Shared<Arc<State>>, body: Bytes) -> Result<Response, Failure> {
    let asked: Asked = parsed(&body)?;
    let engine = state.engine().await?;
    // The file is removed with its folder when the last byte is read, or the page leaves.
    let folder =
        tempfile::tempdir().map_err(|e| Failure::bad(format!("a folder for files: {e}")))?;
    let (name, kind) = match asked.format.as_str() {
        "chrome" => ("trace.json.gz", "application/gzip"),
        "csv" => ("result.csv", "text/csv; charset=utf-8"),
        "parquet" => ("result.parquet", "application/vnd.apache.parquet"),
        "arrow" => ("result.arrows", "application/vnd.apache.arrow.stream"),
        other => {
            return Err(Failure::bad(format!(
                "the formats are chrome, csv, parquet and arrow, and not {other}"
            )));
        }
    };
    let file = folder.path().join(name);
    let target = Target::File(file.clone());
    let call = Call::default();
    if asked.format == "chrome" {
        let timeline = state.timeline().await?;
        let work = async move { events(&engine, &timeline, &asked, &target).await };
        state.requests.run(&call, work).await?;
    } else {
        let sql = asked.sql.clone().ok_or_else(|| Failure::bad("the statement is missing"))?;
        let statement = Statement { sql: sql.clone(), parameters: asked.parameters };
        let parameters = statement.query(Shape::default())?.parameters;
        let format = Format::of_file(&file).unwrap_or(Format::Csv);
        let (of_work, text) = (engine.clone(), sql.clone());
        let work = async move {
            let mut statements = of_work.parse(&text)?;
            if statements.len() != 1 {
                return Err(Error::Query("one statement was expected".into()));
            }
            let result = of_work.run(statements.remove(0), &parameters).await?;
            write(result, format, &target).await
        };
        if let Err(error) = state.requests.run(&call, work).await {
            return Err(failure(&state, error, sql, engine).await);
        }
    }
    let opened = File::open(&file).map_err(|e| Failure::bad(format!("the file: {e}")))?;
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, Body::from_stream(pieces(opened, folder))).into_response())
}

async fn events(
    engine: &Engine,
    timeline: &Timeline,
    asked: &Asked,
    target: &Target,
) -> Result<()> {
    let mut all = traces(engine).await?;
    if let Some(wanted) = &asked.trace {
        all.retain(|trace| trace.trace_id == *wanted);
    }
    let selection = Selection { condition: condition(timeline, asked), ..Selection::default() };
    let request = ChromeRequest {
        traces: all,
        selection,
        extras: Extras::default(),
        gzip: true,
        memory: 0,
        // Perfetto reads times as doubles, which hold no nanoseconds of Unix times.
        from_start: true,
    };
    chrome(engine, &request, target).await.map(drop)
}

/// The events that start between the times of the timeline.
fn condition(timeline: &Timeline, asked: &Asked) -> Option<String> {
    let (start, end) = (asked.start?.floor() as i64, asked.end?.ceil() as i64);
    let of_traces = timeline.traces.iter().map(|trace| {
        let at = |time: i64| time.saturating_add(trace.clock.shift_ns);
        format!(
            "(trace_id = '{}' AND ts_ns < {} AND coalesce(end_ns, ts_ns) >= {})",
            trace.trace_id.replace('\'', "''"),
            at(end),
            at(start)
        )
    });
    Some(of_traces.collect::<Vec<_>>().join(" OR "))
}

/// The bytes of a file, read as the client takes them.
fn pieces(file: File, folder: TempDir) -> impl futures::Stream<Item = std::io::Result<Bytes>> {
    stream::unfold((file, folder), |(mut file, folder)| async move {
        let reading = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece).map(|count| {
                piece.truncate(count);
                piece
            });
            (read, file)
        });
        let (read, file) = reading.await.ok()?;
        match read {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) => Some((Ok(Bytes::from(piece)), (file, folder))),
            Err(e) => Some((Err(e), (file, folder))),
        }
    })
}

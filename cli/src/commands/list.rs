//! `tracesql list`: lists the traces of a store.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use clap::Args;
use datafusion::prelude::SessionContext;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::open::open_store;
use tracesql::output::{self, TableStyle, Target};
use tracesql::store::TraceStore;
use tracesql::{Error, Result};
use tracesql_ingest::Manifest;

use crate::global::Global;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::Format;

/// The number of rows that a terminal shows.
const MAX_ROWS: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql list store
  tracesql list store -v                 with whole ids, paths and sizes
  tracesql list store --format csv       the same for programs

The short list shows each trace under the shortest name that --trace takes.")]
pub struct ListArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Format of the list with whole ids, paths and sizes [default: a short list]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

pub fn run(args: &ListArgs, global: &Global) -> Result<()> {
    let store = open_store(&args.store)?;
    match args.format {
        Some(format) => print(with_sizes(&store)?, format.into(), global),
        None if global.verbose => print(with_sizes(&store)?, output::Format::Table, global),
        None => short(&store, global),
    }
}

/// A row for each trace, with the figures of its manifest.
fn with_sizes(store: &TraceStore) -> Result<RecordBatch> {
    let traces = store.traces()?;
    let text = |f: fn(&Manifest) -> String| {
        Arc::new(traces.iter().map(|t| Some(f(t))).collect::<StringArray>()) as ArrayRef
    };
    let int = |f: fn(&Manifest) -> u64| {
        Arc::new(traces.iter().map(|t| Some(f(t) as i64)).collect::<Int64Array>()) as ArrayRef
    };
    RecordBatch::try_from_iter([
        ("trace_id", text(|t| t.trace_id.clone())),
        ("path", text(|t| t.path.clone())),
        ("events", int(|t| t.rows("events"))),
        ("kernels", int(|t| t.rows("kernels"))),
        ("input_bytes", int(|t| t.input_bytes)),
        ("store_bytes", int(Manifest::bytes)),
    ])
    .map_err(|e| Error::Query(e.to_string()))
}

/// What people ask of a list: how long each trace is, and where and when it was recorded. An id is
/// shown without its hash where that is enough to tell it from the others.
const SHORT: &str = r"
WITH named AS (
  SELECT *, regexp_replace(trace_id, '-[^-]*$', '') AS stem FROM traces
)
SELECT CASE WHEN count(*) OVER (PARTITION BY stem) = 1 THEN stem ELSE trace_id END AS trace,
  rank, world_size, format_ns(duration_ns) AS duration, s.steps, event_count AS events,
  to_char(to_timestamp_nanos(base_time_ns + start_ns), '%Y-%m-%d %H:%M') AS recorded
FROM named t
LEFT JOIN (SELECT trace_id AS id, count(*) AS steps FROM steps GROUP BY trace_id) s
  ON s.id = t.trace_id
ORDER BY t.trace_id";

fn short(store: &TraceStore, global: &Global) -> Result<()> {
    let options = EngineOptions { threads: global.threads, ..EngineOptions::default() };
    let engine = Engine::open(store, None, &options)?;
    let statement = engine.parse(SHORT)?.remove(0);
    let shown = block_on(global, async {
        show(engine.run(statement, &[]).await?, output::Format::Table).await
    })?;
    if shown.has_more && !global.quiet {
        stderr::line(&format!(
            "the first {} of {} traces; --format csv lists all",
            shown.rows,
            engine.traces().len()
        ));
    }
    Ok(())
}

/// Prints rows, which fit a terminal.
pub fn print(batch: RecordBatch, format: output::Format, global: &Global) -> Result<()> {
    block_on(global, async {
        let rows = SessionContext::new().read_batch(batch)?.execute_stream().await?;
        if format == output::Format::Table {
            let shown = show(rows, format).await?;
            if shown.has_more && !global.quiet {
                stderr::line(&format!("the first {} rows; --format csv lists all", shown.rows));
            }
        } else {
            output::write(rows, format, &Target::Stdout).await?;
        }
        Ok(())
    })
}

async fn show(
    rows: datafusion::execution::SendableRecordBatchStream,
    format: output::Format,
) -> Result<output::Shown> {
    let is_terminal = std::io::stdout().is_terminal();
    let style = TableStyle {
        width: comfy_table::Table::new().width().map(usize::from).filter(|_| is_terminal),
        max_rows: is_terminal.then_some(MAX_ROWS),
        in_shell: false,
    };
    output::show(rows, format, Box::new(std::io::stdout()), style).await
}

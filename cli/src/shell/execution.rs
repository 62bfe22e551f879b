//! Runs a statement until its last row, and measures its time and the amount of data that it reads.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::ScalarValue;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement;
use indicatif::{HumanBytes, HumanCount};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use tracesql::engine::{Engine, planned_apart};
use tracesql::output::{self, Format, Shown, TableStyle, Target};
use tracesql::{Error, Result};

use super::pager::Screen;
use crate::time_limit::GRACE;

/// The destination of a result.
pub enum Destination {
    /// Standard output, in the same format as a file.
    Plain(Format),
    /// A file.
    File(Format, PathBuf),
    /// A terminal.
    Screen(Format, TableStyle, Screen),
}

/// The number of rows and the costs of a statement.
#[derive(Debug)]
pub struct Done {
    /// The number of rows that were shown, and whether there were more.
    pub shown: Shown,
    /// The time from the start to the last row, including the time for writing.
    pub elapsed: Duration,
    /// The amount of data that was read from the store.
    pub scanned: Scanned,
}

/// The amount of data that a plan read from the store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scanned {
    /// The number of rows that were examined.
    pub rows: usize,
    /// The number of bytes that were read from files.
    pub bytes: usize,
}

/// Runs a statement and writes its result.
pub async fn run(
    engine: Arc<Engine>,
    statement: Statement,
    parameters: Vec<(String, ScalarValue)>,
    destination: Destination,
) -> Result<Done> {
    let start = Instant::now();
    let started = engine.start(statement, &parameters).await?;
    let all = |rows| Shown { rows, has_more: false };
    let shown = match destination {
        Destination::Plain(format) => {
            all(output::write(started.result, format, &Target::Stdout).await?)
        }
        Destination::File(format, path) => {
            all(output::write(started.result, format, &Target::File(path)).await?)
        }
        Destination::Screen(format, style, screen) => {
            output::show(started.result, format, Box::new(screen), style).await?
        }
    };
    Ok(Done { shown, elapsed: start.elapsed(), scanned: scanned(&started.plan) })
}

/// The outcome of a query that Ctrl-C can stop.
pub enum Ended<T> {
    /// The query ended by itself.
    Itself(Result<T>),
    /// Ctrl-C or the time limit stopped the query.
    Cancelled(Error),
    /// Ctrl-C or the time limit stopped the query, but a part of it cannot be stopped and keeps
    /// threads busy.
    Abandoned(Error),
}

/// Runs work until it ends, until Ctrl-C, or until the time limit, whichever comes first. `held`
/// reports whether a pager holds the terminal. In that case the work may take longer to end.
pub fn cancellable<T: Send + 'static>(
    runtime: &Runtime,
    limit: Option<Duration>,
    held: impl Fn() -> bool,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<Ended<T>> {
    // Waiting has its own runtime, because threads that are busy with a query do not see signals.
    let waiting = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Start { what: "the event loop", source })?;
    let mut task = runtime.spawn(work);
    waiting.block_on(async {
        let mut why = Error::Cancelled;
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|source| Error::Start { what: "the handler of signals", source })?;
        tokio::select! {
            done = &mut task => {
                let failed = |e| Err(Error::Query(format!("the query engine failed: {e}")));
                return Ok(Ended::Itself(done.unwrap_or_else(failed)));
            }
            _ = interrupts.recv() => {}
            error = time_is_up(limit) => why = error,
        }
        task.abort();
        while tokio::time::timeout(GRACE, &mut task).await.is_err() {
            if !held() {
                return Ok(Ended::Abandoned(why));
            }
        }
        Ok(Ended::Cancelled(why))
    })
}

/// Waits until the time limit; forever if there is none.
async fn time_is_up(limit: Option<Duration>) -> Error {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            Error::Timeout(limit)
        }
        None => std::future::pending().await,
    }
}

/// The rows and bytes counted by the leaves of a plan, and by the leaves of the shared plans that
/// it reads.
fn scanned(plan: &Arc<dyn ExecutionPlan>) -> Scanned {
    fn shared<'p>(plan: &'p Arc<dyn ExecutionPlan>, found: &mut Vec<&'p Arc<dyn ExecutionPlan>>) {
        match planned_apart(plan) {
            Some(inner) if found.iter().any(|f| Arc::ptr_eq(f, inner)) => {}
            Some(inner) => {
                found.push(inner);
                shared(inner, found);
            }
            None => plan.children().into_iter().for_each(|child| shared(child, found)),
        }
    }
    let mut plans = vec![plan];
    shared(plan, &mut plans);
    plans.into_iter().map(scanned_itself).fold(Scanned::default(), |a, b| Scanned {
        rows: a.rows + b.rows,
        bytes: a.bytes + b.bytes,
    })
}

fn scanned_itself(plan: &Arc<dyn ExecutionPlan>) -> Scanned {
    let children = plan.children();
    if !children.is_empty() {
        return children.into_iter().map(scanned_itself).fold(Scanned::default(), |a, b| Scanned {
            rows: a.rows + b.rows,
            bytes: a.bytes + b.bytes,
        });
    }
    let Some(metrics) = plan.metrics() else { return Scanned::default() };
    let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |v| v.as_usize());
    // Rows that a filter dropped during the read were examined too.
    Scanned {
        rows: metrics.output_rows().unwrap_or(0) + sum("pushdown_rows_pruned"),
        bytes: sum("bytes_scanned"),
    }
}

impl Scanned {
    /// The amount in words; empty if nothing was read. Cached bytes are not counted, so there may
    /// be rows without bytes.
    pub fn text(&self) -> String {
        match (self.rows, self.bytes) {
            (0, 0) => String::new(),
            (count, 0) => format!("; read {}", rows(count)),
            (count, bytes) => {
                format!("; read {}, {} of the store", rows(count), HumanBytes(bytes as u64))
            }
        }
    }
}

/// Formats a time for people.
pub fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Formats a number of rows in words.
pub fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", HumanCount(count as u64)) }
}

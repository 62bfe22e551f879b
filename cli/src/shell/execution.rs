//! One statement from its start to its last row, with its time and the amount that was read.

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

/// Where a result goes.
pub enum Destination {
    /// Standard output, as to a file.
    Plain(Format),
    /// A file.
    File(Format, PathBuf),
    /// A terminal.
    Screen(Format, TableStyle, Screen),
}

/// Rows and costs of a statement.
#[derive(Debug)]
pub struct Done {
    /// Rows that came out, and whether there were more.
    pub shown: Shown,
    /// Time from the start to the last row, with writing it.
    pub elapsed: Duration,
    /// How much of the store was read.
    pub scanned: Scanned,
}

/// How much of the store a plan read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scanned {
    /// Rows that were looked at.
    pub rows: usize,
    /// Bytes of files that were read.
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

/// Outcome of a query that Ctrl-C can stop.
pub enum Ended<T> {
    /// It ended by itself.
    Itself(Result<T>),
    /// Ctrl-C or the time limit stopped it.
    Cancelled(Error),
    /// The same, but a part of it cannot be stopped and keeps threads busy.
    Abandoned(Error),
}

/// Runs work until its end, Ctrl-C, or the end of its time, whichever comes first. `held` says
/// whether a pager holds the terminal; work may take longer to end then.
pub fn cancellable<T: Send + 'static>(
    runtime: &Runtime,
    limit: Option<Duration>,
    held: impl Fn() -> bool,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<Ended<T>> {
    // Waiting has a runtime of its own, because threads that are busy with a query see no signals.
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

/// Waits until the time is up; forever if there is no limit.
async fn time_is_up(limit: Option<Duration>) -> Error {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            Error::Timeout(limit)
        }
        None => std::future::pending().await,
    }
}

/// What the leaves of a plan counted, and those of the plans that it shares.
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
    // Rows that a filter dropped while reading were looked at too.
    Scanned {
        rows: metrics.output_rows().unwrap_or(0) + sum("pushdown_rows_pruned"),
        bytes: sum("bytes_scanned"),
    }
}

impl Scanned {
    /// In words; empty if nothing was read. Cached bytes are not counted, so there may be rows
    /// without bytes.
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

/// A time for people.
pub fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A number of rows in words.
pub fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", HumanCount(count as u64)) }
}

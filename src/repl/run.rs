//! One statement from its start to its last row, and what it took.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::ScalarValue;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use super::pager::Screen;
use crate::engine::{Engine, planned_apart};
use crate::error::{Error, Result};
use crate::output::{self, Format, Look, Shown, Target};

/// How long a query may take to end after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a result goes.
pub enum To {
    /// Standard output, as it is.
    Plain(Format),
    /// A file.
    File(Format, PathBuf),
    /// Somebody who looks at it.
    Screen(Format, Look, Screen),
}

/// What a statement gave and took.
#[derive(Debug)]
pub struct Done {
    /// Rows that came out, and whether there were more.
    pub shown: Shown,
    /// Time from the start to the last row, with writing it.
    pub elapsed: Duration,
    /// What was read of the store.
    pub scanned: Scanned,
}

/// What a plan read of the store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scanned {
    /// Rows that were looked at.
    pub rows: usize,
    /// Bytes of files that were read.
    pub bytes: usize,
}

/// Runs a statement; its result goes where it should.
pub async fn run(
    engine: Arc<Engine>,
    statement: Statement,
    parameters: Vec<(String, ScalarValue)>,
    to: To,
) -> Result<Done> {
    let start = Instant::now();
    let started = engine.start(statement, &parameters).await?;
    let all = |rows| Shown { rows, has_more: false };
    let shown = match to {
        To::Plain(format) => all(output::write(started.result, format, &Target::Stdout).await?),
        To::File(format, path) => {
            all(output::write(started.result, format, &Target::File(path)).await?)
        }
        To::Screen(format, look, screen) => {
            output::show(started.result, format, Box::new(screen), look).await?
        }
    };
    Ok(Done { shown, elapsed: start.elapsed(), scanned: scanned(&started.plan) })
}

/// The threads that run queries; 0 stands for all cores.
pub fn runtime(threads: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    // Deep expressions are planned by recursion.
    builder
        .thread_stack_size(8 << 20)
        .enable_all()
        .build()
        .map_err(|e| Error::Output("threads".into(), e))
}

/// Runs work until its end or for as long as it may take. Work that does not give way ends with the
/// process.
pub fn within<T>(
    runtime: &Runtime,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    // Libraries below may panic over a damaged file; that is an error like others.
    let outcome = catch_unwind(AssertUnwindSafe(|| in_time(runtime, limit, work)));
    outcome.unwrap_or_else(|_| Err(Error::Query("the query engine failed; if the store may be damaged, `tracesql doctor` looks at all of it".into())))
}

fn in_time<T>(
    runtime: &Runtime,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let Some(limit) = limit else { return runtime.block_on(work) };
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        if is_done.recv_timeout(limit.saturating_add(PATIENCE))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let error = Error::Timeout(limit);
            crate::messages::error(&error.to_string());
            std::process::exit(i32::from(error.exit_code()));
        }
    });
    let outcome = runtime.block_on(async { tokio::time::timeout(limit, work).await });
    match outcome {
        Ok(outcome) => {
            // Nobody listens if the time is up just now.
            let _ = done.send(());
            outcome
        }
        Err(_) => {
            // What is left of the work may keep the process from its end, so the thread stays on
            // its guard.
            std::mem::forget(done);
            Err(Error::Timeout(limit))
        }
    }
}

/// How a query ended that Ctrl-C could end.
pub enum Ended<T> {
    /// By itself.
    Itself(Result<T>),
    /// By Ctrl-C, or because its time was up.
    Cancelled(Error),
    /// The same, but a part of it still keeps threads busy.
    Abandoned(Error),
}

/// Runs work until its end, Ctrl-C, or the end of its time, whichever comes first. `held` says
/// whether somebody else holds the terminal.
pub fn cancellable<T: Send + 'static>(
    runtime: &Runtime,
    limit: Option<Duration>,
    held: impl Fn() -> bool,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<Ended<T>> {
    // Waiting has a runtime of its own: threads that are busy with a query see no signals.
    let waiting = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::Output("threads".into(), e))?;
    let mut task = runtime.spawn(work);
    waiting.block_on(async {
        let mut why = Error::Cancelled;
        let mut interrupts = signal(SignalKind::interrupt()).map_err(|e| Error::Output("signals".into(), e))?;
        tokio::select! {
            done = &mut task => {
                return Ok(Ended::Itself(done.unwrap_or_else(|e| Err(Error::Query(format!("the query engine failed: {e}"))))));
            }
            _ = interrupts.recv() => {}
            error = time_is_up(limit) => why = error,
        }
        task.abort();
        while tokio::time::timeout(PATIENCE, &mut task).await.is_err() {
            if !held() {
                return Ok(Ended::Abandoned(why));
            }
        }
        Ok(Ended::Cancelled(why))
    })
}

/// Waits until the time is up; for ever if there is no limit.
async fn time_is_up(limit: Option<Duration>) -> Error {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            Error::Timeout(limit)
        }
        None => std::future::pending().await,
    }
}

/// What the leaves of a plan counted, and of what it shares with itself.
fn scanned(plan: &Arc<dyn ExecutionPlan>) -> Scanned {
    fn shared<'p>(plan: &'p Arc<dyn ExecutionPlan>, found: &mut Vec<&'p Arc<dyn ExecutionPlan>>) {
        match planned_apart(plan) {
            Some(behind) if found.iter().any(|f| Arc::ptr_eq(f, behind)) => {}
            Some(behind) => {
                found.push(behind);
                shared(behind, found);
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
    /// In words; empty if nothing was read. Bytes that lay in a cache are not counted, so they may
    /// be none.
    pub fn text(&self) -> String {
        match (self.rows, self.bytes) {
            (0, 0) => String::new(),
            (count, 0) => format!("; read {}", rows(count)),
            (count, bytes) => format!(
                "; read {}, {} of the store",
                rows(count),
                indicatif::HumanBytes(bytes as u64)
            ),
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
    if count == 1 {
        "1 row".to_owned()
    } else {
        format!("{} rows", indicatif::HumanCount(count as u64))
    }
}

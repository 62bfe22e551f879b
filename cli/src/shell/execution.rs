//! Runs a statement until its last row, and measures its time and the amount of data that it reads.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::ScalarValue;
use datafusion::sql::parser::Statement;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use tracesql::engine::{Engine, Scanned};
use tracesql::output::{self, Format, Shown, TableStyle, Target};
use tracesql::{Error, Result};

use super::pager::Screen;
use super::query_progress::Watched;
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
    /// The time from the start until the last row is ready to be displayed. The time in which the
    /// user reads it in a pager is not part of it.
    pub elapsed: Duration,
    /// The amount of data that was read from the store.
    pub scanned: Scanned,
}

/// Runs a statement and writes its result.
pub async fn run(
    engine: Arc<Engine>,
    statement: Statement,
    parameters: Vec<(String, ScalarValue)>,
    destination: Destination,
    watched: Arc<Watched>,
) -> Result<Done> {
    let started = engine.start(statement, &parameters).await?;
    watched.set_plan(started.plan.clone());
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
    Ok(Done { shown, elapsed: watched.elapsed(), scanned: Scanned::of(&started.plan) })
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

/// Runs work until it ends, until Ctrl-C, or until the time limit, whichever comes first. Shows its
/// progress meanwhile. While a pager holds the terminal, the work may take longer to end.
pub fn cancellable<T: Send + 'static>(
    runtime: &Runtime,
    limit: Option<Duration>,
    watched: &Watched,
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
                watched.end();
                let failed = |e| Err(Error::Query(format!("the query engine failed: {e}")));
                return Ok(Ended::Itself(done.unwrap_or_else(failed)));
            }
            _ = interrupts.recv() => {}
            error = time_is_up(limit) => why = error,
            () = watched.show() => {}
        }
        watched.end();
        task.abort();
        while tokio::time::timeout(GRACE, &mut task).await.is_err() {
            if !watched.has_pager() {
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

/// Formats a time for people.
pub fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

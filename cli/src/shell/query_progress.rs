//! Watches a running query: shows how long it has been running and how many rows it has read, and
//! keeps the time that its user spends on reading the result out of its time.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use datafusion::physical_plan::ExecutionPlan;
use tracesql::engine::Scanned;

use crate::progress;
use crate::traces_done::{ShellLine, traces_done};

/// A query that takes less time than this shows no progress.
const FIRST: Duration = Duration::from_secs(1);
/// The time between two updates of the line.
const STEP: Duration = Duration::from_millis(200);

/// A query that runs, or has run.
#[derive(Debug)]
pub struct Watched {
    start: Instant,
    /// Exists if progress is shown.
    shows: Option<ShellLine>,
    plan: OnceLock<Arc<dyn ExecutionPlan>>,
    line: Mutex<Line>,
    pager_is_open: AtomicBool,
    /// The time that writing to the terminal and waiting for a pager have taken.
    display_ns: AtomicU64,
}

/// The state of the line that shows progress.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Hidden,
    Shown,
    /// The result is being displayed, or the query has ended. No line may appear any more.
    Over,
}

impl Watched {
    /// Starts to watch a query. `in_shell` is true if its progress may be shown.
    pub fn start(in_shell: bool) -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            shows: (in_shell && stderr().is_terminal()).then(ShellLine::begin),
            plan: OnceLock::new(),
            line: Mutex::new(Line::Hidden),
            pager_is_open: AtomicBool::new(false),
            display_ns: AtomicU64::new(0),
        })
    }

    /// Sets the plan, which counts the rows that are read.
    pub fn set_plan(&self, plan: Arc<dyn ExecutionPlan>) {
        let _ = self.plan.set(plan);
    }

    /// Shows progress until it is dropped.
    pub async fn show(&self) {
        if self.shows.is_none() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(FIRST).await;
        loop {
            self.update();
            tokio::time::sleep(STEP).await;
        }
    }

    fn update(&self) {
        let read = self.plan.get().map_or(0, |plan| Scanned::of(plan).rows);
        let mut line = self.line();
        if *line != Line::Over {
            *line = Line::Shown;
            let text = progress::of_query(self.start.elapsed(), read, traces_done());
            let _ = write!(stderr(), "\r\x1b[K{text}");
        }
    }

    /// Removes the line. It does not appear again.
    pub fn end(&self) {
        let mut line = self.line();
        if std::mem::replace(&mut *line, Line::Over) == Line::Shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    /// Writes a result. The time that this takes is not the query's.
    pub fn display<T>(&self, write: impl FnOnce() -> T) -> T {
        self.end();
        let start = Instant::now();
        let written = write();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.display_ns.fetch_add(nanos, Ordering::Relaxed);
        written
    }

    /// The time since the start, without the time for displaying the result.
    pub fn elapsed(&self) -> Duration {
        let displaying = Duration::from_nanos(self.display_ns.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(displaying)
    }

    /// Sets whether a pager holds the terminal.
    pub fn set_pager(&self, is_open: bool) {
        self.pager_is_open.store(is_open, Ordering::Relaxed);
    }

    /// Whether a pager holds the terminal.
    pub fn has_pager(&self) -> bool {
        self.pager_is_open.load(Ordering::Relaxed)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_displaying_is_not_counted() {
        let watched = Watched::start(false);
        watched.display(|| std::thread::sleep(Duration::from_millis(200)));
        assert!(watched.elapsed() < Duration::from_millis(150), "{:?}", watched.elapsed());
    }

    #[test]
    fn no_line_appears_after_the_end() {
        let watched = Watched::start(false);
        watched.end();
        watched.update();
        assert_eq!(*watched.line(), Line::Over);
    }
}

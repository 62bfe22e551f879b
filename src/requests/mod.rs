//! Queries of programs: coding assistants and pages.
//!
//! A shell has one user who looks at the result. Programs send several queries at once, forget
//! them, and read all of an answer. So a query here has bounds: of time, of rows and bytes of its
//! answer, and of the number of queries that run at once. It can be cancelled, and others can watch
//! it. Nothing here knows a protocol.

mod answer;
mod call;
mod common;
mod parameters;
mod rows;
mod units;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::ScalarValue;
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

pub use answer::{Answer, Column, Cut};
pub use call::{Call, Phase};
pub use parameters::parameter;
pub use rows::{MAX_EXACT_INTEGER, Shape, text_of, values};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::explain::{Audience, explained};

/// Limits of all queries together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time that a query has from the moment at which it may run.
    pub time: Duration,
    /// Queries that run at once; others wait.
    pub running: usize,
    /// Queries that wait. Beyond them a query is refused.
    pub waiting: usize,
    /// The length of a statement in bytes.
    pub statement_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), running: 2, waiting: 32, statement_bytes: 256 << 10 }
    }
}

/// One query of a program.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// One statement.
    pub sql: String,
    /// Values of `$name`, by name.
    pub parameters: Vec<(String, ScalarValue)>,
    /// Bounds of the answer.
    pub shape: Shape,
    /// Whether only the columns are wanted. Then no row is computed.
    pub columns_only: bool,
}

impl Query {
    /// A query with the usual bounds and without parameters.
    pub fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), ..Self::default() }
    }

    /// The same query with a value for a parameter.
    pub fn with(mut self, name: &str, value: impl Into<ScalarValue>) -> Self {
        self.parameters.push((name.to_owned(), value.into()));
        self
    }

    /// The same query with other bounds.
    pub fn within(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }
}

/// Runs queries within limits. Copies share the limits.
#[derive(Debug, Clone)]
pub struct Requests {
    limits: Limits,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    threads: Handle,
}

impl Requests {
    /// Runs queries on these threads. They must not be the threads that call [`Requests::query`]:
    /// a part of a query that does not yield would hold up answers to others.
    pub fn new(limits: Limits, threads: Handle) -> Self {
        Self {
            running: Arc::new(Semaphore::new(limits.running)),
            waiting: Arc::new(Semaphore::new(limits.running + limits.waiting)),
            limits,
            threads,
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Runs a query and returns its answer, cut to its bounds. An error in the statement has its
    /// place and advice.
    pub async fn query(&self, engine: &Arc<Engine>, query: Query, call: &Call) -> Result<Answer> {
        let sql = query.sql.clone();
        match self.attempt(engine, query, call).await {
            Err(error @ Error::Sql(_)) => {
                // It waits for the names that it looks up, so it needs a thread that may wait.
                let engine = engine.clone();
                let explaining = self
                    .threads
                    .spawn_blocking(move || explained(error, &sql, &engine, Audience::Tools));
                Err(explaining.await.unwrap_or_else(|_| crashed()))
            }
            other => other,
        }
    }

    /// Runs a query like [`Requests::query`], but returns an error in the statement as it is.
    pub async fn attempt(&self, engine: &Arc<Engine>, query: Query, call: &Call) -> Result<Answer> {
        let most = self.limits.statement_bytes;
        if query.sql.len() > most {
            return Err(Error::Usage(format!(
                "the statement has {} bytes; {most} are allowed",
                query.sql.len()
            )));
        }
        let (of_work, of_call) = (engine.clone(), call.clone());
        let work = async move { answer::of_all(&of_work, vec![query], &of_call).await };
        self.run(call, work).await?.pop().ok_or_else(crashed)
    }

    /// The threads that run queries.
    pub fn threads(&self) -> &Handle {
        &self.threads
    }

    /// Runs several queries together with the limits of one, so that views that several of them
    /// need are computed once. Their parameters have one meaning in all of them. Errors are not
    /// explained, because the caller and not the user wrote the queries.
    pub async fn queries(
        &self,
        engine: &Arc<Engine>,
        queries: Vec<Query>,
        call: &Call,
    ) -> Result<Vec<Answer>> {
        let (engine, of_call) = (engine.clone(), call.clone());
        self.run(call, async move { answer::of_all(&engine, queries, &of_call).await }).await
    }

    /// Runs any work on an engine with the limits of a query. The work ends when it returns, when
    /// the call is cancelled, when its time is up, and when the returned future is dropped.
    pub async fn run<T: Send + 'static>(
        &self,
        call: &Call,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let in_line = self.waiting.clone().try_acquire_owned().map_err(|_| {
            Error::Query(format!(
                "{} queries run or wait already; ask again when some of them have ended",
                self.limits.running + self.limits.waiting
            ))
        })?;
        call.set_phase(Phase::Waiting);
        let permit = tokio::select! {
            biased;
            () = call.cancelled() => return Err(Error::Cancelled),
            permit = self.running.clone().acquire_owned() => permit.map_err(|_| crashed())?,
        };
        call.set_phase(Phase::Running(Instant::now()));
        // From here on, so that waiting for others takes no time from a query.
        let limit = self.limits.time;
        let deadline = tokio::time::Instant::now() + limit;
        let cancelled = call.clone();
        let task = self.threads.spawn(async move {
            // Until the work has really ended.
            let _permits = (permit, in_line);
            // Libraries may panic because of a damaged file.
            let work = AssertUnwindSafe(work).catch_unwind();
            tokio::select! {
                biased;
                () = cancelled.cancelled() => Err(Error::Cancelled),
                () = tokio::time::sleep_until(deadline) => Err(Error::Timeout(limit)),
                done = work => done.unwrap_or_else(|panic| Err(broken(&*panic))),
            }
        });
        let ends = EndsWithCaller(task.abort_handle(), call.clone());
        // The task sees the end of its time only where the work yields. The answer must not wait
        // for that.
        let outcome = tokio::select! {
            biased;
            done = task => done.unwrap_or_else(|e| Err(e.try_into_panic().map_or_else(|_| crashed(), |panic| broken(&*panic)))),
            () = call.cancelled() => Err(Error::Cancelled),
            () = tokio::time::sleep_until(deadline) => Err(Error::Timeout(limit)),
        };
        drop(ends);
        outcome
    }
}

/// Stops a task when it is dropped. A task that has ended is not affected.
struct EndsWithCaller(AbortHandle, Call);

impl Drop for EndsWithCaller {
    fn drop(&mut self) {
        self.0.abort();
        self.1.stop();
    }
}

/// The error of work that panicked.
fn broken(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    match text.or_else(|| panic.downcast_ref::<&str>().copied()) {
        // What Arrow says where the texts of some thousands of rows take more than 2 GiB.
        Some(text) if text.contains("offset overflow") => Error::Query(
            "the texts or lists of a column are too large: some thousands of rows may have 2 GiB \
             together; make them shorter"
                .to_owned(),
        ),
        _ => crashed(),
    }
}

fn crashed() -> Error {
    Error::Query(
        "the query engine failed; if the store may be damaged, `tracesql doctor STORE` reads all \
         of it"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn values_that_are_too_large_are_not_taken_for_damage() {
        let texts = "offset overflow, buffer size = 2200000000".to_owned();
        assert!(broken(&texts).to_string().contains("too large"));
        assert!(broken(&"offset overflow").to_string().contains("too large"));
        assert!(broken(&"index out of bounds").to_string().contains("doctor"));
        assert!(broken(&5).to_string().contains("doctor"));
    }
}

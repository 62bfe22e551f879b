//! A running statement and its rows.
//!
//! A task of its own plans the statement and computes its rows; the reader takes them from a channel
//! that buffers one batch. So the statement ends at its time limit even if no client reads, a reader
//! hears of the limit even while the planner works, and a slow reader holds back the computation
//! and not its rows.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::{FutureExt, Stream, StreamExt};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracesql::engine::Engine;

use crate::failure::Failure;
use crate::log;
use crate::query::{self, Query};

/// The batches that wait for the reader.
const BUFFERED_BATCHES: usize = 1;

/// When a statement ends early.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Cancelled by the client.
    pub cancelled: CancellationToken,
    /// The end of its time.
    pub deadline: Instant,
    /// The time that it had.
    pub limit: Duration,
}

impl Bounds {
    /// Waits until the statement must end.
    pub async fn end(&self) -> Failure {
        tokio::select! {
            () = self.cancelled.cancelled() => Failure::cancelled(),
            () = tokio::time::sleep_until(self.deadline) => Failure::timeout(self.limit),
        }
    }
}

/// What the log shows of a statement.
#[derive(Debug, Clone)]
pub struct Logged {
    pub protocol: &'static str,
    pub user: String,
    pub peer: String,
    pub sql: String,
    pub since: Instant,
}

impl Logged {
    pub fn write(&self, rows: u64, outcome: &str) {
        log::statement(&log::Entry {
            protocol: self.protocol,
            user: &self.user,
            peer: &self.peer,
            time: self.since.elapsed(),
            rows,
            outcome,
            sql: &self.sql,
        });
    }
}

/// The rows of a running statement, a batch at a time. It ends with an error at the statement's time
/// limit and when the session is cancelled. Dropping it stops the statement.
pub struct Rows {
    schema: SchemaRef,
    batches: mpsc::Receiver<Result<RecordBatch, Failure>>,
    bounds: Bounds,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Pin<Box<tokio::time::Sleep>>,
    outcome: Arc<Mutex<Option<Result<(), Failure>>>>,
    logged: Logged,
    rows: u64,
    ended: bool,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).field("rows", &self.rows).finish()
    }
}

impl Rows {
    /// The columns. They are those of each batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The end of the statement's time.
    pub fn deadline(&self) -> Instant {
        self.bounds.deadline
    }

    fn end(&mut self, outcome: Result<(), Failure>) -> Option<Result<RecordBatch, Failure>> {
        self.ended = true;
        self.batches.close();
        let text = outcome.as_ref().err().map_or("ok", |failure| failure.code);
        self.logged.write(self.rows, text);
        outcome.err().map(Err)
    }
}

impl Stream for Rows {
    type Item = Result<RecordBatch, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.cancelled.poll_unpin(context).is_ready() {
            return Poll::Ready(self.end(Err(Failure::cancelled())));
        }
        match self.batches.poll_recv(context) {
            Poll::Ready(Some(Ok(batch))) => {
                self.rows += batch.num_rows() as u64;
                Poll::Ready(Some(Ok(batch)))
            }
            Poll::Ready(Some(Err(failure))) => Poll::Ready(self.end(Err(failure))),
            Poll::Ready(None) => {
                // A task that ends without an outcome panicked.
                let outcome = self.outcome.lock().take().unwrap_or(Err(Failure::crashed()));
                Poll::Ready(self.end(outcome))
            }
            Poll::Pending => match self.deadline.poll_unpin(context) {
                Poll::Ready(()) => {
                    let failure = Failure::timeout(self.bounds.limit);
                    Poll::Ready(self.end(Err(failure)))
                }
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        if !self.ended {
            self.logged.write(self.rows, "unread");
        }
    }
}

/// Starts a statement on the threads of queries. It is planned on a thread of its own, because
/// planning cannot be interrupted and would hold up other statements. `permit` is kept until the statement ended there,
/// also if its client no longer waits for it.
pub async fn start(
    planning: impl Future<Output = Result<SendableRecordBatchStream, Failure>> + Send + 'static,
    bounds: Bounds,
    permit: OwnedSemaphorePermit,
    logged: Logged,
    threads: &tokio::runtime::Handle,
) -> Result<Rows, Failure> {
    let (sender, batches) = mpsc::channel(BUFFERED_BATCHES);
    let (tell, told) = oneshot::channel();
    let outcome = Arc::new(Mutex::new(None));
    let (ends, kept) = (bounds.clone(), outcome.clone());
    let planner = threads.clone();
    let planned = threads.spawn_blocking(move || planner.block_on(planning));
    threads.spawn(async move {
        let _permit = permit;
        let mut stream = match planned.await.unwrap_or_else(|_| Err(Failure::crashed())) {
            Ok(stream) => stream,
            Err(failure) => return drop(tell.send(Err(failure))),
        };
        if tell.send(Ok(stream.schema())).is_err() {
            return;
        }
        let end = ends.end();
        tokio::pin!(end);
        loop {
            let item = tokio::select! {
                biased;
                failure = &mut end => Err(failure),
                () = sender.closed() => return,
                batch = stream.next() => match batch {
                    Some(batch) => batch.map_err(Failure::from),
                    None => {
                        *kept.lock() = Some(Ok(()));
                        return;
                    }
                },
            };
            let failed = item.is_err();
            // The channel may be full, and its reader may never read: the time limit ends that too.
            tokio::select! {
                biased;
                sent = sender.send(item) => if sent.is_err() || failed { return },
                failure = ends.end() => {
                    *kept.lock() = Some(Err(failure));
                    return;
                }
            }
        }
    });
    let told = tokio::select! {
        told = told => told.unwrap_or(Err(Failure::crashed())),
        failure = bounds.end() => Err(failure),
    };
    match told {
        Ok(schema) => Ok(Rows {
            schema,
            batches,
            cancelled: Box::pin(bounds.cancelled.clone().cancelled_owned()),
            deadline: Box::pin(tokio::time::sleep_until(bounds.deadline)),
            bounds,
            outcome,
            logged,
            rows: 0,
            ended: false,
        }),
        Err(failure) => {
            logged.write(0, failure.code);
            Err(failure)
        }
    }
}

/// Plans a statement of traces.
pub async fn plan(engine: Arc<Engine>, query: Query) -> Result<SendableRecordBatchStream, Failure> {
    let statement = match query::one_statement(&engine, &query.sql) {
        Ok(statement) => statement,
        Err(error) => return Err(Failure::explained(error, &query.sql, engine).await),
    };
    query::check(&statement, &query.parameters)?;
    // A statement must not fail because of the memory of one that failed a moment ago.
    engine.memory_settled().await;
    match engine.run(statement, &query.parameters).await {
        Ok(rows) => Ok(rows),
        Err(error) => Err(Failure::explained(error, &query.sql, engine).await),
    }
}

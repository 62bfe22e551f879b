//! Queries that run together: one job for each trace, with all queries over that trace, so that the
//! executor computes shared views once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::exec_datafusion_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream::FuturesUnordered;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;
use tracesql::engine::operators;
use tracesql::library::Scope;

use crate::connection::{self, Connection};
use crate::scan::{ClusterScan, Query};
use crate::session::Session;
use crate::wire::{self, Payload};
use crate::{job, rows};

/// How long to wait for the first executor.
const NO_EXECUTORS: Duration = Duration::from_secs(10);

/// Batches that wait for the only reader of a batch's only query. With several readers all rows may
/// have to wait, because readers read one after the other.
const MAX_WAITING: usize = 4;

/// Rows with the memory that is reserved for them; `None` after the last ones, so that a reader
/// never takes a part of the rows for all.
type Item = Result<Option<(RecordBatch, MemoryReservation)>, Arc<DataFusionError>>;

/// Some queries of a session.
pub struct Batch {
    session: Arc<Session>,
    queries: Vec<Arc<Query>>,
    /// The number of nodes that read each query.
    readers: Vec<usize>,
    run: Mutex<Run>,
}

enum Run {
    /// No query was read yet.
    Idle,
    Going {
        receivers: Vec<Vec<Receiver<Item>>>,
        driver: AbortHandle,
    },
    /// It was stopped, because its rows are no longer read.
    Over,
}

/// Stops a batch when it is dropped.
pub struct Hold(Arc<Batch>);

impl Drop for Hold {
    fn drop(&mut self) {
        if let Run::Going { driver, .. } = std::mem::replace(&mut *self.0.run.lock(), Run::Over) {
            driver.abort();
        }
    }
}

impl Batch {
    /// Makes all queries of some plans a batch.
    pub fn of_plans(session: Arc<Session>, plans: &[Arc<dyn ExecutionPlan>]) -> Hold {
        let scans: Vec<&ClusterScan> = operators(plans);
        let (mut queries, mut readers) = (Vec::<Arc<Query>>::new(), Vec::new());
        let mut numbers = Vec::new();
        for scan in scans {
            let query = scan.query();
            let is_same = |known: &Arc<Query>| {
                known.sql == query.sql
                    && known.traces == query.traces
                    && known.schema == query.schema
            };
            let number = queries.iter().position(is_same).unwrap_or_else(|| {
                queries.push(query.clone());
                readers.push(0);
                queries.len() - 1
            });
            readers[number] += 1;
            numbers.push((scan, number));
        }
        let batch = Arc::new(Self { session, queries, readers, run: Mutex::new(Run::Idle) });
        for (scan, number) in numbers {
            scan.join(batch.clone(), number);
        }
        Hold(batch)
    }

    /// A batch of one query with one reader.
    pub fn of_one(query: Arc<Query>) -> Hold {
        let session = query.session.clone();
        Hold(Arc::new(Self {
            session,
            queries: vec![query],
            readers: vec![1],
            run: Mutex::new(Run::Idle),
        }))
    }

    /// The rows of a query for one of its readers. `None` if all its readers have theirs, or if the
    /// batch was stopped.
    pub fn rows(
        self: &Arc<Self>,
        number: usize,
        context: &TaskContext,
    ) -> Result<Option<SendableRecordBatchStream>> {
        let mut run = self.run.lock();
        if matches!(*run, Run::Idle) {
            *run = self.start(context)?;
        }
        let Run::Going { receivers, .. } = &mut *run else { return Ok(None) };
        let Some(receiver) = receivers[number].pop() else { return Ok(None) };
        let schema = self.queries[number].schema.clone();
        Ok(Some(read(receiver, schema)))
    }

    fn start(&self, context: &TaskContext) -> Result<Run> {
        let readers: usize = self.readers.iter().sum();
        let capacity = if readers == 1 { MAX_WAITING } else { Semaphore::MAX_PERMITS };
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for &readers in &self.readers {
            let (to, from): (Vec<_>, Vec<_>) = (0..readers).map(|_| channel(capacity)).unzip();
            senders.push(to);
            receivers.push(from);
        }
        let pool = &context.runtime_env().memory_pool;
        let reservation = MemoryConsumer::new("rows of the cluster").register(pool);
        let outlets = Outlets { senders, reservation };
        let (session, queries) = (self.session.clone(), self.queries.clone());
        let driver = connection::runtime()?.spawn(async move {
            let done = drive(&session, &queries, &outlets).await;
            session.show_progress(None);
            outlets.end(done.map_err(Arc::new)).await;
        });
        Ok(Run::Going { receivers, driver: driver.abort_handle() })
    }
}

impl Hold {
    /// The rows of the only query. The batch ends with them.
    pub fn into_rows(self, context: &TaskContext) -> Result<SendableRecordBatchStream> {
        let rows = self.0.rows(0, context)?;
        let rows = rows.ok_or_else(|| exec_datafusion_err!("a query was read twice"))?;
        let schema = rows.schema();
        let rows = rows.inspect(move |_| {
            let _ = &self;
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Where the rows of each query go.
struct Outlets {
    senders: Vec<Vec<Sender<Item>>>,
    /// The origin of the reservations of single batches.
    reservation: MemoryReservation,
}

impl Outlets {
    async fn give(&self, query: usize, batch: &RecordBatch) -> Result<()> {
        for sender in &self.senders[query] {
            let reserved = self.reservation.new_empty();
            reserved.try_grow(batch.get_array_memory_size()).map_err(|e| {
                e.context(
                    "rows of the cluster do not fit in --memory-limit; aggregate them, or choose \
                     fewer columns or traces",
                )
            })?;
            // A reader that ended takes no more rows; others may.
            let _ = sender.send(Ok(Some((batch.clone(), reserved)))).await;
        }
        Ok(())
    }

    async fn end(&self, done: Result<(), Arc<DataFusionError>>) {
        for sender in self.senders.iter().flatten() {
            let _ = sender.send(done.clone().map(|()| None)).await;
        }
    }

    fn are_closed(&self) -> bool {
        self.senders.iter().flatten().all(Sender::is_closed)
    }
}

fn read(receiver: Receiver<Item>, schema: SchemaRef) -> SendableRecordBatchStream {
    let rows = stream::unfold(Some(receiver), |receiver| async move {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Ok(Some((batch, _)))) => Some((Ok(batch), Some(receiver))),
            Some(Ok(None)) => None,
            Some(Err(error)) => Some((Err(DataFusionError::Shared(error)), None)),
            None => {
                let error = exec_datafusion_err!("the query was stopped before all rows came");
                Some((Err(error), None))
            }
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// Computes all queries, trace by trace, and hands out their rows.
async fn drive(session: &Arc<Session>, queries: &[Arc<Query>], outlets: &Outlets) -> Result<()> {
    let mut of_trace: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, query) in queries.iter().enumerate() {
        for &trace in &query.traces {
            of_trace.entry(trace).or_default().push(number);
        }
    }
    if of_trace.is_empty() {
        return Ok(());
    }
    let connection = session.connection().await?;
    let ready = tokio::time::timeout(NO_EXECUTORS, connection.wait_for(|c| c.executors > 0));
    ready.await.map_err(|_| no_executors(&connection))??;
    let needs_jobs = queries.iter().any(|query| query.scope == Scope::Job);
    let relations = session.relations(needs_jobs).await?;
    let mut payloads: HashMap<Vec<usize>, Arc<Payload>> = HashMap::new();
    let mut work = Vec::new();
    for (trace, numbers) in of_trace {
        let payload = match payloads.get(&numbers) {
            Some(payload) => payload.clone(),
            None => {
                let payload = Arc::new(payload(session, queries, &numbers)?);
                payloads.entry(numbers).or_insert(payload).clone()
            }
        };
        work.push((trace, payload));
    }
    // The largest first, so that none of them is left for the end.
    work.sort_by_key(|(trace, _)| (std::cmp::Reverse(session.bytes(*trace)), *trace));
    let total = work.len();
    let mut work = work.into_iter().map(|(trace, payload)| {
        let task = session.task(trace, &relations);
        let (connection, id) =
            (connection.clone(), session.traces[trace].manifest.trace_id.clone());
        async move { job::rows(connection, payload, task?, id).await }
    });
    let all = async {
        let mut jobs = FuturesUnordered::new();
        let mut done = 0;
        session.show_progress(Some((done, total)));
        loop {
            // Executors may have come or gone. A second trace for each slot waits at the scheduler,
            // so that no slot waits for this client.
            let width = (2 * connection.state().slots).max(2);
            while jobs.len() < width
                && let Some(job) = work.next()
            {
                jobs.push(job);
            }
            let Some(returned) = jobs.next().await else { break };
            for batch in returned? {
                for (number, batches) in rows::unwrap(&batch)? {
                    let number = number as usize;
                    let query = queries
                        .get(number)
                        .ok_or_else(|| exec_datafusion_err!("rows of an unknown query"))?;
                    for batch in batches {
                        outlets.give(number, &rows::fit(&batch, &query.schema)?).await?;
                    }
                }
            }
            done += 1;
            session.show_progress(Some((done, total)));
            if outlets.are_closed() {
                break;
            }
        }
        Ok(())
    };
    tokio::select! {
        done = all => done,
        error = lost_all(&connection) => Err(error),
    }
}

/// Waits until all executors are gone for a while.
async fn lost_all(connection: &Connection) -> DataFusionError {
    loop {
        if let Err(error) = connection.wait_for(|c| c.executors == 0).await {
            return error;
        }
        let again = connection.wait_for(|c| c.executors > 0);
        match tokio::time::timeout(NO_EXECUTORS, again).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return error,
            Err(_) => return no_executors(connection),
        }
    }
}

fn no_executors(connection: &Connection) -> DataFusionError {
    let address = &connection.address;
    exec_datafusion_err!(
        "the scheduler {address} has no executors; start some with `tracesql-full cluster executor \
         --scheduler {address}`"
    )
}

fn payload(session: &Session, queries: &[Arc<Query>], numbers: &[usize]) -> Result<Payload> {
    let mut payload = session.payload()?;
    for &number in numbers {
        payload.queries.push(wire::Query {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            sql: queries[number].sql.clone(),
        });
    }
    Ok(payload)
}

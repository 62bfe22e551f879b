//! Where the rows of a batch go. Rows that wait for their readers are kept in memory up to a limit,
//! and in temporary files beyond it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::exec_datafusion_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, SpillFile, TaskContext};
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::{Semaphore, mpsc};

use crate::engine::string_buffers;

/// Batches that wait for the only reader of a batch's only query. With several readers all rows may
/// have to wait, because readers read one after the other.
const MOST_DIRECT: usize = 4;
/// The bytes of rows that wait in memory.
const MOST_WAITING: usize = 512 << 20;
/// The rows from which on a batch is handed on.
const BATCH_ROWS: usize = 8192;
/// The bytes of rows from which on a temporary file is written.
const FILE_BYTES: usize = 8 << 20;

/// Rows for a reader.
enum Rows {
    InMemory(RecordBatch, Reserved),
    InFile(SpillManager, Arc<dyn SpillFile>),
    /// All rows were given, so that a reader never takes a part of them for all.
    All,
}

type Item = Result<Rows, Arc<DataFusionError>>;

/// Memory that is taken while somebody holds it.
#[derive(Clone)]
#[expect(dead_code, reason = "it is held until it is dropped")]
struct Reserved(Option<Arc<Taken>>);

struct Taken {
    _memory: MemoryReservation,
    bytes: usize,
    waiting: Arc<AtomicUsize>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The readers of all queries of a batch.
pub struct Outlets {
    /// The columns of each query.
    schemas: Vec<SchemaRef>,
    senders: Vec<Vec<mpsc::Sender<Item>>>,
    /// Whether the rows go to their only reader as they come.
    is_direct: bool,
    memory: MemoryReservation,
    waiting: Arc<AtomicUsize>,
    runtime: Arc<RuntimeEnv>,
}

impl Outlets {
    /// Outlets for a number of readers of each query, and what these receive.
    pub fn new(
        schemas: Vec<SchemaRef>,
        readers: &[usize],
        context: &TaskContext,
    ) -> (Self, Vec<Vec<Receiver>>) {
        let is_direct = readers.iter().sum::<usize>() == 1;
        let capacity = if is_direct { MOST_DIRECT } else { Semaphore::MAX_PERMITS };
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for &readers in readers {
            let (to, from): (Vec<_>, Vec<_>) =
                (0..readers).map(|_| mpsc::channel(capacity)).unzip();
            senders.push(to);
            receivers.push(from.into_iter().map(Receiver).collect());
        }
        let runtime = context.runtime_env();
        let memory = MemoryConsumer::new("rows of groups of traces").register(&runtime.memory_pool);
        let waiting = Arc::default();
        (Self { schemas, senders, is_direct, memory, waiting, runtime }, receivers)
    }

    /// Whether the rows go to their only reader as they come.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Whether a query has no readers left.
    pub fn is_closed(&self, query: usize) -> bool {
        self.senders[query].iter().all(mpsc::Sender::is_closed)
    }

    /// Whether no query has readers left.
    pub fn are_closed(&self) -> bool {
        (0..self.senders.len()).all(|query| self.is_closed(query))
    }

    /// Gives rows to a query's readers. Waits until there is room for them.
    pub async fn pass(&self, query: usize, batch: RecordBatch) {
        self.send(query, || Rows::InMemory(batch.clone(), Reserved(None))).await;
    }

    async fn send(&self, query: usize, rows: impl Fn() -> Rows) {
        for sender in &self.senders[query] {
            // A reader that ended takes no more rows; others may.
            let _ = sender.send(Ok(rows())).await;
        }
    }

    /// Rows of a query that wait for its readers.
    pub fn waiting(&self, query: usize) -> Waiting<'_> {
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let schema = self.schemas[query].clone();
        let files = SpillManager::new(self.runtime.clone(), metrics, schema);
        let (few, rest) = (Vec::new(), Vec::new());
        Waiting { outlets: self, query, few, few_rows: 0, rest, rest_bytes: 0, files }
    }

    /// Tells all readers that all rows were given, or why not.
    pub async fn end(&self, done: Result<()>) {
        let done = done.map_err(Arc::new);
        for sender in self.senders.iter().flatten() {
            let _ = sender.send(done.clone().map(|()| Rows::All)).await;
        }
    }

    /// Takes memory for rows; `None` if they should not be kept in memory.
    fn reserve(&self, bytes: usize) -> Option<Reserved> {
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let memory = self.memory.new_empty();
        let taken = Taken { bytes, waiting: self.waiting.clone(), _memory: memory };
        let fits = waiting <= MOST_WAITING && taken._memory.try_grow(bytes).is_ok();
        fits.then(|| Reserved(Some(Arc::new(taken))))
    }
}

/// The rows of a query over one group, which wait for the readers.
pub struct Waiting<'o> {
    outlets: &'o Outlets,
    query: usize,
    /// Rows that do not fill a batch yet.
    few: Vec<RecordBatch>,
    few_rows: usize,
    /// Rows that memory has no room for and that are not in a file yet.
    rest: Vec<RecordBatch>,
    rest_bytes: usize,
    files: SpillManager,
}

impl Waiting<'_> {
    /// Adds rows.
    pub async fn add(&mut self, batch: RecordBatch) -> Result<()> {
        self.few_rows += batch.num_rows();
        self.few.push(batch);
        if self.few_rows >= BATCH_ROWS { self.keep().await } else { Ok(()) }
    }

    /// Hands on what was not handed on yet.
    pub async fn finish(mut self) -> Result<()> {
        self.keep().await?;
        self.write().await
    }

    async fn keep(&mut self) -> Result<()> {
        self.few_rows = 0;
        let few = std::mem::take(&mut self.few);
        let Some(first) = few.first() else { return Ok(()) };
        let batch =
            string_buffers::with_each_text_once(&concat_batches(first.schema_ref(), &few)?)?;
        let bytes = batch.get_array_memory_size();
        // Rows stay in order.
        match self.rest.is_empty().then(|| self.outlets.reserve(bytes)).flatten() {
            Some(memory) => {
                let rows = || Rows::InMemory(batch.clone(), memory.clone());
                self.outlets.send(self.query, rows).await;
            }
            None => {
                self.rest.push(batch);
                self.rest_bytes += bytes;
                if self.rest_bytes >= FILE_BYTES {
                    self.write().await?;
                }
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.rest);
        self.rest_bytes = 0;
        let reason = "rows of groups of traces";
        if let Some(file) = self.files.spill_record_batch_and_finish(&batches, reason)? {
            let rows = || Rows::InFile(self.files.clone(), file.clone());
            self.outlets.send(self.query, rows).await;
        }
        Ok(())
    }
}

/// What a reader receives.
#[derive(Debug)]
pub struct Receiver(mpsc::Receiver<Item>);

impl Receiver {
    /// The rows, as they come.
    pub fn rows(self, schema: SchemaRef) -> SendableRecordBatchStream {
        let items = stream::unfold(Some(self.0), |receiver| async move {
            let mut receiver = receiver?;
            match receiver.recv().await {
                Some(Ok(Rows::All)) => None,
                Some(Ok(rows)) => Some((Ok(rows), Some(receiver))),
                Some(Err(error)) => Some((Err(DataFusionError::Shared(error)), None)),
                None => {
                    let error = exec_datafusion_err!("the query was stopped before all rows came");
                    Some((Err(error), None))
                }
            }
        });
        let batches = items.flat_map(|item| match item.and_then(Rows::batches) {
            Ok(batches) => batches,
            Err(error) => stream::once(async { Err(error) }).boxed(),
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}

impl Rows {
    fn batches(self) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        Ok(match self {
            Self::InMemory(batch, reserved) => {
                let taken = async move {
                    drop(reserved);
                    Ok(batch)
                };
                stream::once(taken).boxed()
            }
            Self::InFile(files, file) => files.read_spill_as_stream_unbuffered(file, None)?.boxed(),
            Self::All => stream::empty().boxed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, StringViewArray};
    use arrow::datatypes::Schema;
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use futures::TryStreamExt;

    use super::*;

    #[tokio::test]
    async fn rows_wait_in_memory_and_in_files_for_all_readers() {
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(
            (0..20_000).map(|n| format!("a text that is not short, and has the number {}", n % 7)),
        ));
        let batch = RecordBatch::try_from_iter([("text", texts)]).expect("a batch");
        for pool in [usize::MAX, 300_000, 0] {
            let pool = Arc::new(GreedyMemoryPool::new(pool));
            let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool.clone()).build_arc();
            let context = TaskContext::default().with_runtime(runtime.expect("a runtime"));
            let schema = batch.schema();
            let (outlets, receivers) = Outlets::new(vec![schema.clone()], &[2], &context);
            let mut waiting = outlets.waiting(0);
            for at in (0..20_000).step_by(1_000) {
                waiting.add(batch.slice(at, 1_000)).await.expect("rows wait");
            }
            waiting.finish().await.expect("rows wait");
            outlets.end(Ok(())).await;
            for receiver in receivers.into_iter().flatten() {
                let rows = receiver.rows(schema.clone()).try_collect::<Vec<_>>().await;
                let rows = concat_batches(&schema, &rows.expect("rows")).expect("one batch");
                assert_eq!(rows, batch);
            }
            drop(outlets);
            assert_eq!(pool.reserved(), 0);
        }
    }

    #[tokio::test]
    async fn a_reader_never_takes_a_part_for_all() {
        let schema = Arc::new(Schema::empty());
        let context = TaskContext::default();
        let (outlets, mut receivers) = Outlets::new(vec![schema.clone()], &[2], &context);
        let mut next = || receivers[0].pop().expect("a receiver").rows(schema.clone());
        let (first, second) = (next(), next());
        outlets.end(Err(exec_datafusion_err!("no group"))).await;
        drop(outlets);
        let error = first.try_collect::<Vec<_>>().await.expect_err("an error");
        assert!(error.to_string().contains("no group"), "{error}");
        drop(second);
        let (outlets, mut receivers) = Outlets::new(vec![schema.clone()], &[1], &context);
        drop(outlets);
        let rows = receivers[0].pop().expect("a receiver").rows(schema.clone());
        let error = rows.try_collect::<Vec<_>>().await.expect_err("an error");
        assert!(error.to_string().contains("stopped before all rows came"), "{error}");
    }

    #[test]
    fn memory_is_free_when_rows_are_dropped() {
        let (outlets, _) = Outlets::new(vec![], &[], &TaskContext::default());
        let first = outlets.reserve(MOST_WAITING - 1).expect("room");
        assert!(outlets.reserve(2).is_none());
        let second = outlets.reserve(1).expect("room");
        drop((first, second));
        assert!(outlets.reserve(MOST_WAITING).is_some());
    }
}

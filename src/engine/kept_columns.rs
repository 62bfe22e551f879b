//! Columns of a table of many small files, read once for all scans of the statements that start
//! together.
//!
//! - Why: a statement over views scans some tables dozens of times. To open a file, to read its
//!   footer and to compare statistics with filters takes longer than to read a few hundred rows,
//!   and each file gives small batches whose texts lie in buffers of their own. So a column is read
//!   from all files once, in batches of usual size with each text once, and is kept until its last
//!   reader ends.
//! - Measured (1,000 traces of 3,518 events, 2 cores): `findings` takes 55 instead of 105 CPU
//!   seconds, `critical_path` 17 instead of 37, `collective_calls` 16 instead of 24.
//! - Remove when DataFusion reads a table once for several scans. No upstream issue is known.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use arrow::compute::BatchCoalescer;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt};
use parking_lot::Mutex;

/// The arrays of a column, by partition.
type Arrays = Vec<Vec<ArrayRef>>;
/// Completes when the columns of a run are there.
type Run = Shared<BoxFuture<'static, Result<(), Arc<DataFusionError>>>>;

/// The columns of a table that scans have asked for.
#[derive(Debug)]
pub struct KeptColumns {
    /// A scan of all columns.
    all: FileScanConfig,
    columns: Mutex<HashMap<usize, Asked>>,
}

/// A column that scans have asked for.
#[derive(Debug, Default)]
struct Asked {
    /// The number of scans that have not read it yet.
    readers: usize,
    kept: Option<Arc<Column>>,
}

/// A column that is read, or is being read.
pub struct Column {
    arrays: Arc<OnceLock<Arrays>>,
    run: Run,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").finish_non_exhaustive()
    }
}

impl Column {
    /// The arrays of a partition, when they are there.
    pub async fn arrays(&self, partition: usize) -> Result<Vec<ArrayRef>> {
        self.run.clone().await.map_err(DataFusionError::Shared)?;
        match self.arrays.get().and_then(|all| all.get(partition)) {
            Some(arrays) => Ok(arrays.clone()),
            None => internal_err!("partition {partition} of a column was not read"),
        }
    }
}

impl KeptColumns {
    /// Columns that a scan of all columns would read, with the number of scans of each column.
    pub fn new(all: FileScanConfig, readers: &HashMap<usize, usize>) -> Self {
        let asked = |(column, readers): (&usize, &usize)| {
            (*column, Asked { readers: *readers, kept: None })
        };
        Self { all, columns: Mutex::new(readers.iter().map(asked).collect()) }
    }

    /// Whether a scan shares a column with another one.
    pub fn are_shared(&self, columns: &[usize]) -> bool {
        let asked = self.columns.lock();
        columns.iter().any(|c| asked.get(c).is_some_and(|a| a.readers > 1 || a.kept.is_some()))
    }

    /// Columns for a scan. Starts to read those that are not kept, together with all others that
    /// scans wait for. `bytes` counts what is read from files.
    pub fn columns(
        &self,
        wanted: &[usize],
        context: &Arc<TaskContext>,
        bytes: &Count,
    ) -> Result<Vec<Arc<Column>>> {
        let mut asked = self.columns.lock();
        for column in wanted {
            asked.entry(*column).or_default();
        }
        let is_missing = |(column, of): &(&usize, &Asked)| {
            of.kept.is_none() && (of.readers > 0 || wanted.contains(column))
        };
        let mut missing: Vec<usize> =
            asked.iter().filter(is_missing).map(|(column, _)| *column).collect();
        if wanted.iter().any(|column| missing.contains(column)) {
            missing.sort_unstable();
            for (column, kept) in missing.iter().zip(self.read(&missing, context, bytes)?) {
                asked.entry(*column).or_default().kept = Some(Arc::new(kept));
            }
        }
        Ok(wanted.iter().filter_map(|column| asked[column].kept.clone()).collect())
    }

    /// Drops columns that have no reader any more.
    pub fn release(&self, columns: &[usize]) {
        let mut asked = self.columns.lock();
        for column in columns {
            if let Some(of) = asked.get_mut(column) {
                of.readers = of.readers.saturating_sub(1);
                if of.readers == 0 {
                    of.kept = None;
                }
            }
        }
    }

    fn read(
        &self,
        columns: &[usize],
        context: &Arc<TaskContext>,
        bytes: &Count,
    ) -> Result<Vec<Column>> {
        let scan = FileScanConfigBuilder::from(self.all.clone())
            .with_projection_indices(Some(columns.to_vec()))?
            // Each partition reads its own files, so that columns of two scans belong together.
            .with_preserve_order(true)
            .build();
        let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(scan);
        let places: Vec<Arc<OnceLock<Arrays>>> = columns.iter().map(|_| Arc::default()).collect();
        let (context, bytes, filled) = (context.clone(), bytes.clone(), places.clone());
        let run = async move {
            let partitions = 0..scan.output_partitioning().partition_count();
            let mut tasks = Vec::new();
            for partition in partitions {
                let rows = scan.execute(partition, context.clone()).map_err(Arc::new)?;
                let batch_rows = context.session_config().batch_size();
                tasks.push(SpawnedTask::spawn(batches(rows, batch_rows)));
            }
            let mut by_column: Vec<Arrays> = filled.iter().map(|_| Arrays::new()).collect();
            for task in tasks {
                let batches = task
                    .await
                    .map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))
                    .flatten()
                    .map_err(Arc::new)?;
                for (at, arrays) in by_column.iter_mut().enumerate() {
                    arrays.push(batches.iter().map(|batch| batch.column(at).clone()).collect());
                }
            }
            for (place, arrays) in filled.iter().zip(by_column) {
                let _ = place.set(arrays);
            }
            let read = scan.metrics().and_then(|all| all.sum_by_name("bytes_scanned"));
            bytes.add(read.map_or(0, |value| value.as_usize()));
            Ok(())
        };
        let run: Run = run.boxed().shared();
        Ok(places.into_iter().map(|arrays| Column { arrays, run: run.clone() }).collect())
    }
}

/// The rows of a stream in batches of a number of rows, each text of a batch once.
async fn batches(
    mut rows: SendableRecordBatchStream,
    batch_rows: usize,
) -> Result<Vec<RecordBatch>> {
    let mut joined = BatchCoalescer::new(rows.schema(), batch_rows);
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        joined.push_batch(batch?)?;
        while let Some(batch) = joined.next_completed_batch() {
            batches.push(with_texts_once(&batch)?);
        }
    }
    joined.finish_buffered_batch()?;
    while let Some(batch) = joined.next_completed_batch() {
        batches.push(with_texts_once(&batch)?);
    }
    Ok(batches)
}

fn with_texts_once(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => {
            let texts = column.as_string_view();
            let mut once = StringViewBuilder::with_capacity(texts.len()).with_deduplicate_strings();
            for text in texts {
                once.append_option(text);
            }
            Arc::new(once.finish()) as ArrayRef
        }
        _ => column.clone(),
    });
    Ok(RecordBatch::try_new(batch.schema(), columns.collect())?)
}

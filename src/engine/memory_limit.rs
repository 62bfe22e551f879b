//! The memory limit. It watches the memory of the whole process, because operators do not count all
//! memory that they use.
//!
//! This is not an optimizer rule, because it changes no plan. It ends the stream of a result.

use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use futures::{StreamExt, stream};

use super::memory_watch::{MemoryWatch, resident_bytes};

/// How long to wait until freed memory is returned to the system, which takes at most a second.
const SETTLING: Duration = Duration::from_secs(3);
/// The number of batches that can wait for the reader.
const BUFFERED_BATCHES: usize = 2;

/// The memory that scans, joins and windows hold without counting it, measured over several
/// queries. If the reserve is larger, sorts lack room for their runs. If it is smaller, queries
/// reach the limit before sorts spill to disk.
const UNCOUNTED_BYTES: usize = 128 << 20;

/// An upper bound of the memory that a report needs for each event when views are shared. A report
/// reads nearly all views. Measured: 0.6 KiB with 5 million events, 0.9 KiB with 1 million.
const SHARED_BYTES_PER_EVENT: u64 = 1 << 10;

/// Whether the rows of shared views over this many events fit in the limit; 0 stands for no limit.
pub fn fits_in_memory(limit: usize, events: u64) -> bool {
    limit == 0 || limit as u64 / SHARED_BYTES_PER_EVENT >= events
}

/// A memory limit for the process. If a result is read while the limit is exceeded, the result ends
/// with an error.
pub struct MemoryLimit {
    /// The limit of the process.
    bytes: usize,
    /// The share of one of several sessions; `None` if there is only one session.
    share: Option<usize>,
    watch: Arc<MemoryWatch>,
}

impl MemoryLimit {
    /// Creates a limit. Fails if the watching thread cannot start. If `process` is not 0, it is the
    /// limit of the process, and `bytes` is the share of one of several sessions.
    pub fn new(bytes: usize, process: usize) -> Result<Self> {
        let share = (process > 0).then_some(bytes);
        let bytes = if process > 0 { process } else { bytes };
        Ok(Self { bytes, share, watch: MemoryWatch::of(bytes)? })
    }

    /// The memory pool for sorts, groups and joins, which spill to disk when it is used up. Its
    /// size is the limit minus the memory that the process already holds and the memory that
    /// operators use without counting it. If shared views fit in memory, each operator may use the
    /// whole pool. Otherwise each operator has an equal share.
    pub fn pool(&self, views_fit: bool) -> Arc<dyn MemoryPool> {
        let left = self
            .share
            .unwrap_or_else(|| self.bytes - resident_bytes().unwrap_or(0).min(self.bytes / 2));
        let bytes = left - UNCOUNTED_BYTES.min(left / 2);
        if views_fit {
            Arc::new(GreedyMemoryPool::new(bytes))
        } else {
            Arc::new(FairSpillPool::new(bytes))
        }
    }

    /// Waits until the process is below the limit, or until it is clear that it will not get there.
    pub async fn settled(&self) {
        let mut reading = self.watch.begin();
        let _ = tokio::time::timeout(SETTLING, reading.is_exceeded.wait_for(|is| !*is)).await;
    }

    /// Passes on the rows of a result until the limit is exceeded.
    pub fn enforce(&self, mut rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        // A task computes the rows, so that the stream can end while a batch is being computed.
        let mut builder = RecordBatchReceiverStream::builder(schema.clone(), BUFFERED_BATCHES);
        let sender = builder.tx();
        builder.spawn(async move {
            while let Some(batch) = rows.next().await {
                if sender.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        });
        let (bytes, reading) = (self.bytes, self.watch.begin());
        let within = stream::unfold(Some((builder.build(), reading)), move |state| async move {
            let (mut rows, mut reading) = state?;
            let next: Option<Result<RecordBatch>> = tokio::select! {
                biased;
                Ok(_) = reading.is_exceeded.wait_for(|is| *is) => Some(Err(exceeded(bytes))),
                next = rows.next() => next,
            };
            match next? {
                Ok(batch) => Some((Ok(batch), Some((rows, reading)))),
                Err(e) => Some((Err(e), None)),
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, within))
    }
}

fn exceeded(limit: usize) -> DataFusionError {
    let limit = limit as f64 / f64::from(1 << 20);
    DataFusionError::ResourcesExhausted(format!(
        "the process came to hold more than the {limit:.0} MiB of its limit of memory; \
         allow it more, or ask for less at once"
    ))
}

#[cfg(test)]
mod tests {
    use super::fits_in_memory;

    #[test]
    fn shared_views_fit_from_one_kib_for_each_event() {
        assert!(fits_in_memory(0, u64::MAX));
        assert!(fits_in_memory(1 << 20, 1 << 10));
        assert!(!fits_in_memory((1 << 20) - 1, 1 << 10));
    }
}

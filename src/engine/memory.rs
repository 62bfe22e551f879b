//! The limit of memory, by what the process holds: operators do not count all that they keep.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use futures::{StreamExt, stream};
use tokio::sync::watch;

/// Between two looks at the memory of the process.
const INTERVAL: Duration = Duration::from_millis(3);
/// Freed memory goes back to the system after a second at the latest.
const GIVING_BACK: Duration = Duration::from_secs(3);
/// Batches that wait for their reader.
const WAITING: usize = 2;

/// What readers, joins and windows hold without counting it, measured over several queries: with
/// more set aside, sorts lack room for their runs; with less, the limit comes before they go to
/// disk.
const ON_ITS_WAY_BYTES: usize = 128 << 20;

/// What a report, which reads nearly all views, holds for each event where views are shared: 0.6
/// KiB (5 million events) to
/// 0.9 KiB (1 million).
const SHARED_BYTES_PER_EVENT: u64 = 1 << 10;

/// Whether a limit, if there is one (0), leaves room to keep what queries share on so many events.
pub fn is_roomy(limit: usize, events: u64) -> bool {
    limit == 0 || limit as u64 / SHARED_BYTES_PER_EVENT >= events
}

/// A limit of the memory of the process; results that are read while it is exceeded end with an
/// error.
pub struct Limit {
    bytes: usize,
    is_exceeded: watch::Receiver<bool>,
}

impl Limit {
    /// A limit, which is watched until this is gone.
    pub fn new(bytes: usize) -> Result<Self> {
        let (exceeded, is_exceeded) = watch::channel(false);
        let look = move || {
            while !exceeded.is_closed() {
                let is = resident_bytes().is_some_and(|held| held > bytes);
                exceeded.send_if_modified(|was| std::mem::replace(was, is) != is);
                thread::sleep(INTERVAL);
            }
        };
        thread::Builder::new()
            .name("memory".into())
            .spawn(look)
            .map_err(DataFusionError::IoError)?;
        Ok(Self { bytes, is_exceeded })
    }

    /// What sorts, groups and joins may hold before they go to disk: what the process does not hold
    /// already, and what is on its way to them. Where there is room, each may take all of it; else
    /// each has its part.
    pub fn pool(&self, is_roomy: bool) -> Arc<dyn MemoryPool> {
        let left = self.bytes - resident_bytes().unwrap_or(0).min(self.bytes / 2);
        let bytes = left - ON_ITS_WAY_BYTES.min(left / 2);
        if is_roomy {
            Arc::new(GreedyMemoryPool::new(bytes))
        } else {
            Arc::new(FairSpillPool::new(bytes))
        }
    }

    /// Waits until the process is below the limit, or so long that it will not get there by itself.
    pub async fn settled(&self) {
        let mut is_exceeded = self.is_exceeded.clone();
        let _ = tokio::time::timeout(GIVING_BACK, is_exceeded.wait_for(|is| !*is)).await;
    }

    /// The rows of a result until the limit is exceeded.
    pub fn keep(&self, mut rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        // In a task of their own, so that they can be left while they are computed.
        let mut builder = RecordBatchReceiverStream::builder(schema.clone(), WAITING);
        let sender = builder.tx();
        builder.spawn(async move {
            while let Some(batch) = rows.next().await {
                if sender.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        });
        let (bytes, is_exceeded) = (self.bytes, self.is_exceeded.clone());
        let within =
            stream::unfold(Some((builder.build(), is_exceeded)), move |state| async move {
                let (mut rows, mut is_exceeded) = state?;
                let next: Option<Result<RecordBatch>> = tokio::select! {
                    biased;
                    Ok(_) = is_exceeded.wait_for(|is| *is) => Some(Err(exceeded(bytes))),
                    next = rows.next() => next,
                };
                match next? {
                    Ok(batch) => Some((Ok(batch), Some((rows, is_exceeded)))),
                    Err(e) => Some((Err(e), None)),
                }
            });
        Box::pin(RecordBatchStreamAdapter::new(schema, within))
    }
}

fn exceeded(limit: usize) -> DataFusionError {
    let limit = limit as f64 / f64::from(1 << 20);
    DataFusionError::ResourcesExhausted(format!(
        "the process came to hold more than the {limit:.0} MiB of its limit of memory; allow it more, or ask for less at once"
    ))
}

/// What the process holds of the machine's memory, where the system says so.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1 << 10)
}

//! Runs shared views while their readers are still being planned.
//!
//! A plan is complete only after the plans of the views that it reads, so planning often keeps one
//! core busy. The other cores can compute the views whose plans are complete. They run one at a
//! time, in the order in which they were planned, so that they need no more memory than later, when
//! readers ask for several at once.

use std::sync::Arc;

use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::TaskContext;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::materialize::Part;

/// Runs the parts that it is given until it is dropped. A part that runs at that time continues for
/// its readers.
pub struct RunAhead {
    planned: UnboundedSender<Arc<Part>>,
    _task: SpawnedTask<()>,
}

impl RunAhead {
    /// Starts to wait for parts. It needs a runtime of Tokio.
    pub fn new(context: Arc<TaskContext>) -> Self {
        let (planned, mut parts) = unbounded_channel::<Arc<Part>>();
        let task = SpawnedTask::spawn(async move {
            while let Some(part) = parts.recv().await {
                part.run_ahead(context.clone()).await;
            }
        });
        Self { planned, _task: task }
    }

    /// Adds a part whose plan is complete.
    pub fn add(&self, part: Arc<Part>) {
        // Without the task nothing is run ahead, which changes no result.
        let _ = self.planned.send(part);
    }
}

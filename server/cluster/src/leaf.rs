//! The plan node that computes queries over a trace on an executor.
//!
//! It is a node over a table in memory with one row, the trace. Ballista knows how to divide such
//! tables, and runs a leaf that it does not know once for each task.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{exec_datafusion_err, exec_err, internal_datafusion_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use prost::Message;
use tokio_util::sync::CancellationToken;

use crate::rows;
use crate::wire::{Payload, TraceTask};
use crate::worker::Worker;

/// How often a trace may end the process that computes it.
const MAX_ENDED: usize = 3;

/// The node.
#[derive(Debug)]
pub struct TraceExec {
    payload: Arc<Payload>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    stop: CancellationToken,
    /// What computes the queries; `None` outside executors.
    worker: Option<Arc<Worker>>,
}

impl TraceExec {
    /// A node over a table of traces.
    pub fn new(
        payload: Arc<Payload>,
        input: Arc<dyn ExecutionPlan>,
        worker: Option<Arc<Worker>>,
    ) -> Self {
        let partitions = input.properties().output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(rows::schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let stop = CancellationToken::new();
        Self { payload, input, properties: Arc::new(properties), stop, worker }
    }

    /// A node over one trace.
    pub fn over(payload: Arc<Payload>, trace: &TraceTask) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new("trace", DataType::Binary, false)]));
        let bytes = trace.encode_to_vec();
        let column: ArrayRef = Arc::new(BinaryArray::from(vec![bytes.as_slice()]));
        let batch = RecordBatch::try_new(schema.clone(), vec![column])?;
        let input = MemorySourceConfig::try_new_exec(&[vec![batch]], schema, None)?;
        Ok(Self::new(payload, input, None))
    }

    /// What all traces have in common.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The same node, which ends when the token is cancelled.
    pub fn with_stop(&self, stop: CancellationToken) -> Self {
        let (payload, input) = (self.payload.clone(), self.input.clone());
        Self { stop, ..Self::new(payload, input, self.worker.clone()) }
    }
}

impl DisplayAs for TraceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceExec: queries={}", self.payload.queries.len())
    }
}

impl ExecutionPlan for TraceExec {
    fn name(&self) -> &'static str {
        "TraceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input =
            children.pop().ok_or_else(|| internal_datafusion_err!("TraceExec has one child"))?;
        let new = Self::new(self.payload.clone(), input, self.worker.clone());
        Ok(Arc::new(new.with_stop(self.stop.clone())))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let Some(worker) = self.worker.clone() else {
            return exec_err!("only executors of a cluster compute traces");
        };
        let ended = context.task_id().as_deref().map_or(0, ended);
        if ended >= MAX_ENDED {
            return Err(worker.gave_up(ended));
        }
        let payload = self.payload.clone();
        let rows = self
            .input
            .execute(partition, context)?
            .map_ok(move |batch| stream::iter(tasks(&batch)))
            .try_flatten()
            .map_ok(move |task| worker.clone().run(payload.clone(), task))
            .try_flatten()
            .boxed();
        let rows = until(self.stop.clone(), rows);
        Ok(Box::pin(RecordBatchStreamAdapter::new(rows::schema(), rows)))
    }
}

fn tasks(batch: &RecordBatch) -> Vec<Result<TraceTask>> {
    let Some(column) = batch.column(0).as_binary_opt::<i32>() else {
        return vec![exec_err!("a task names its trace in another form")];
    };
    column
        .iter()
        .map(|bytes| {
            TraceTask::decode(bytes.unwrap_or_default())
                .map_err(|e| exec_datafusion_err!("a task names its trace in another form: {e}"))
        })
        .collect()
}

/// How often an executor ended with the task. The ID of a task is
/// `TID job/stage.stage_attempt/task.attempt`, and a job of one trace has one task. Each launch
/// raises the number of the task, and each launch after an error raises the attempt too, so the
/// difference counts the launches that ended without an error.
fn ended(task_id: &str) -> usize {
    let counts = || {
        let (task, attempt) = task_id.rsplit('/').next()?.split_once('.')?;
        let count = |text: &str| text.parse::<usize>().ok();
        Some(count(task)?.saturating_sub(count(attempt)?))
    };
    counts().unwrap_or(0)
}

/// The rows until the token is cancelled. What makes them is dropped then.
fn until(
    stop: CancellationToken,
    rows: BoxStream<'static, Result<RecordBatch>>,
) -> BoxStream<'static, Result<RecordBatch>> {
    stream::unfold((Some(rows), stop), |(rows, stop)| async move {
        let mut rows = rows?;
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                drop(rows);
                Some((exec_err!("cancelled"), (None, stop)))
            }
            next = rows.next() => next.map(|next| (next, (Some(rows), stop))),
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::ended;

    #[test]
    fn launches_without_an_error_are_counted() {
        assert_eq!(ended("TID 3nHkfSs/1.0/0.0"), 0);
        assert_eq!(ended("TID 3nHkfSs/1.0/3.0"), 3);
        assert_eq!(ended("TID 3nHkfSs/1.0/3.3"), 0, "errors of input that were tried again");
        assert_eq!(ended("TID 3nHkfSs/1.0/3.1"), 2);
        assert_eq!(ended(""), 0);
    }
}

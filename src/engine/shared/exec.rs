//! The operator that runs a plan once for all who read it.

use std::fmt;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, collect_partitioned};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

type Rows = Arc<Vec<Vec<RecordBatch>>>;
type Run = Shared<BoxFuture<'static, Result<Rows, Arc<DataFusionError>>>>;

/// Runs a plan when it is first read, and keeps its rows.
pub struct OnceExec {
    name: String,
    input: Arc<dyn ExecutionPlan>,
    run: Mutex<Option<Run>>,
}

impl OnceExec {
    pub fn new(name: &str, input: Arc<dyn ExecutionPlan>) -> Self {
        Self { name: name.to_owned(), input, run: Mutex::new(None) }
    }

    fn run(&self, context: Arc<TaskContext>) -> Run {
        let mut run = self.run.lock();
        let started = run.get_or_insert_with(|| {
            let input = self.input.clone();
            // A task of its own goes on whoever of the readers is waited for, and ends with the last of them.
            async move {
                let task = SpawnedTask::spawn(collect_partitioned(input, context));
                match task.await {
                    Ok(rows) => rows.map(Arc::new).map_err(Arc::new),
                    Err(e) => Err(Arc::new(DataFusionError::ExecutionJoin(Box::new(e)))),
                }
            }
            .boxed()
            .shared()
        });
        started.clone()
    }
}

/// The plan behind an operator whose rows others read too.
pub fn computed_once(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    plan.downcast_ref::<OnceExec>().map(|once| &once.input)
}

impl fmt::Debug for OnceExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceExec").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DisplayAs for OnceExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::TreeRender => write!(f, "view={}", self.name),
            _ => write!(f, "OnceExec: view={}", self.name),
        }
    }
}

impl ExecutionPlan for OnceExec {
    fn name(&self) -> &'static str {
        "OnceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    // None, so that nobody plans it anew for one reader.
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(&self, _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("OnceExec has no children") }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.run(context);
        let batches = async move {
            let rows = rows.await.map_err(DataFusionError::Shared)?;
            let count = rows.get(partition).map_or(0, Vec::len);
            Ok::<_, DataFusionError>(stream::iter(0..count).map(move |at| Ok(rows[partition][at].clone())))
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream::once(batches).try_flatten())))
    }

    #[expect(deprecated, reason = "the engine's default asks this too")]
    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        self.input.partition_statistics(partition)
    }
}

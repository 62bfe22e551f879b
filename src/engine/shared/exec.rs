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
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, collect_partitioned,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

use super::part::PartExec;

type Rows = Arc<Vec<Vec<RecordBatch>>>;
type Run = Shared<BoxFuture<'static, Result<Rows, Arc<DataFusionError>>>>;

/// Runs a plan when it is first read, and keeps its rows.
pub struct OnceExec {
    name: String,
    input: Arc<dyn ExecutionPlan>,
    statistics: Arc<Statistics>,
    run: Mutex<Option<Run>>,
}

impl OnceExec {
    pub fn new(name: &str, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let statistics =
            StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new())?;
        Ok(Self { name: name.to_owned(), input, statistics, run: Mutex::new(None) })
    }

    fn run(&self, context: Arc<TaskContext>) -> Run {
        let mut run = self.run.lock();
        let started = run.get_or_insert_with(|| {
            let input = self.input.clone();
            // A task of its own goes on whoever of the readers is waited for, and ends with the
            // last of them.
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

/// The plan behind an operator that was planned by itself.
pub fn planned_apart(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let once = plan.downcast_ref::<OnceExec>().map(|once| &once.input);
    once.or_else(|| plan.downcast_ref::<PartExec>().map(|part| &part.input))
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

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("OnceExec has no children") }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.run(context);
        let batches = async move {
            let rows = rows.await.map_err(DataFusionError::Shared)?;
            let count = rows.get(partition).map_or(0, Vec::len);
            Ok::<_, DataFusionError>(
                stream::iter(0..count).map(move |at| Ok(rows[partition][at].clone())),
            )
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            stream::once(batches).try_flatten(),
        )))
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(match args.partition() {
            None => self.statistics.clone(),
            Some(_) => Arc::new(Statistics::new_unknown(&self.schema())),
        })
    }
}

//! The operator that runs a view whose plan was made separately.

use std::fmt;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{SchedulingType, reset_plan_states};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, collect_partitioned,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

use crate::engine::string_buffers;

type Rows = Arc<Vec<Vec<RecordBatch>>>;
type Run = Shared<BoxFuture<'static, Result<Rows, Arc<DataFusionError>>>>;

/// Returns the rows of a plan. It is a barrier for the optimizer: planning a reader does not change
/// the plan, which is why the operator has no children.
///
/// `EXPLAIN` shows it as `OnceExec` if it keeps the rows for several readers, and as `PartExec` if
/// it passes them on to a single reader.
pub struct ViewExec {
    view: String,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    statistics: Arc<Statistics>,
    readers: Readers,
}

enum Readers {
    /// Rows are passed on and not kept.
    One,
    /// The plan runs when the first reader asks, and its rows are kept for all of them.
    Several(Mutex<Option<Run>>),
}

impl ViewExec {
    /// Runs a plan for one reader.
    pub fn for_one(view: &str, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Self::new(view, input, Readers::One)
    }

    /// Runs a plan once for several readers.
    pub fn for_several(view: &str, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Self::new(view, input, Readers::Several(Mutex::new(None)))
    }

    fn new(view: &str, input: Arc<dyn ExecutionPlan>, readers: Readers) -> Result<Self> {
        let statistics =
            StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new())?;
        // Otherwise DataFusion rebuilds the plan of every reader to insert a yielding operator.
        let properties = input.properties().as_ref().clone();
        let properties = Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative));
        Ok(Self { view: view.to_owned(), input, properties, statistics, readers })
    }

    /// Runs the plan before a reader asks, if its rows are kept. Returns when they are complete.
    pub async fn run_ahead(&self, context: Arc<TaskContext>) {
        if let Readers::Several(run) = &self.readers {
            let _ = self.run(run, context).await;
        }
    }

    /// The run that all readers share. The first reader starts it.
    fn run(&self, run: &Mutex<Option<Run>>, context: Arc<TaskContext>) -> Run {
        let mut run = run.lock();
        let started = run.get_or_insert_with(|| {
            let input = self.input.clone();
            // A spawned task makes progress whichever reader is polled, and is dropped with the
            // last reader.
            async move {
                let task = SpawnedTask::spawn(async move {
                    let mut rows = collect_partitioned(input, context).await?;
                    for batch in rows.iter_mut().flatten() {
                        *batch = string_buffers::without_unused(batch.clone())?;
                    }
                    Ok::<_, DataFusionError>(rows)
                });
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

/// The plan that an operator runs, if that plan was made separately.
pub fn planned_apart(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    plan.downcast_ref::<ViewExec>().map(|view| &view.input)
}

impl fmt::Debug for ViewExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name()).field("view", &self.view).finish_non_exhaustive()
    }
}

impl DisplayAs for ViewExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::TreeRender => write!(f, "view={}", self.view),
            _ => write!(f, "{}: view={}", self.name(), self.view),
        }
    }
}

impl ExecutionPlan for ViewExec {
    fn name(&self) -> &'static str {
        match self.readers {
            Readers::One => "PartExec",
            Readers::Several(_) => "OnceExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

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
        if children.is_empty() {
            Ok(self)
        } else {
            internal_err!("{} has no children", self.name())
        }
    }

    // A recursive query runs its plan once per iteration and resets it through `children()`, which
    // does not reach the plan here. Kept rows serve every iteration.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        match self.readers {
            Readers::One => Ok(Arc::new(Self {
                view: self.view.clone(),
                input: reset_plan_states(self.input.clone())?,
                properties: self.properties.clone(),
                statistics: self.statistics.clone(),
                readers: Readers::One,
            })),
            Readers::Several(_) => Ok(self),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let run = match &self.readers {
            Readers::One => {
                let rows = string_buffers::stream(self.input.execute(partition, context)?);
                return Ok(make_cooperative(rows));
            }
            Readers::Several(run) => self.run(run, context),
        };
        let batches = async move {
            let rows = run.await.map_err(DataFusionError::Shared)?;
            let count = rows.get(partition).map_or(0, Vec::len);
            Ok::<_, DataFusionError>(
                stream::iter(0..count).map(move |at| Ok(rows[partition][at].clone())),
            )
        };
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            stream::once(batches).try_flatten(),
        ))))
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

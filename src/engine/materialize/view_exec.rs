//! The operator that runs a view whose plan was made separately.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{SchedulingType, reset_plan_states};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
    collect_partitioned,
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
    Several(Arc<Mutex<Kept>>),
}

/// The rows that several readers share.
struct Kept {
    run: Option<Run>,
    has_run: bool,
    /// The number of readers that are expected, and of those whose plans are made.
    expected: usize,
    planned: usize,
    /// How many partitions the readers have not read yet. Then the rows are dropped.
    left: usize,
    /// Whether readers run again and again, as in recursive queries. The rows are not dropped then.
    is_repeated: bool,
}

/// A reader of a partition of kept rows.
struct Reader(Arc<Mutex<Kept>>);

impl Drop for Reader {
    fn drop(&mut self) {
        let mut kept = self.0.lock();
        kept.left = kept.left.saturating_sub(1);
        if kept.left == 0 && !kept.is_repeated {
            kept.run = None;
        }
    }
}

impl ViewExec {
    /// Runs a plan for one reader.
    pub fn for_one(view: &str, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Self::new(view, input, Readers::One)
    }

    /// Runs a plan once for several readers.
    pub fn for_several(view: &str, input: Arc<dyn ExecutionPlan>, readers: usize) -> Result<Self> {
        let left = readers.saturating_mul(input.output_partitioning().partition_count());
        let kept = Kept {
            run: None,
            has_run: false,
            expected: readers,
            planned: 0,
            left,
            is_repeated: false,
        };
        Self::new(view, input, Readers::Several(Arc::new(Mutex::new(kept))))
    }

    /// Announces a reader whose plan is being made.
    pub fn add_reader(&self) {
        if let Readers::Several(kept) = &self.readers {
            let mut kept = kept.lock();
            kept.planned += 1;
            if kept.planned > kept.expected {
                let partitions = self.properties.output_partitioning().partition_count();
                kept.left = kept.left.saturating_add(partitions);
            }
        }
    }

    /// The same without columns that hold one value. A union of branches with constants of their own
    /// takes these for constants of its partitions, and plans that rely on them keep
    /// [`SequentialUnions`](crate::engine::rules::sequential_unions) from joining partitions.
    pub fn without_constants(self) -> Self {
        let mut properties = self.properties.as_ref().clone();
        let known = &properties.eq_properties;
        let orders = known.oeq_class().iter().cloned();
        let orders = EquivalenceProperties::new_with_orderings(known.schema().clone(), orders);
        properties.set_eq_properties(orders);
        Self { properties: Arc::new(properties), ..self }
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
        if let Readers::Several(kept) = &self.readers {
            let _ = self.run(kept, context).await;
        }
    }

    /// The run that all readers share. The first reader starts it.
    fn run(&self, kept: &Mutex<Kept>, context: Arc<TaskContext>) -> Run {
        let mut kept = kept.lock();
        // A plan runs only once as it is.
        let has_run = std::mem::replace(&mut kept.has_run, true);
        let started = kept.run.get_or_insert_with(|| {
            let input = self.input.clone();
            // A spawned task makes progress whichever reader is polled, and is dropped with the
            // last reader.
            async move {
                let task = SpawnedTask::spawn(async move {
                    let input = if has_run { reset_plan_states(input)? } else { input };
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

/// The operators of one kind in some plans, also in those that were made separately. An operator
/// with several readers is returned once: views lie within views, so that the number of ways to an
/// operator grows exponentially with their depth.
pub fn operators<T: ExecutionPlan>(plans: &[Arc<dyn ExecutionPlan>]) -> Vec<&T> {
    fn collect<'p, T: ExecutionPlan>(
        plan: &'p Arc<dyn ExecutionPlan>,
        found: &mut Vec<&'p T>,
        seen: &mut HashSet<*const ()>,
    ) {
        if !seen.insert(Arc::as_ptr(plan).cast()) {
            return;
        }
        found.extend(plan.downcast_ref::<T>());
        for inner in planned_apart(plan).into_iter().chain(plan.children()) {
            collect(inner, found, seen);
        }
    }
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for plan in plans {
        collect(plan, &mut found, &mut seen);
    }
    found
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
            Readers::Several(ref kept) => {
                kept.lock().is_repeated = true;
                Ok(self)
            }
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (run, reader) = match &self.readers {
            Readers::One => {
                let rows = string_buffers::stream(self.input.execute(partition, context)?);
                return Ok(make_cooperative(rows));
            }
            Readers::Several(kept) => (self.run(kept, context), Reader(kept.clone())),
        };
        let batches = async move {
            let rows = run.await.map_err(DataFusionError::Shared)?;
            let count = rows.get(partition).map_or(0, Vec::len);
            Ok::<_, DataFusionError>(stream::iter(0..count).map(move |at| {
                // The reader ends with the rows.
                let _ = &reader;
                Ok(rows[partition][at].clone())
            }))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::record_batch::RecordBatch;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::execution::TaskContext;
    use datafusion::physical_plan::ExecutionPlan;
    use futures::TryStreamExt;

    use super::{Readers, ViewExec};

    /// A view of two partitions, for two readers.
    fn view() -> Arc<ViewExec> {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("n", values)]).expect("a batch");
        let schema = batch.schema();
        let partitions = [vec![batch.clone()], vec![batch]];
        let rows = MemorySourceConfig::try_new_exec(&partitions, schema, None).expect("a plan");
        Arc::new(ViewExec::for_several("view", rows, 2).expect("a view"))
    }

    fn keeps_rows(view: &ViewExec) -> bool {
        match &view.readers {
            Readers::One => false,
            Readers::Several(kept) => kept.lock().run.is_some(),
        }
    }

    async fn read(view: &ViewExec) -> usize {
        let mut rows = 0;
        for partition in 0..2 {
            let stream = view.execute(partition, Arc::new(TaskContext::default())).expect("rows");
            let batches: Vec<RecordBatch> = stream.try_collect().await.expect("rows");
            rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        }
        rows
    }

    #[tokio::test]
    async fn rows_are_dropped_after_the_last_reader() {
        let view = view();
        for keeps in [true, false] {
            assert_eq!(read(&view).await, 6);
            assert_eq!(keeps_rows(&view), keeps);
        }
        // One that was not announced has them computed again.
        assert_eq!(read(&view).await, 6);
    }

    #[tokio::test]
    async fn rows_are_kept_for_each_planned_reader_and_for_recursions() {
        let more = view();
        (0..3).for_each(|_| more.add_reader());
        for keeps in [true, true, false] {
            assert_eq!(read(&more).await, 6);
            assert_eq!(keeps_rows(&more), keeps);
        }
        let repeated = view();
        repeated.clone().reset_state().expect("the same plan");
        for _ in 0..3 {
            assert_eq!(read(&repeated).await, 6);
            assert!(keeps_rows(&repeated));
        }
    }
}

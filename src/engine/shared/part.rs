//! The operator that stands for a plan that was made by itself.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// Hands on the rows of a plan; whoever plans what reads it leaves the plan as it is.
pub struct PartExec {
    name: String,
    pub input: Arc<dyn ExecutionPlan>,
    statistics: Arc<Statistics>,
}

impl PartExec {
    pub fn new(name: &str, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let statistics =
            StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new())?;
        Ok(Self { name: name.to_owned(), input, statistics })
    }
}

impl fmt::Debug for PartExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartExec").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DisplayAs for PartExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::TreeRender => write!(f, "view={}", self.name),
            _ => write!(f, "PartExec: view={}", self.name),
        }
    }
}

impl ExecutionPlan for PartExec {
    fn name(&self) -> &'static str {
        "PartExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    // None, so that nobody plans it anew.
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
        if children.is_empty() { Ok(self) } else { internal_err!("PartExec has no children") }
    }

    // What recurses runs its plan anew each time, and goes by children to prepare it.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let Self { name, input, statistics } = self.as_ref();
        Ok(Arc::new(Self {
            name: name.clone(),
            input: reset_plan_states(input.clone())?,
            statistics: statistics.clone(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
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

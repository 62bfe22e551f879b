//! The operator that returns rows of a view which are computed for groups of traces.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{internal_err, plan_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use parking_lot::Mutex;

use super::Groups;
use super::batch::{Batch, Shared};
use super::view::GroupQuery;

/// The operator. It has one partition.
#[derive(Debug)]
pub struct GroupScan {
    groups: Arc<Groups>,
    query: Arc<GroupQuery>,
    properties: Arc<PlanProperties>,
    /// The batch with which the query runs, and its number there.
    batch: Mutex<Option<(Arc<Shared>, usize)>>,
    /// What all queries of a batch read from files is counted by one of them.
    metrics: ExecutionPlanMetricsSet,
}

impl GroupScan {
    /// An operator that runs a query.
    pub fn new(groups: Arc<Groups>, query: Arc<GroupQuery>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(query.schema().clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let properties = Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative));
        let metrics = ExecutionPlanMetricsSet::new();
        Self { groups, query, properties, batch: Mutex::new(None), metrics }
    }

    /// The query.
    pub fn query(&self) -> &Arc<GroupQuery> {
        &self.query
    }

    /// The counters of what is read from files.
    pub fn counts(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    /// Makes the query a part of a batch.
    pub fn join(&self, batch: Arc<Shared>, number: usize) {
        *self.batch.lock() = Some((batch, number));
    }
}

impl DisplayAs for GroupScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.query.shown())
    }
}

impl ExecutionPlan for GroupScan {
    fn name(&self) -> &'static str {
        "TraceGroupsExec"
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

    // Rows of a batch are read once. A query that is run again runs on its own.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(self.groups.clone(), self.query.clone())))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition > 0 {
            return plan_err!("{} has one partition", self.name());
        }
        let batch = self.batch.lock().clone();
        let rows = match batch.and_then(|(batch, number)| batch.rows(number, &context)) {
            Some(rows) => rows,
            None => Batch::of_one(self.groups.clone(), self).into_rows(&context)?,
        };
        Ok(make_cooperative(rows))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

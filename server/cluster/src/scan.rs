//! The plan node of the client that returns the rows of a query over traces.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{internal_err, plan_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use parking_lot::Mutex;
use tracesql::library::Scope;

use crate::batch::Batch;
use crate::session::Session;

/// A query that runs over each of some traces.
#[derive(Clone)]
pub struct Query {
    /// The session that has the traces.
    pub session: Arc<Session>,
    /// The text that executors run.
    pub sql: String,
    /// The columns of its rows on the client.
    pub schema: SchemaRef,
    /// The positions of the traces in the session.
    pub traces: Vec<usize>,
    /// What the query may read apart from the trace.
    pub scope: Scope,
}

/// The node. It has one partition.
pub struct ClusterScan {
    query: Arc<Query>,
    properties: Arc<PlanProperties>,
    /// The batch with which the query runs, and its number there.
    batch: Mutex<Option<(Arc<Batch>, usize)>>,
}

impl ClusterScan {
    /// A node that runs a query.
    pub fn new(query: Query) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(query.schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { query: Arc::new(query), properties: Arc::new(properties), batch: Mutex::new(None) }
    }

    /// The query.
    pub fn query(&self) -> &Arc<Query> {
        &self.query
    }

    /// Makes the query a part of a batch.
    pub fn join(&self, batch: Arc<Batch>, number: usize) {
        *self.batch.lock() = Some((batch, number));
    }
}

impl fmt::Debug for ClusterScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterScan").field("sql", &self.query.sql).finish_non_exhaustive()
    }
}

impl DisplayAs for ClusterScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClusterScan: traces={}, sql={}", self.query.traces.len(), self.query.sql)
    }
}

impl ExecutionPlan for ClusterScan {
    fn name(&self) -> &'static str {
        "ClusterScan"
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
        if children.is_empty() { Ok(self) } else { internal_err!("ClusterScan has no children") }
    }

    // Rows of a batch are read once. A query that is run again runs on its own.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(self.query.as_ref().clone())))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition > 0 {
            return plan_err!("ClusterScan has one partition");
        }
        let batch = self.batch.lock().clone();
        if let Some((batch, number)) = batch
            && let Some(rows) = batch.rows(number, &context)?
        {
            return Ok(rows);
        }
        Batch::of_one(self.query.clone()).into_rows(&context)
    }
}

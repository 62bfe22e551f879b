//! The part of a shared view that some readers need, and the plan that computes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use tokio::sync::OnceCell;

use super::view_exec::ViewExec;

/// Positions of columns in a shared view.
pub type Columns = BTreeSet<usize>;
/// Filters in the form that [`comparable`] returns.
pub type Filters = Vec<Expr>;

/// The needs of all readers of a shared view that have the same filters.
pub struct Need {
    pub filters: Filters,
    pub columns: Columns,
    pub readers: usize,
}

/// The filters without relation names in their columns, and sorted, so that equal filters compare
/// as equal.
pub fn comparable(pushed: &[Expr]) -> Result<Filters> {
    let bare = |filter: &Expr| {
        let filter = filter.clone().transform(|e| match e {
            Expr::Column(c) => Ok(Transformed::yes(Expr::Column(Column::new_unqualified(c.name)))),
            other => Ok(Transformed::no(other)),
        })?;
        Ok(filter.data)
    };
    let mut filters = pushed.iter().map(bare).collect::<Result<Filters>>()?;
    filters.sort_by_cached_key(ToString::to_string);
    Ok(filters)
}

/// A part of a shared view: some columns, and the rows that pass some filters.
#[derive(Debug)]
pub struct Part {
    view: String,
    filters: Filters,
    columns: Columns,
    plan: LogicalPlan,
    /// The number of scans that are known to read it. If there is one, rows need not be kept.
    readers: usize,
    is_branch: bool,
    is_taken: AtomicBool,
    physical: OnceCell<Arc<dyn ExecutionPlan>>,
}

impl Part {
    /// Creates a part that an optimized plan computes. `is_branch` states whether the view is a
    /// branch of a union.
    pub fn new(view: &str, is_branch: bool, need: Need, plan: LogicalPlan) -> Self {
        Self {
            view: view.to_owned(),
            filters: need.filters,
            columns: need.columns,
            plan,
            readers: need.readers,
            is_branch,
            is_taken: AtomicBool::new(false),
            physical: OnceCell::new(),
        }
    }

    /// The optimized query that computes the part.
    pub fn query(&self) -> &LogicalPlan {
        &self.plan
    }

    /// Whether the part contains these columns for all rows that pass these filters.
    pub fn holds(&self, filters: &Filters, columns: &Columns) -> bool {
        self.filters == *filters && self.columns.is_superset(columns)
    }

    /// Makes the physical plan of the part before a reader asks for it.
    pub async fn plan(&self, state: &SessionState) -> Result<()> {
        self.planned(state).await.map(|_| ())
    }

    /// Computes the rows of the part before a reader asks for them, if they are kept and the part
    /// is planned. Errors are kept for the readers.
    pub async fn run_ahead(&self, context: Arc<TaskContext>) {
        let view = self.physical.get().and_then(|plan| plan.downcast_ref::<ViewExec>());
        if let Some(view) = view {
            view.run_ahead(context).await;
        }
    }

    async fn planned(&self, state: &SessionState) -> Result<&Arc<dyn ExecutionPlan>> {
        self.physical.get_or_try_init(|| self.new_plan(state)).await
    }

    async fn new_plan(&self, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = state.query_planner().create_physical_plan(&self.plan, state).await?;
        let view = match self.readers {
            1 => ViewExec::for_one(&self.view, plan)?,
            readers => ViewExec::for_several(&self.view, plan, readers)?,
        };
        Ok(Arc::new(if self.is_branch { view.without_constants() } else { view }))
    }

    /// The operator that a scan reads from.
    pub async fn physical(&self, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        // A plan that does not keep its rows cannot run twice.
        if self.readers == 1 && self.is_taken.swap(true, Ordering::Relaxed) {
            return self.new_plan(state).await;
        }
        let plan = self.planned(state).await?;
        if let Some(view) = plan.downcast_ref::<ViewExec>() {
            view.add_reader();
        }
        Ok(plan.clone())
    }

    /// The columns that a scan asks for, in the scan's order.
    pub fn project(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        asked: &[usize],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.columns.iter().eq(asked) {
            return Ok(plan);
        }
        let schema = plan.schema();
        let position = |column| self.columns.iter().position(|c| *c == column);
        let columns = asked.iter().map(|&column| {
            let at = position(column).ok_or_else(|| {
                DataFusionError::Internal(format!(
                    "column {column} of a shared view was not computed"
                ))
            })?;
            let name = schema.field(at).name();
            Ok(ProjectionExpr::new(Arc::new(PhysicalColumn::new(name, at)), name.clone()))
        });
        Ok(Arc::new(ProjectionExec::try_new(columns.collect::<Result<Vec<_>>>()?, plan)?))
    }
}

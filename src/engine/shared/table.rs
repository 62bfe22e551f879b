//! A view as a table that is computed once.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{
    BinaryExpr, Expr, LogicalPlan, LogicalPlanBuilder, Operator, TableProviderFilterPushDown,
    TableType,
};
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::super::constants::Constants;
use super::super::views::PlannedView;
use super::super::{cooperative, single};
use super::Need;
use super::exec::OnceExec;
use super::part::PartExec;

pub type Columns = BTreeSet<usize>;
pub type Filters = Vec<Expr>;

/// A view that is computed once for all who read it with the same filters.
#[derive(Debug)]
pub struct SharedView {
    name: String,
    is_branch: bool,
    body: LogicalPlan,
    schema: SchemaRef,
    /// Columns that hold the store's one trace in each row.
    constants: HashSet<String>,
    parts: Mutex<Vec<Arc<Part>>>,
}

/// Some columns of a shared view, of the rows that pass filters.
#[derive(Debug)]
pub struct Part {
    view: String,
    filters: Filters,
    columns: Columns,
    plan: LogicalPlan,
    /// Whether one scan alone reads it, so that its rows need not be kept.
    is_for_one: bool,
    is_taken: AtomicBool,
    physical: OnceCell<Arc<dyn ExecutionPlan>>,
}

impl SharedView {
    pub fn new(view: &PlannedView, body: LogicalPlan, constants: Constants) -> Self {
        let constants = constants.into_iter().map(|column| column.name).collect();
        Self {
            name: view.name().to_owned(),
            is_branch: view.is_branch(),
            body,
            schema: view.schema(),
            constants,
            parts: Mutex::default(),
        }
    }

    /// The view's query.
    pub fn body(&self) -> &LogicalPlan {
        &self.body
    }

    /// Whether a column holds the store's one trace in each row.
    pub fn is_constant(&self, column: &str) -> bool {
        self.constants.contains(column)
    }

    /// The view's query for some columns and rows.
    pub fn body_with(&self, filters: &[Expr], columns: &Columns) -> Result<LogicalPlan> {
        let mut body = LogicalPlanBuilder::from(self.body.clone()).alias(self.name.as_str())?;
        for filter in filters {
            body = body.filter(filter.clone())?;
        }
        body.select(columns.iter().copied())?.build()
    }

    /// Says what will be read, and how it is computed.
    pub fn plan_part(&self, need: Need, plan: LogicalPlan) -> Arc<Part> {
        let Need { filters, columns, readers } = need;
        let part = Arc::new(self.new_part(filters, columns, plan, readers == 1));
        self.parts.lock().push(part.clone());
        part
    }

    fn new_part(
        &self,
        filters: Filters,
        columns: Columns,
        plan: LogicalPlan,
        is_for_one: bool,
    ) -> Part {
        Part {
            view: self.name.clone(),
            filters,
            columns,
            plan,
            is_for_one,
            is_taken: AtomicBool::new(false),
            physical: OnceCell::new(),
        }
    }

    /// The part that holds what a scan needs; all columns if nobody said what will be read.
    fn part(&self, state: &SessionState, filters: Filters, columns: &Columns) -> Result<Arc<Part>> {
        let mut parts = self.parts.lock();
        if let Some(part) =
            parts.iter().find(|p| p.filters == filters && p.columns.is_superset(columns))
        {
            return Ok(part.clone());
        }
        let columns = (0..self.schema.fields().len()).collect();
        let plan = state.optimize(&self.body_with(&filters, &columns)?)?;
        let part = Arc::new(self.new_part(filters, columns, plan, false));
        parts.push(part.clone());
        Ok(part)
    }
}

impl Part {
    /// Plans how the part is computed, for those who will ask.
    pub async fn plan(&self, state: &SessionState) -> Result<()> {
        self.planned(state).await.map(|_| ())
    }

    async fn planned(&self, state: &SessionState) -> Result<&Arc<dyn ExecutionPlan>> {
        self.physical.get_or_try_init(|| self.new_plan(state)).await
    }

    async fn new_plan(&self, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = state.query_planner().create_physical_plan(&self.plan, state).await?;
        let plan = cooperative::joins(single::streams(plan)?)?;
        Ok(match self.is_for_one {
            true => Arc::new(PartExec::new(&self.view, plan)?),
            false => Arc::new(OnceExec::new(&self.view, plan)?),
        })
    }

    async fn physical(&self, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        // Such a plan cannot be run twice.
        if self.is_for_one && self.is_taken.swap(true, Ordering::Relaxed) {
            return self.new_plan(state).await;
        }
        self.planned(state).await.cloned()
    }

    /// The columns that a scan asks for, in its order.
    fn project(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        asked: &[usize],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.columns.iter().eq(asked) {
            return Ok(plan);
        }
        let schema = plan.schema();
        let place = |column| self.columns.iter().position(|c| *c == column);
        let columns = asked.iter().map(|&column| {
            let at = place(column).ok_or_else(|| {
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

#[async_trait]
impl TableProvider for SharedView {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match picks_traces(filter) {
            true => TableProviderFilterPushDown::Inexact,
            false if self.is_branch && stands_alone(filter) => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters_: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let state = state.as_any().downcast_ref::<SessionState>().ok_or_else(|| {
            DataFusionError::Internal("views are planned in a session of DataFusion's own".into())
        })?;
        let asked: Vec<usize> =
            projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let part = self.part(state, filters(filters_)?, &asked.iter().copied().collect())?;
        let plan = part.physical(state).await?;
        part.project(plan, &asked)
    }
}

/// Whether a filter says which traces: it is worth computing a view for them alone.
fn picks_traces(filter: &Expr) -> bool {
    let is_trace = |e: &Expr| matches!(e, Expr::Column(c) if c.name == "trace_id");
    let is_literal = |e: &Expr| matches!(e, Expr::Literal(..));
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            (is_trace(left) && is_literal(right)) || (is_literal(left) && is_trace(right))
        }
        Expr::InList(list) => {
            !list.negated && is_trace(&list.expr) && list.list.iter().all(is_literal)
        }
        _ => false,
    }
}

/// Whether a filter can move into another plan.
fn stands_alone(filter: &Expr) -> bool {
    let is_bound = |e: &Expr| {
        Ok(matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::OuterReferenceColumn(..)
        ))
    };
    !filter.is_volatile() && !filter.exists(is_bound).unwrap_or(true)
}

/// Filters with columns of no relation, in one order, so that the same filters are equal.
pub fn filters(pushed: &[Expr]) -> Result<Filters> {
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

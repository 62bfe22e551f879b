//! The table that replaces a view whose rows are computed separately from its readers.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{
    BinaryExpr, Expr, LogicalPlan, LogicalPlanBuilder, Operator, TableProviderFilterPushDown,
    TableScan, TableType,
};
use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;

use super::part::{Columns, Filters, Need, Part, comparable};
use crate::engine::planned_view::PlannedView;
use crate::engine::rules;

/// A view that is computed once for all readers with the same filters.
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

impl SharedView {
    /// Creates a shared view from a query that scans only tables and shared views. `constants` are
    /// the columns that hold the ID of the store's only trace in each row.
    pub fn new(view: &PlannedView, body: LogicalPlan, constants: HashSet<String>) -> Self {
        Self {
            name: view.name().to_owned(),
            is_branch: view.is_branch(),
            body,
            schema: view.schema(),
            constants,
            parts: Mutex::default(),
        }
    }

    /// An identifier of the view. It is unique while the view exists.
    pub fn id(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).cast::<()>() as usize
    }

    /// The view's query.
    pub fn body(&self) -> &LogicalPlan {
        &self.body
    }

    /// Whether a column holds the ID of the store's only trace in each row.
    pub fn is_constant(&self, column: &str) -> bool {
        self.constants.contains(column)
    }

    /// The optimized query that computes what readers need.
    pub fn query(&self, need: &Need, state: &SessionState) -> Result<LogicalPlan> {
        let mut body = LogicalPlanBuilder::from(self.body.clone()).alias(self.name.as_str())?;
        for filter in &need.filters {
            body = body.filter(filter.clone())?;
        }
        rules::optimize(body.select(need.columns.iter().copied())?.build()?, state)
    }

    /// Adds a part, which the scans of its readers will find. `query` is the result of
    /// [`SharedView::query`] for the need.
    pub fn add_part(&self, need: Need, query: LogicalPlan) -> Arc<Part> {
        let part = Arc::new(Part::new(&self.name, self.is_branch, need, query));
        self.parts.lock().push(part.clone());
        part
    }

    /// The part that contains the columns and rows that a scan needs. A scan that was not announced
    /// gets a new part with all columns.
    fn part(&self, state: &SessionState, filters: Filters, columns: &Columns) -> Result<Arc<Part>> {
        let mut parts = self.parts.lock();
        if let Some(part) = parts.iter().find(|part| part.holds(&filters, columns)) {
            return Ok(part.clone());
        }
        let columns = (0..self.schema.fields().len()).collect();
        let need = Need { filters, columns, readers: MANY };
        let query = self.query(&need, state)?;
        let part = Arc::new(Part::new(&self.name, self.is_branch, need, query));
        parts.push(part.clone());
        Ok(part)
    }
}

/// The number of readers if it is not known. Rows are kept in this case.
const MANY: usize = usize::MAX;

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
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let state = state.as_any().downcast_ref::<SessionState>().ok_or_else(|| {
            DataFusionError::Internal("views are planned in a session of DataFusion's own".into())
        })?;
        let asked: Vec<usize> =
            projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let part = self.part(state, comparable(filters)?, &asked.iter().copied().collect())?;
        let plan = part.physical(state).await?;
        part.project(plan, &asked)
    }
}

/// Whether a filter selects traces. A view is then computed for those traces alone.
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

/// Whether a filter can move into another plan. It must have the same result there, and it must not
/// refer to a subquery or an outer query.
pub fn stands_alone(filter: &Expr) -> bool {
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

/// Calls `f` for each scan of a shared view, with the ID of the view.
pub fn each_scan(
    plan: &LogicalPlan,
    mut f: impl FnMut(usize, &TableScan) -> Result<()>,
) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && provider.is::<SharedView>()
        {
            f(Arc::as_ptr(&provider).cast::<()>() as usize, scan)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

//! A view of the library as plans refer to it, and how its query replaces its name.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableScan, TableType};
use datafusion::physical_plan::ExecutionPlan;

/// Identifies the query of a view. Views with equal keys have the same query.
pub type ViewKey = usize;

/// A view whose query is planned. A plan that reads the view scans it like a table, so that
/// [`super::planning`] can count its readers before [`inline`] puts the query in its place.
#[derive(Debug, Clone)]
pub struct PlannedView {
    name: String,
    schema: SchemaRef,
    body: Arc<LogicalPlan>,
    is_branch: bool,
    is_of_several: bool,
}

impl PlannedView {
    /// Creates a view from an analyzed query.
    pub fn new(name: &str, query: LogicalPlan) -> Self {
        Self {
            name: name.to_owned(),
            schema: query.schema().inner().clone(),
            body: Arc::new(query),
            is_branch: false,
            is_of_several: false,
        }
    }

    /// The same view, with whether it has rows only if there are several traces.
    pub fn of_several(self, is_of_several: bool) -> Self {
        Self { is_of_several, ..self }
    }

    /// Whether it has rows only if there are several traces.
    pub fn is_of_several(&self) -> bool {
        self.is_of_several
    }

    /// Creates a view from a branch of a union.
    pub fn branch(name: &str, query: LogicalPlan) -> Self {
        Self { is_branch: true, ..Self::new(name, query) }
    }

    /// The view that a scan reads. `None` for other tables, and for a scan that already holds
    /// filters: the filters would be lost with the scan.
    pub fn read_by(scan: &TableScan) -> Option<Self> {
        if !scan.filters.is_empty() {
            return None;
        }
        source_as_provider(&scan.source).ok()?.downcast_ref::<Self>().cloned()
    }

    /// Whether it is a branch of a union, which is planned on its own.
    pub fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// The name of the view.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The query of the view, in which other views are still scans.
    pub fn body(&self) -> &Arc<LogicalPlan> {
        &self.body
    }

    /// The key of the query.
    pub fn key(&self) -> ViewKey {
        Arc::as_ptr(&self.body) as ViewKey
    }
}

/// Returns the plan that replaces a scan of a view. `None` stands for the view's query.
pub type Replacement<'a> = &'a dyn Fn(&PlannedView, &TableScan) -> Result<Option<LogicalPlan>>;

/// Returns the plan with each scan of a view replaced by the result of `replacement`, or by the
/// query of the view.
pub fn inline(plan: LogicalPlan, replacement: Replacement) -> Result<LogicalPlan> {
    let inlined = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        let Some(view) = PlannedView::read_by(scan) else { return Ok(Transformed::no(node)) };
        let replaced = match replacement(&view, scan)? {
            Some(plan) => plan,
            None => {
                let body = inline(view.body.as_ref().clone(), replacement)?;
                let body = LogicalPlanBuilder::from(body);
                let body = match &scan.projection {
                    Some(columns) => body.select(columns.iter().copied())?,
                    None => body,
                };
                body.alias(scan.table_name.clone())?.build()?
            }
        };
        Ok(Transformed::new(replaced, true, TreeNodeRecursion::Jump))
    })?;
    Ok(inlined.data)
}

#[async_trait]
impl TableProvider for PlannedView {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    // Only plans that DataFusion makes by itself get here, such as the plan of `CREATE TABLE … AS`.
    // `planning` leaves no scan of a view in a plan.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let body = inline(self.body.as_ref().clone(), &|_, _| Ok(None))?;
        let mut body = LogicalPlanBuilder::from(body);
        if let Some(columns) = projection {
            body = body.select(columns.iter().copied())?;
        }
        state.create_physical_plan(&body.build()?).await
    }
}

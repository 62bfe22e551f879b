//! A view as a table whose rows are computed for groups of traces.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, Session, TableProvider};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{DFSchema, internal_datafusion_err};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableType,
};
use datafusion::physical_plan::ExecutionPlan;

use super::Groups;
use super::scan::GroupScan;
use crate::engine::catalog::Catalog;
use crate::engine::materialize::{comparable, stands_alone};
use crate::library::Scope;

/// The column with the trace of a row.
const TRACE_ID: &str = "trace_id";

/// A view whose rows depend on single traces.
#[derive(Debug)]
pub struct GroupedView {
    groups: Arc<Groups>,
    name: String,
    scope: Scope,
    schema: SchemaRef,
}

impl GroupedView {
    /// Creates the table of a view with these columns.
    pub fn new(groups: Arc<Groups>, name: &str, scope: Scope, schema: SchemaRef) -> Self {
        Self { groups, name: name.to_owned(), scope, schema }
    }
}

#[async_trait]
impl TableProvider for GroupedView {
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
        let support = |filter: &&Expr| match stands_alone(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Vec<usize> =
            projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let filters = comparable(filters)?;
        let ids = self.groups.traces.iter().map(|trace| trace.manifest.trace_id.as_str());
        let query = GroupQuery {
            view: self.name.clone(),
            scope: self.scope,
            schema: Arc::new(self.schema.project(&columns)?),
            columns,
            traces: passing_traces(ids, &filters, state)?,
            filters,
            limit,
        };
        Ok(Arc::new(GroupScan::new(self.groups.clone(), Arc::new(query))))
    }
}

/// The positions of the traces that may have rows which pass the filters. The columns of filters
/// have no relation names.
pub fn passing_traces<'t>(
    ids: impl Iterator<Item = &'t str>,
    filters: &[Expr],
    state: &dyn Session,
) -> Result<Vec<usize>> {
    let column: ArrayRef = Arc::new(StringViewArray::from_iter_values(ids));
    let mut all: Vec<usize> = (0..column.len()).collect();
    let field = Field::new(TRACE_ID, DataType::Utf8View, false);
    let schema = Arc::new(Schema::new(vec![field]));
    let ids = RecordBatch::try_new(schema.clone(), vec![column])?;
    let schema = DFSchema::try_from(schema.as_ref().clone())?;
    for filter in filters {
        let columns = filter.column_refs();
        if columns.is_empty() || columns.iter().any(|column| column.name != TRACE_ID) {
            continue;
        }
        let filter = state.create_physical_expr(filter.clone(), &schema)?;
        let passes = filter.evaluate(&ids)?.into_array(ids.num_rows())?;
        let passes = as_boolean_array(&passes)?.clone();
        all.retain(|&at| passes.is_valid(at) && passes.value(at));
    }
    Ok(all)
}

/// Some columns of a view, and the rows that pass some filters.
#[derive(Debug, PartialEq)]
pub struct GroupQuery {
    view: String,
    scope: Scope,
    /// The columns by their positions in the view, and as the reader sees them.
    columns: Vec<usize>,
    schema: SchemaRef,
    filters: Vec<Expr>,
    limit: Option<usize>,
    /// The positions of the traces that may have rows.
    traces: Vec<usize>,
}

impl GroupQuery {
    /// The name of the view.
    pub fn view(&self) -> &str {
        &self.view
    }

    /// The columns that the reader sees.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The positions of the traces that may have rows.
    pub fn traces(&self) -> &[usize] {
        &self.traces
    }

    /// Whether the view may read the jobs and ranks of traces.
    pub fn needs_jobs(&self) -> bool {
        self.scope == Scope::Job
    }

    /// The query over the traces of a catalogue. It has at least one column, because rows without
    /// columns cannot be put together.
    pub async fn plan(&self, catalog: &Catalog) -> Result<LogicalPlan> {
        let view = catalog.table(&self.view).await?;
        let view = view.ok_or_else(|| internal_datafusion_err!("there is no {}", self.view))?;
        let mut query = LogicalPlanBuilder::scan(&*self.view, provider_as_source(view), None)?;
        for filter in &self.filters {
            query = query.filter(filter.clone())?;
        }
        let columns = match self.columns.as_slice() {
            [] => &[0],
            columns => columns,
        };
        query = query.select(columns.iter().copied())?;
        if self.limit.is_some() {
            query = query.limit(0, self.limit)?;
        }
        query.build()
    }

    /// A batch of the query with the columns that the reader sees.
    pub fn fit(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = batch.columns()[..self.columns.len()].to_vec();
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &rows)?)
    }

    /// What `EXPLAIN` shows.
    pub fn shown(&self) -> String {
        let names: Vec<&str> = self.schema.fields().iter().map(|f| f.name().as_str()).collect();
        let mut text = format!("view={}, columns=[{}]", self.view, names.join(", "));
        if !self.filters.is_empty() {
            let filters: Vec<String> = self.filters.iter().map(ToString::to_string).collect();
            text += &format!(", filters=[{}]", filters.join(", "));
        }
        if let Some(limit) = self.limit {
            text += &format!(", limit={limit}");
        }
        text + &format!(", traces={}", self.traces.len())
    }
}

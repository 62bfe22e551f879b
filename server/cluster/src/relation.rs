//! Relations of single traces as tables of the client's session.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session as DataFusionSession, TableProvider};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tracesql::engine::passing_traces;
use tracesql::library::Scope;

use crate::scan::{ClusterScan, Query};
use crate::session::Session;
use crate::sql::{Writer, bare, quoted};

/// A relation that executors compute for each trace.
pub struct ClusterTable {
    session: Arc<Session>,
    name: String,
    scope: Scope,
    schema: SchemaRef,
}

impl fmt::Debug for ClusterTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ClusterTable {
    /// A table of a session.
    pub fn new(session: Arc<Session>, name: &str, scope: Scope, schema: SchemaRef) -> Self {
        Self { session, name: name.to_owned(), scope, schema }
    }

    /// The name of the relation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What writes expressions over the relation's columns.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self.session.state()?, &self.schema)
    }

    /// A query over the relation that returns the given columns. `filters` are those that the query
    /// applies; they choose the traces.
    pub fn query(&self, sql: String, schema: SchemaRef, filters: &[Expr]) -> Result<Query> {
        let ids = self.session.traces.iter().map(|trace| trace.manifest.trace_id.as_str());
        let filters = filters.iter().cloned().map(bare).collect::<Result<Vec<Expr>>>()?;
        let traces = passing_traces(ids, &filters, &self.session.state()?)?;
        Ok(Query { session: self.session.clone(), sql, schema, traces, scope: self.scope })
    }
}

#[async_trait]
impl TableProvider for ClusterTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        match tracesql_ingest::schema::table(&self.name) {
            Some(_) => TableType::Base,
            None => TableType::View,
        }
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let writer = self.writer()?;
        let support = |filter: &&Expr| match writer.text(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _state: &dyn DataFusionSession,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => self.schema.clone(),
        };
        let writer = self.writer()?;
        // Nothing else applies these filters, because they were promised to be exact.
        let texts = filters.iter().map(|filter| {
            let text = writer.text(filter);
            text.ok_or_else(|| internal_datafusion_err!("the filter {filter} cannot be written"))
        });
        let texts = texts.collect::<Result<Vec<String>>>()?;
        let mut sql = format!("SELECT {} FROM {}", select_list(&schema), quoted(&self.name));
        sql += &conditions(&texts);
        if let Some(limit) = limit {
            sql += &format!(" LIMIT {limit}");
        }
        Ok(Arc::new(ClusterScan::new(self.query(sql, schema, filters)?)))
    }
}

/// The columns of a query. A query without columns still returns rows, which are counted.
fn select_list(schema: &Schema) -> String {
    let columns: Vec<String> = schema.fields().iter().map(|f| quoted(f.name())).collect();
    if columns.is_empty() { "NULL AS nothing".to_owned() } else { columns.join(", ") }
}

/// The `WHERE` of a query; empty without conditions.
pub fn conditions(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        texts => format!(" WHERE ({})", texts.join(") AND (")),
    }
}

/// Rows that executors aggregate for each trace.
pub struct PartialTable {
    query: Query,
}

impl fmt::Debug for PartialTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialTable").field("sql", &self.query.sql).finish_non_exhaustive()
    }
}

impl PartialTable {
    /// The rows of a query.
    pub fn new(query: Query) -> Self {
        Self { query }
    }
}

#[async_trait]
impl TableProvider for PartialTable {
    fn schema(&self) -> SchemaRef {
        self.query.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _state: &dyn DataFusionSession,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut query = self.query.clone();
        if let Some(columns) = projection
            && columns.len() != query.schema.fields().len()
        {
            query.schema = Arc::new(query.schema.project(columns)?);
            let columns = select_list(&query.schema);
            query.sql = format!("SELECT {columns} FROM ({}) AS rows_of_a_trace", query.sql);
        }
        Ok(Arc::new(ClusterScan::new(query)))
    }
}

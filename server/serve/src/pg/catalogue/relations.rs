//! The tables and views of a store as relations of the catalogue. They have columns and no rows:
//! the engine answers queries of their rows.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use tracesql::engine::{Engine, documented};
use tracesql::library::{Body, View};

/// A table or view with its documentation.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Name.
    pub name: String,
    /// A sentence about it.
    pub comment: String,
    /// Names, types and comments of its columns.
    pub columns: Vec<(String, DataType, String)>,
    /// The query of a view.
    pub definition: Option<String>,
}

impl Relation {
    /// The documented tables and views of a store, and the views that the connection made.
    pub async fn all(engine: &Engine) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (kind, view) in documented(engine.library()) {
            all.push(Self::documented(kind, view, engine).await);
        }
        let schema = engine.context().catalog("tracesql").and_then(|c| c.schema("main"));
        for name in schema.map(|schema| schema.table_names()).unwrap_or_default() {
            if all.iter().any(|relation| relation.name == name) {
                continue;
            }
            all.push(Self {
                columns: columns_of(engine, &name).await,
                name,
                comment: "A view of this connection.".to_owned(),
                definition: Some(String::new()),
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    async fn documented(kind: &str, view: View, engine: &Engine) -> Self {
        let mut columns: Vec<(String, DataType, String)> = view
            .columns
            .into_iter()
            .map(|c| (c.name, data_type(&c.data_type), comment(&c.description, &c.unit)))
            .collect();
        if columns.is_empty() {
            columns = columns_of(engine, &view.name).await;
        }
        let definition = match view.body {
            Body::Query(text) if kind == "view" => Some(text),
            _ => None,
        };
        Self { name: view.name, comment: view.summary, columns, definition }
    }

    /// The columns as a schema.
    pub fn schema(&self) -> SchemaRef {
        let field = |(name, data_type, _): &(String, DataType, String)| {
            Field::new(name, data_type.clone(), true)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// The columns of a relation without documentation.
async fn columns_of(engine: &Engine, name: &str) -> Vec<(String, DataType, String)> {
    // A view whose query fails has no columns here; its error is shown when it is queried.
    let Ok(provider) = engine.context().table_provider(name).await else { return Vec::new() };
    let schema = provider.schema();
    let column = |f: &Arc<Field>| (f.name().clone(), f.data_type().clone(), String::new());
    schema.fields().iter().map(column).collect()
}

fn comment(description: &str, unit: &str) -> String {
    match unit {
        "" | "text" | "count" | "id" | "boolean" => description.to_owned(),
        unit if description.contains(unit) => description.to_owned(),
        unit => format!("{description} Unit: {unit}."),
    }
}

/// The type with a name of the documentation.
fn data_type(name: &str) -> DataType {
    match name.strip_suffix("[]") {
        Some(item) => DataType::List(Arc::new(Field::new_list_field(data_type(item), true))),
        None => match name {
            "BIGINT" => DataType::Int64,
            "DOUBLE" => DataType::Float64,
            "BOOLEAN" => DataType::Boolean,
            "VARBINARY" => DataType::Binary,
            _ => DataType::Utf8,
        },
    }
}

/// A relation whose rows the engine has.
#[derive(Debug)]
pub struct WithoutRows {
    schema: SchemaRef,
    is_view: bool,
}

impl WithoutRows {
    /// The relation as a table of the catalogue's session.
    pub fn new(relation: &Relation) -> Self {
        Self { schema: relation.schema(), is_view: relation.definition.is_some() }
    }
}

#[async_trait]
impl TableProvider for WithoutRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        if self.is_view { TableType::View } else { TableType::Base }
    }

    async fn scan(
        &self,
        _: &dyn Session,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Err(DataFusionError::NotImplemented(
            "rows of traces and of the catalogue cannot be read by one statement".to_owned(),
        ))
    }
}

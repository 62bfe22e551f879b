//! Reads small query results row by row.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use futures::TryStreamExt;

use crate::engine::Engine;
use crate::error::{Error, Result};

/// A query result that is held in memory.
pub struct Rows {
    batches: Vec<RecordBatch>,
}

/// One row of a result.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    batch: &'a RecordBatch,
    at: usize,
}

/// Runs a query whose columns are integers, doubles or texts.
pub async fn query(engine: &Engine, sql: &str) -> Result<Rows> {
    Rows::of(engine.context().sql(sql).await?.collect().await?)
}

/// Like [`query`], for queries over views that use other views. Each of those is computed
/// once.
pub async fn query_views(engine: &Engine, sql: &str) -> Result<Rows> {
    let mut batches = Vec::new();
    for statement in engine.parse(sql)? {
        batches.extend(engine.run(statement, &[]).await?.try_collect::<Vec<_>>().await?);
    }
    Rows::of(batches)
}

impl Rows {
    /// Reads batches whose columns are integers, doubles or texts.
    pub fn of(batches: Vec<RecordBatch>) -> Result<Self> {
        Ok(Self { batches: batches.iter().map(plain).collect::<Result<_>>()? })
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |at| Row { batch, at }))
    }
}

/// The batch with its columns cast to integers, doubles or texts.
fn plain(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Int64 | DataType::Float64 | DataType::Utf8View => Ok(column.clone()),
        t if t.is_integer() => cast(column, &DataType::Int64),
        t if t.is_floating() => cast(column, &DataType::Float64),
        DataType::Utf8 => cast(column, &DataType::Utf8View),
        _ => cast(&cast(column, &DataType::Utf8)?, &DataType::Utf8View),
    });
    let columns = columns
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|e| Error::Query(e.to_string()))?;
    let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    RecordBatch::try_from_iter_with_nullable(
        names.into_iter().zip(columns).map(|(n, c)| (n, c, true)),
    )
    .map_err(|e| Error::Query(e.to_string()))
}

impl<'a> Row<'a> {
    /// The integer in a column; `None` for NULL.
    pub fn int(&self, name: &str) -> Option<i64> {
        let column = self.batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()?;
        column.is_valid(self.at).then(|| column.value(self.at))
    }

    /// The double in a column; `None` for NULL.
    pub fn float(&self, name: &str) -> Option<f64> {
        let column = self.batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        column.is_valid(self.at).then(|| column.value(self.at))
    }

    /// The text in a column; `None` for NULL.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let column = self.batch.column_by_name(name)?.as_string_view_opt()?;
        column.is_valid(self.at).then(|| column.value(self.at))
    }

    /// All values as JSON, by column name.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        let names = self.batch.schema();
        let value = |name: &str| match (self.int(name), self.float(name), self.text(name)) {
            (Some(n), _, _) => n.into(),
            (_, Some(x), _) => x.into(),
            (_, _, Some(text)) => text.into(),
            _ => serde_json::Value::Null,
        };
        names.fields().iter().map(|f| (f.name().clone(), value(f.name()))).collect()
    }
}

//! Query results as JSON objects, for commands that process rows instead of printing them.

use arrow::array::RecordBatch;
use arrow::json::ArrayWriter;
use datafusion::sql::parser::Statement;
use futures::TryStreamExt;
use futures::future::join_all;
use serde_json::{Map, Value};

use super::Engine;
use crate::error::{Error, Result};

/// A row: its values by column name. NULL is left out. NaN is left out as well, because JSON cannot
/// represent it.
pub type Object = Map<String, Value>;

impl Engine {
    /// All rows of a query.
    pub async fn objects(&self, sql: &str) -> Result<Vec<Object>> {
        let statement = self.one_statement(sql)?;
        objects(self.run(statement, &[]).await?.try_collect().await?)
    }

    /// All rows of each query. Shared views are computed once for all queries. If a query fails,
    /// the others still return their rows.
    pub async fn objects_of_all(&self, queries: &[String]) -> Vec<Result<Vec<Object>>> {
        let together =
            match queries.iter().map(|sql| self.one_statement(sql)).collect::<Result<Vec<_>>>() {
                Ok(statements) => self.start_all(statements, &[]).await,
                Err(e) => Err(e),
            };
        match together {
            Ok(started) => {
                join_all(started.into_iter().map(async |s| objects(s.result.try_collect().await?)))
                    .await
            }
            Err(_) => {
                let mut answers = Vec::with_capacity(queries.len());
                for sql in queries {
                    answers.push(self.objects(sql).await);
                }
                answers
            }
        }
    }

    fn one_statement(&self, sql: &str) -> Result<Statement> {
        let mut statements = self.parse(sql)?;
        match statements.len() {
            1 => Ok(statements.remove(0)),
            many => Err(Error::Query(format!("one query was expected, not {many}"))),
        }
    }
}

fn objects(batches: Vec<RecordBatch>) -> Result<Vec<Object>> {
    let failed = |e: &dyn std::fmt::Display| Error::Query(format!("rows as JSON: {e}"));
    let mut writer = ArrayWriter::new(Vec::new());
    for batch in &batches {
        writer.write(batch).map_err(|e| failed(&e))?;
    }
    writer.finish().map_err(|e| failed(&e))?;
    let text = writer.into_inner();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let objects: Vec<Object> = serde_json::from_slice(&text).map_err(|e| failed(&e))?;
    Ok(objects.into_iter().map(|o| o.into_iter().filter(|(_, v)| !v.is_null()).collect()).collect())
}

/// The text in a column; `None` for NULL.
pub fn text(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The number in a column; `None` for NULL.
pub fn number(object: &Object, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64)
}

/// The integer in a column; `None` for NULL.
pub fn int(object: &Object, name: &str) -> Option<i64> {
    object.get(name).and_then(Value::as_i64)
}

//! Results as JSON objects, for commands that work on rows rather than print them.

use arrow::array::RecordBatch;
use arrow::json::ArrayWriter;
use futures::TryStreamExt;
use serde_json::{Map, Value};

use super::Engine;
use crate::error::{Error, Result};

/// A row: values by column. What is NULL is not there; nor is NaN, which JSON does not have.
pub type Object = Map<String, Value>;

impl Engine {
    /// All rows of one query.
    pub async fn objects(&self, sql: &str) -> Result<Vec<Object>> {
        let mut statements = self.parse(sql)?;
        if statements.len() != 1 {
            return Err(Error::Query(format!("one query was expected, not {}", statements.len())));
        }
        let batches: Vec<RecordBatch> = self.run(statements.remove(0), &[]).await?.try_collect().await?;
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
}

/// The text of a column; `None` for NULL.
pub fn text(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The number of a column; `None` for NULL.
pub fn number(object: &Object, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64)
}

/// The integer of a column; `None` for NULL.
pub fn int(object: &Object, name: &str) -> Option<i64> {
    object.get(name).and_then(Value::as_i64)
}

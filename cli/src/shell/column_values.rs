//! Looks up the values of columns for completion, in a time that a user does not notice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracesql::engine::Engine;
use tracesql::output::safe;
use tracesql::{Error, Result};

use super::complete::WantedValues;

/// The maximum time that the Tab key waits. If it is not enough, the values are there at one of the
/// next times.
const MAX_WAIT: Duration = Duration::from_millis(150);
/// The time after which a lookup is given up.
const MAX_TIME: Duration = Duration::from_secs(10);
/// The maximum number of values, most frequent first.
const MAX_VALUES: usize = 50;
/// Longer values are left out.
const MAX_CHARS: usize = 200;

/// The values that have been looked up in the open traces.
#[derive(Debug, Default)]
pub struct ColumnValues {
    known: HashMap<WantedValues, Vec<String>>,
    running: HashMap<WantedValues, JoinHandle<Vec<String>>>,
}

impl ColumnValues {
    /// The values, or none if finding them takes too long.
    pub fn of(
        &mut self,
        wanted: &WantedValues,
        engine: &Arc<Engine>,
        runtime: &Runtime,
    ) -> Vec<String> {
        if let Some(values) = self.known.get(wanted) {
            return values.clone();
        }
        let engine = engine.clone();
        let task = self.running.entry(wanted.clone()).or_insert_with(|| {
            let wanted = wanted.clone();
            runtime.spawn(async move {
                let found = timeout(MAX_TIME, lookup(engine, wanted)).await;
                found.unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_default()
            })
        });
        let Ok(done) = runtime.block_on(async { timeout(MAX_WAIT, task).await }) else {
            return Vec::new();
        };
        let values = done.unwrap_or_default();
        self.running.remove(wanted);
        self.known.insert(wanted.clone(), values.clone());
        values
    }
}

impl Drop for ColumnValues {
    fn drop(&mut self) {
        self.running.values().for_each(JoinHandle::abort);
    }
}

async fn lookup(engine: Arc<Engine>, wanted: WantedValues) -> Result<Vec<String>> {
    let mut values = Vec::new();
    for statement in engine.parse(&query(&wanted))? {
        let mut result = engine.run(statement, &[]).await?;
        while let Some(batch) = result.try_next().await? {
            let column =
                cast(batch.column(0), &DataType::Utf8).map_err(|e| Error::Query(e.to_string()))?;
            values.extend(column.as_string::<i32>().iter().flatten().map(str::to_owned));
        }
    }
    // A value with control characters cannot be typed into the input.
    values.retain(|v| v.chars().count() <= MAX_CHARS && safe(v) == *v);
    Ok(values)
}

fn query(wanted: &WantedValues) -> String {
    let name = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let (column, relation) = (name(&wanted.column), name(&wanted.relation));
    format!(
        "SELECT {column} FROM {relation} WHERE {column} IS NOT NULL \
         AND starts_with({column}, {prefix}) GROUP BY {column} \
         ORDER BY count(*) DESC, {column} LIMIT {MAX_VALUES}",
        prefix = quoted(&wanted.prefix)
    )
}

/// A text as a string of SQL.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

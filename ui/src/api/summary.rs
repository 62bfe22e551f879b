//! A summary of a column of a result, within a short time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tracesql::engine::Engine;
use tracesql::requests::{Answer as Rows, Call};

use super::{Statement, list, parsed};
use crate::failure::Answer;
use crate::open::State;

/// The time that a summary may take.
const MAX_TIME: Duration = Duration::from_millis(200);
/// Buckets of the distribution of numbers.
const BUCKETS: usize = 20;
/// The most frequent values of other columns.
const VALUES: usize = 10;

#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(flatten)]
    statement: Statement,
    column: String,
}

/// POST `/api/summary`.
pub async fn summary(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let start = Instant::now();
    let found = tokio::time::timeout(MAX_TIME, summarized(&state, asked)).await;
    let Ok(found) = found else {
        return Ok(Json(json!({"skipped": "it takes more than 200 ms"})));
    };
    let mut summary = found?;
    if let Some(summary) = summary.as_object_mut() {
        let elapsed = (start.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        summary.insert("elapsed_ms".into(), elapsed.into());
    }
    Ok(Json(summary))
}

/// Asks about the rows of a statement.
struct Source<'s> {
    state: &'s State,
    engine: Arc<Engine>,
    parameters: Map<String, Value>,
    /// The column, quoted.
    column: String,
    /// The statement without its end.
    inner: String,
}

impl Source<'_> {
    async fn ask(&self, select: String, rows: usize) -> Answer<Rows> {
        let statement = Statement { sql: select, parameters: self.parameters.clone() };
        let (query, call) = (statement.query(list(rows))?, Call::default());
        Ok(self.state.quick.query(&self.engine, query, &call).await?)
    }

    async fn totals(&self) -> Answer<Value> {
        let (column, inner) = (&self.column, &self.inner);
        let sql = format!(
            "SELECT count(*) AS count, count(*) - count({column}) AS nulls, \
             approx_distinct({column}) AS distinct_values, min({column}) AS least, \
             max({column}) AS largest, arrow_typeof(first_value({column})) AS type \
             FROM (\n{inner}\n)"
        );
        Ok(self.ask(sql, 1).await?.objects().into_iter().next().unwrap_or_default())
    }

    async fn quantiles(&self) -> Answer<Value> {
        let of = |q: f64| format!("approx_percentile_cont({q}) WITHIN GROUP (ORDER BY v)");
        let list_of = [0.05, 0.25, 0.5, 0.75, 0.95].map(of).join(", ");
        let (column, inner) = (&self.column, &self.inner);
        let values = format!("SELECT CAST({column} AS DOUBLE) AS v FROM (\n{inner}\n)");
        let answer = self.ask(format!("SELECT {list_of} FROM ({values})"), 1).await?;
        Ok(answer.rows.into_iter().next().unwrap_or_default())
    }

    async fn frequent(&self) -> Answer<Value> {
        let (column, inner) = (&self.column, &self.inner);
        let sql = format!(
            "SELECT CAST({column} AS VARCHAR) AS value, count(*) AS rows FROM (\n{inner}\n) \
             WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {VALUES}"
        );
        Ok(Value::Array(self.ask(sql, VALUES).await?.rows))
    }

    /// `[from, to, count]` of equal parts of the range of the column.
    async fn distribution(&self, least: f64, largest: f64) -> Answer<Value> {
        let width = (largest - least) / BUCKETS as f64;
        if !(width.is_finite() && width > 0.0) {
            return Ok(Value::Null);
        }
        let (column, inner, last) = (&self.column, &self.inner, BUCKETS - 1);
        let sql = format!(
            "SELECT CAST(least(floor((v - {least:e}) / {width:e}), {last}) AS BIGINT) AS bucket, \
             count(*) AS rows FROM (SELECT CAST({column} AS DOUBLE) AS v FROM (\n{inner}\n)) \
             WHERE v BETWEEN {least:e} AND {largest:e} GROUP BY 1"
        );
        let mut counts = [0; BUCKETS];
        for row in self.ask(sql, BUCKETS).await?.rows {
            let number = |at: usize| row.get(at).and_then(Value::as_u64);
            if let (Some(bucket), Some(rows)) = (number(0), number(1))
                && let Some(count) = counts.get_mut(bucket as usize)
            {
                *count = rows;
            }
        }
        let edge = |at: usize| if at == BUCKETS { largest } else { least + width * at as f64 };
        let parts = counts.iter().enumerate();
        Ok(parts.map(|(at, count)| json!([edge(at), edge(at + 1), count])).collect())
    }
}

async fn summarized(state: &State, asked: Asked) -> Answer<Value> {
    let source = Source {
        state,
        engine: state.engine().await?,
        parameters: asked.statement.parameters,
        column: format!("\"{}\"", asked.column.replace('"', "\"\"")),
        // The statement must not end with a semicolon within the brackets.
        inner: asked.statement.sql.trim().trim_end_matches(';').to_owned(),
    };
    let totals = source.totals().await?;
    let kind = totals.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_number = ["Int", "UInt", "Float", "Decimal"].iter().any(|k| kind.starts_with(k));
    let (mut quantiles, mut buckets, mut values) = (Value::Null, Value::Null, Value::Null);
    if is_number {
        quantiles = source.quantiles().await?;
        let number = |name: &str| totals.get(name).and_then(as_number);
        if let (Some(least), Some(largest)) = (number("least"), number("largest")) {
            buckets = source.distribution(least, largest).await?;
        }
    } else {
        values = source.frequent().await?;
    }
    Ok(json!({
        "count": totals.get("count"),
        "nulls": totals.get("nulls"),
        "distinct": totals.get("distinct_values"),
        "is_approximate": true,
        "min": totals.get("least"),
        "max": totals.get("largest"),
        "quantiles": quantiles,
        "buckets": buckets,
        "values": values,
    }))
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|n| n.is_finite())
}

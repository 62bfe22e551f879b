//! Runs a query and makes its answer.

use std::time::{Duration, Instant};

use datafusion::common::ScalarValue;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use futures::future::try_join_all;
use serde_json::{Value, json};

use super::rows::Rows;
use super::units::{self, Documented};
use super::{Call, Query, Shape};
use crate::engine::{Engine, Scanned, Started};
use crate::error::{Error, Result};
use crate::library::sql_type;

/// The bytes that the reason of a cut, a number of rows and a time take at most.
const MAX_NUMBERS_BYTES: usize = 180;

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// The name of its type in SQL.
    pub data_type: String,
    /// Unit; `None` if it is not known.
    pub unit: Option<String>,
}

/// Why an answer has fewer rows than the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// The result has more rows than were asked for.
    Rows(usize),
    /// The next row does not fit into the bytes that were asked for. It alone has that many bytes.
    Bytes(usize),
}

/// The answer to a query.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The columns of the result.
    pub columns: Vec<Column>,
    /// Rows, each as a JSON list with one value for each column.
    pub rows: Vec<Value>,
    /// Why there are no more rows; `None` if the answer is complete.
    pub cut: Option<Cut>,
    /// The time from the moment at which the query could run.
    pub elapsed: Duration,
    /// What the query read from the store.
    pub scanned: Scanned,
}

impl Answer {
    /// The answer as one JSON object.
    pub fn into_json(self) -> Value {
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(|c| json!({"name": c.name, "type": c.data_type, "unit": c.unit}))
            .collect();
        let mut object = json!({
            "columns": columns,
            "rows": null,
            "row_count": self.rows.len(),
            "truncated": self.cut.is_some(),
            "why": self.cut.as_ref().map(ToString::to_string),
            "elapsed_ms": (self.elapsed.as_secs_f64() * 1e4).round() / 10.0,
        });
        // The macro would copy them.
        object["rows"] = Value::Array(self.rows);
        object
    }

    /// Rows as objects. NULL is left out.
    pub fn objects(&self) -> Vec<Value> {
        let object = |row: &Value| -> Value {
            let values = row.as_array().into_iter().flatten();
            self.columns
                .iter()
                .zip(values)
                .filter(|(_, value)| !value.is_null())
                .map(|(column, value)| (column.name.clone(), value.clone()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        self.rows.iter().map(object).collect()
    }
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rows(most) => write!(
                f,
                "the result has more than {most} rows: aggregate, filter, or ask for more rows"
            ),
            Self::Bytes(next) => write!(
                f,
                "the next row, of {next} bytes, does not fit: select fewer columns, aggregate, or \
                 ask for more bytes"
            ),
        }
    }
}

/// Runs queries until their last rows, or until their answers are full.
pub async fn of_all(engine: &Engine, queries: Vec<Query>, call: &Call) -> Result<Vec<Answer>> {
    let start = Instant::now();
    let (mut statements, mut documented) = (Vec::new(), Vec::new());
    let mut parameters = Vec::new();
    for query in &queries {
        let statement = one_statement(engine, &query.sql)?;
        documented.push(units::of_relations(engine, &statement));
        statements.push(statement);
        let new = |(name, _): &&(String, ScalarValue)| !parameters.iter().any(|(n, _)| n == name);
        let more: Vec<_> = query.parameters.iter().filter(new).cloned().collect();
        parameters.extend(more);
    }
    let all = if engine.shares_views() || queries.len() == 1 { queries.len() } else { 1 };
    let (mut answers, mut rest) = (Vec::new(), queries.into_iter().zip(documented));
    let mut statements = statements.into_iter();
    loop {
        // Together they share views. Where there is no memory for that, one after the other.
        let together: Vec<_> = statements.by_ref().take(all).collect();
        if together.is_empty() {
            return Ok(answers);
        }
        // What an earlier query held may not be back yet.
        engine.memory_settled().await;
        let started = engine.start_all(together, &parameters).await?;
        call.set_plans(started.iter().map(|started| started.plan.clone()).collect());
        let reading = started
            .into_iter()
            .zip(rest.by_ref())
            .map(|(started, (query, documented))| read(started, query, documented, start));
        answers.extend(try_join_all(reading).await?);
    }
}

fn one_statement(engine: &Engine, sql: &str) -> Result<Statement> {
    let mut statements = engine.parse(sql)?;
    match statements.len() {
        1 => Ok(statements.remove(0)),
        0 => Err(Error::Query("the text contains no statement".into())),
        many => Err(Error::Query(format!(
            "one statement was expected, not {many}; send them one by one"
        ))),
    }
}

async fn read(
    mut started: Started,
    query: Query,
    documented: Documented,
    start: Instant,
) -> Result<Answer> {
    let schema = started.result.schema();
    let columns: Vec<Column> = schema
        .fields()
        .iter()
        .map(|field| {
            let data_type = sql_type(field.data_type());
            let unit = units::of_column(field.name(), &data_type, &documented);
            Column { name: field.name().clone(), data_type, unit }
        })
        .collect();
    let mut answer = Answer {
        columns,
        rows: Vec::new(),
        cut: None,
        elapsed: Duration::ZERO,
        scanned: Scanned::default(),
    };
    let around_rows = answer.clone().into_json().to_string().len() + MAX_NUMBERS_BYTES;
    let Some(for_rows) = query.shape.max_bytes.checked_sub(around_rows) else {
        return Err(Error::Query(format!(
            "{} columns alone take {around_rows} bytes, and the answer may have {}; select fewer \
             columns",
            answer.columns.len(),
            query.shape.max_bytes
        )));
    };
    if !query.columns_only {
        let mut rows = Rows::new(Shape { max_bytes: for_rows, ..query.shape });
        while let Some(batch) = started.result.next().await {
            if !rows.add(&batch?)? {
                break;
            }
        }
        (answer.rows, answer.cut) = rows.done();
    }
    answer.elapsed = start.elapsed();
    answer.scanned = Scanned::of(&started.plan);
    Ok(answer)
}

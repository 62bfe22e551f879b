//! Runs a query and makes its answer.

use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Value, json};

use super::rows::Rows;
use super::{Call, Query, Shape, units};
use crate::engine::{Engine, Scanned};
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
    pub fn to_json(&self) -> Value {
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(|c| json!({"name": c.name, "type": c.data_type, "unit": c.unit}))
            .collect();
        json!({
            "columns": columns,
            "rows": self.rows,
            "row_count": self.rows.len(),
            "truncated": self.cut.is_some(),
            "why": self.cut.as_ref().map(ToString::to_string),
            "elapsed_ms": (self.elapsed.as_secs_f64() * 1e4).round() / 10.0,
        })
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

/// Runs a query until its last row, or until its answer is full.
pub async fn of(engine: &Engine, query: Query, call: &Call) -> Result<Answer> {
    let start = Instant::now();
    let mut statements = engine.parse(&query.sql)?;
    let statement = match statements.len() {
        1 => statements.remove(0),
        0 => return Err(Error::Query("the text contains no statement".into())),
        many => {
            return Err(Error::Query(format!(
                "one statement was expected, not {many}; send them one by one"
            )));
        }
    };
    let documented = units::of_relations(engine, &statement);
    let mut started = engine.start(statement, &query.parameters).await?;
    call.set_plan(started.plan.clone());
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
    let around_rows = answer.to_json().to_string().len() + MAX_NUMBERS_BYTES;
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

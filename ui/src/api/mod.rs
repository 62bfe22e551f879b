//! What the addresses below `/api` answer. The contract is in `ui/README.md`.

pub mod area;
pub mod docs;
pub mod event;
pub mod events;
pub mod export;
pub mod marks;
mod picture;
pub mod query;
pub mod same_name;
pub mod search;
pub mod stacks;
pub mod state;
pub mod summary;
pub mod text;
pub mod tracks;

use std::sync::Arc;

use axum::body::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tracesql::engine::Engine;
use tracesql::requests::{Answer as Rows, MAX_EXACT_INTEGER, Query, Shape, parameter};

use crate::failure::{Answer, Failure};
use crate::open::State;

/// The most bytes of an answer.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;
/// The most rows of an answer.
pub const MAX_ROWS: usize = 10_000;
/// Characters of a text in lists.
const MAX_TEXT: usize = 2_000;

/// The body of a request.
fn parsed<T: DeserializeOwned>(body: &Bytes) -> Answer<T> {
    serde_json::from_slice(body).map_err(|e| Failure::bad(format!("the body is not valid: {e}")))
}

/// A statement with values of its parameters, as pages send it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Statement {
    /// One statement.
    pub sql: String,
    /// Values of `$name`.
    #[serde(default)]
    pub parameters: Map<String, Value>,
}

impl Statement {
    /// The query of the statement.
    fn query(self, shape: Shape) -> Answer<Query> {
        let mut query = Query::new(self.sql).within(shape);
        for (name, value) in self.parameters {
            let value = parameter(&value).ok_or_else(|| {
                Failure::bad(format!(
                    "the parameter {name} takes a text, a number of 64 bits, true, false or null"
                ))
            })?;
            query.parameters.push((name, value));
        }
        Ok(query)
    }
}

/// Bounds of lists that a page shows whole.
fn list(max_rows: usize) -> Shape {
    Shape { max_rows, max_bytes: MAX_ANSWER_BYTES, max_text: MAX_TEXT }
}

/// Runs queries of ours together, with the limits of one.
async fn ask(state: &State, engine: &Arc<Engine>, queries: Vec<Query>) -> Answer<Vec<Rows>> {
    let call = tracesql::requests::Call::default();
    Ok(state.quick.queries(engine, queries, &call).await?)
}

/// An integer as pages read it: as text if a double would round it.
fn exact(value: i64) -> Value {
    if value.unsigned_abs() > MAX_EXACT_INTEGER { value.to_string().into() } else { value.into() }
}

/// An integer that [`exact`] or a query wrote.
fn integer(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The text in a member of an object.
fn text<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str)
}

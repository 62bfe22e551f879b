//! Statements of the user.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesql::Error;
use tracesql::catalog::Catalog;
use tracesql::engine::Engine;
use tracesql::explain::{Audience, explain};
use tracesql::requests::Shape;
use tracesql::runtime;

use super::{MAX_ANSWER_BYTES, MAX_ROWS, Statement, parsed};
use crate::failure::{Answer, Failure};
use crate::open::State;

/// Characters of a text in a result.
const MAX_TEXT: usize = 100_000;

#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    id: String,
    #[serde(flatten)]
    statement: Statement,
    #[serde(default)]
    max_rows: Option<usize>,
    #[serde(default)]
    max_bytes: Option<usize>,
}

/// POST `/api/query`.
pub async fn query(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let engine = state.engine().await?;
    let shape = Shape {
        max_rows: asked.max_rows.unwrap_or(MAX_ROWS).min(MAX_ROWS),
        max_bytes: asked.max_bytes.unwrap_or(MAX_ANSWER_BYTES).min(MAX_ANSWER_BYTES),
        max_text: MAX_TEXT,
    };
    let sql = asked.statement.sql.clone();
    let query = asked.statement.query(shape)?;
    let running = state.begin(&asked.id)?;
    match state.requests.attempt(&engine, query, &running.call).await {
        Ok(answer) => {
            let scanned = answer.scanned;
            let mut object = answer.into_json();
            if let Some(object) = object.as_object_mut() {
                object.insert("rows_read".into(), scanned.rows.into());
                object.insert("bytes_read".into(), scanned.bytes.into());
            }
            Ok(Json(object))
        }
        Err(error) => Err(failure(&state, error, sql, engine).await),
    }
}

/// An error with its place in the statement and advice.
pub async fn failure(state: &State, error: Error, sql: String, engine: Arc<Engine>) -> Failure {
    let Error::Sql(error) = error else { return error.into() };
    let explaining = state.requests.threads().spawn_blocking(move || {
        let Ok(runtime) = runtime::with_threads(1) else { return Failure::bad(error.to_string()) };
        let catalog = Catalog::of(&engine, &runtime);
        let report = explain(&error, &sql, &catalog, Audience::Page);
        let place = report.place.and_then(|place| {
            let before = sql.get(..place.start)?;
            let (start, length) = (utf16(before), utf16(sql.get(place.clone())?));
            let line = before.matches('\n').count() + 1;
            let column = utf16(before.rsplit('\n').next().unwrap_or_default()) + 1;
            Some(json!({
                "line": line, "column": column, "start": start, "end": start + length,
            }))
        });
        let mut more = place.unwrap_or_else(|| json!({}));
        if let (Some(more), Some(help)) = (more.as_object_mut(), report.help) {
            more.insert("help".into(), Value::String(help));
        }
        Failure::bad(report.message).with(more)
    });
    explaining.await.unwrap_or_else(|_| Failure::bad("the statement failed"))
}

/// The length of a text as browsers count it.
pub fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

#[derive(Debug, Deserialize)]
struct Named {
    id: String,
}

/// POST `/api/cancel`.
pub async fn cancel(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let named: Named = parsed(&body)?;
    state.cancel(&named.id);
    Ok(Json(json!({})))
}

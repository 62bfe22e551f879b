//! The traces, the limits, saved statements, and the report.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{MAX_ANSWER_BYTES, MAX_ROWS};
use crate::failure::{Answer, Failure};
use crate::open::{State, Traces};

/// The most bytes of a saved statement.
const MAX_SAVED_BYTES: u64 = 1 << 20;

/// GET `/api/state`.
pub async fn state(Shared(state): Shared<Arc<State>>) -> Answer {
    Ok(Json(described(&state).await?))
}

/// What pages need to know first.
pub async fn described(state: &State) -> Answer<Value> {
    let known = state.changes().borrow().clone();
    let (status, error, traces, settings) = match known {
        Traces::AreRead => ("reading", None, Vec::new(), Vec::new()),
        Traces::Failed(why) => ("failed", Some(why), Vec::new(), Vec::new()),
        Traces::Open(engine) => {
            let traces = state.listed().await?.to_vec();
            let changed = engine.settings().all().into_iter().filter(|(_, s)| s.value != s.default);
            let settings = changed
                .map(|(name, s)| json!({"name": name, "value": s.value, "default": s.default}));
            ("open", None, traces, settings.collect())
        }
    };
    let reading = state.progress().borrow().clone();
    let progress = (status == "reading" && reading.inputs > 0).then(|| reading.described());
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "status": status,
        "error": error,
        "progress": progress,
        "traces": traces,
        "settings_changed": settings,
        "limits": {
            "time_s": state.requests.limits().time.as_secs_f64(),
            "max_rows": MAX_ROWS,
            "max_bytes": MAX_ANSWER_BYTES,
        },
        "saved": saved_names(state),
    }))
}

/// Names of the statements in the folders of the user's views.
fn saved_names(state: &State) -> Vec<String> {
    let mut names: Vec<String> = state
        .saved
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".sql"))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// GET `/api/saved/NAME`.
pub async fn saved(Shared(state): Shared<Arc<State>>, Path(name): Path<String>) -> Answer {
    // Only names that were listed, so that no path leads elsewhere.
    if !saved_names(&state).contains(&name) {
        return Err(Failure::new(StatusCode::NOT_FOUND, format!("there is no file {name}")));
    }
    let sql = state.saved.iter().find_map(|folder| text_of(&folder.join(&name)));
    let sql = sql.ok_or_else(|| Failure::bad(format!("{name} cannot be read as text")))?;
    Ok(Json(json!({"name": name, "sql": sql})))
}

fn text_of(file: &FilePath) -> Option<String> {
    let is_small = std::fs::metadata(file).ok()?.len() <= MAX_SAVED_BYTES;
    if is_small { std::fs::read_to_string(file).ok() } else { None }
}

/// GET `/api/report`.
pub async fn report(Shared(state): Shared<Arc<State>>) -> Result<Response, Failure> {
    let report = state.report().await?;
    Ok(([(CONTENT_TYPE, "application/json")], report.to_string()).into_response())
}

//! The tools: their descriptions, and the call of each by its name.

mod compare;
mod event;
mod names;
mod overview;
mod query;
mod schemas;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tracesql_ingest::{Store, expand};

use super::MAX_ANSWER_BYTES;
use super::arguments::Arguments;
use super::state::{Open, Server};
use super::wire::{Fault, code};
use crate::error::{Error, Result};
use crate::open::named_trace;
use crate::requests::{Answer, Call, Query, Shape};

/// The bytes of the longest list in the answer of a tool that does not ask for them.
const LIST_BYTES: usize = 20_000;

/// A call of a tool.
struct Context<'a> {
    server: &'a Server,
    call: &'a Call,
}

impl Context<'_> {
    async fn open(&self) -> Result<Arc<Open>> {
        self.server.traces(self.call).await
    }

    /// The answers to queries that run with the limits of one.
    async fn ask(&self, open: &Open, queries: Vec<Query>) -> Result<Vec<Answer>> {
        self.server.requests.queries(&open.engine, queries, self.call).await
    }
}

/// The id of the trace that an argument names; `None` if it is not given.
fn trace_id(open: &Open, arguments: &Arguments) -> Result<Option<String>> {
    let Some(name) = arguments.text("trace")? else { return Ok(None) };
    Ok(Some(named_trace(name, open.engine.traces())?.trace_id.clone()))
}

/// As many items as fit, and whether some did not.
fn fitting(items: Vec<Value>, bytes: usize) -> (Vec<Value>, bool) {
    let (count, mut used) = (items.len(), 0);
    let fits = |item: &Value| {
        used += item.to_string().len() + 1;
        used <= bytes
    };
    let kept: Vec<Value> = items.into_iter().take_while(fits).collect();
    let is_cut = kept.len() < count;
    (kept, is_cut)
}

/// Bounds of a query whose rows become a list of an answer.
fn rows(max_rows: usize) -> Shape {
    Shape { max_rows, max_bytes: LIST_BYTES, ..Shape::default() }
}

/// The answer to `tools/list`. The order is always the same.
pub fn list(server: &Server) -> Value {
    let mut tools = schemas::tools();
    if server.open_more.is_some() {
        tools.push(schemas::open_trace());
    }
    json!({"tools": tools})
}

/// Calls a tool. What a model can mend is an answer with `isError`, and not a fault.
pub async fn call(
    server: &Server,
    params: &Map<String, Value>,
    call: &Call,
) -> Result<Value, Fault> {
    let fault = |what: &str| Fault::new(code::INVALID_PARAMS, what);
    let name =
        params.get("name").and_then(Value::as_str).ok_or_else(|| fault("name is missing"))?;
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(fault("arguments is no object")),
    };
    let known = schemas::arguments(name, server.open_more.is_some())
        .ok_or_else(|| fault(&format!("there is no tool {name:?}")))?;
    let context = Context { server, call };
    let outcome = match Arguments::new(arguments, &known) {
        Ok(arguments) => run(name, &arguments, &context).await,
        Err(e) => Err(e),
    };
    Ok(answer(outcome))
}

async fn run(name: &str, arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    match name {
        "overview" => overview::overview(arguments, context).await,
        "list_views" => names::list_views(arguments, context),
        "describe_view" => names::describe_view(arguments, context),
        "query" => query::query(arguments, context).await,
        "findings" => overview::findings(arguments, context).await,
        "compare" => compare::compare(arguments, context).await,
        "event" => event::event(arguments, context).await,
        "functions" => names::functions(arguments, context),
        _ => open_trace(arguments, context).await,
    }
}

/// The answer of a tool. It is there twice: as a value, and as text for clients that know no
/// values.
fn answer(outcome: Result<Value>) -> Value {
    let outcome = outcome.map_err(|e| e.to_string()).and_then(|value| {
        let text = value.to_string();
        match text.len() {
            0..=MAX_ANSWER_BYTES => Ok((value, text)),
            bytes => Err(format!(
                "the answer has {bytes} bytes, and {MAX_ANSWER_BYTES} are allowed; ask for less"
            )),
        }
    });
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    match outcome {
        Ok((value, json)) => {
            json!({"content": text(&json), "structuredContent": value, "isError": false})
        }
        Err(message) => {
            let message = crate::requests::text_of(message, MAX_ANSWER_BYTES / 8);
            json!({"content": text(&message), "isError": true})
        }
    }
}

/// Opens one more trace of the folder that the user allowed.
async fn open_trace(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let path = arguments.needed("path")?;
    let Some((folder, open_more)) = &context.server.open_more else {
        return Err(Error::Usage("no trace can be opened here".to_owned()));
    };
    let outside =
        || Error::Usage(format!("{path}: only traces in {} can be opened here", folder.display()));
    let folder = folder.canonicalize().map_err(|_| outside())?;
    // A link may lead out of the folder, so the place itself is compared.
    let place = folder.join(path).canonicalize().map_err(|_| outside())?;
    if !place.starts_with(&folder) {
        return Err(outside());
    }
    let place = place.to_str().ok_or_else(outside)?.to_owned();
    // So may links to files in a folder.
    if !Store::is_store(Path::new(&place)) {
        for input in expand(std::slice::from_ref(&place))? {
            let file = input.file().map(Path::canonicalize).and_then(std::io::Result::ok);
            if !file.is_some_and(|file| file.starts_with(&folder)) {
                return Err(outside());
            }
        }
    }
    let open = context.open().await?;
    let open_more = open_more.clone();
    let work = tokio::task::spawn_blocking(move || open_more(&place));
    let failed = |e: tokio::task::JoinError| Error::Query(format!("{path}: {e}"));
    let location = tokio::select! {
        () = context.call.cancelled() => return Err(Error::Cancelled),
        location = work => location.map_err(failed)??,
    };
    let open = context.server.add(&open, location)?;
    let ids = open.engine.traces().iter().map(|trace| json!(trace.trace_id)).collect();
    let (traces, truncated) = fitting(ids, LIST_BYTES);
    Ok(json!({"traces": traces, "truncated": truncated}))
}

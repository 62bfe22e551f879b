//! What the rules found. It is computed once, and pages hear of each finding when it is known.

use std::sync::Arc;

use futures::StreamExt;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tracesql::engine::Engine;
use tracesql::requests::{Call, values};
use tracesql::{Error, Result};

use crate::failure::{Answer, Failure};
use crate::open::State;

/// Rows that are kept. A job of many ranks has a row for each rule and rank.
const MAX_ROWS: usize = 50_000;
/// Characters of a text.
const MAX_TEXT: usize = 2_000;

const FINDINGS: &str = "
    SELECT rule, status, severity, trace_id, rank, device, step, subject, value, unit, threshold,
           message, advice, evidence, reason
    FROM findings";

/// How far the search for findings is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Rows that are known.
    pub rows: usize,
    /// Whether these are all; an error has its text.
    pub end: Option<std::result::Result<(), String>>,
}

/// The rows of `findings`, as they come.
pub struct Findings {
    rows: Mutex<Vec<Value>>,
    known: watch::Sender<Known>,
    is_begun: Mutex<bool>,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            rows: Mutex::default(),
            known: watch::channel(Known::default()).0,
            is_begun: Mutex::default(),
        }
    }
}

impl Findings {
    /// Changes of how many are known.
    pub fn changes(&self) -> watch::Receiver<Known> {
        self.known.subscribe()
    }

    /// The rows from a position on.
    pub fn from(&self, at: usize) -> Vec<Value> {
        self.rows.lock().get(at..).unwrap_or_default().to_vec()
    }

    /// All rows, gravest first. The first request begins the search, and one after a failure begins
    /// it again.
    pub async fn all(state: &Arc<State>) -> Answer<Vec<Value>> {
        let engine = state.engine().await?;
        let own = &state.findings;
        let mut changes = own.changes();
        if !std::mem::replace(&mut *own.is_begun.lock(), true) {
            own.rows.lock().clear();
            own.known.send_replace(Known::default());
            tokio::spawn(search(state.clone(), engine));
        }
        let end = changes.wait_for(|known| known.end.is_some()).await;
        match end.ok().and_then(|known| known.end.clone()) {
            Some(Ok(())) => {
                let mut rows = own.from(0);
                rows.sort_by_cached_key(order);
                Ok(rows)
            }
            Some(Err(why)) => Err(Failure::bad(why)),
            None => Err(Failure::bad("the search for findings ended")),
        }
    }
}

async fn search(state: Arc<State>, engine: Arc<Engine>) {
    let (own, call) = (state.clone(), Call::default());
    let work = async move { rows(&engine, &own.findings).await };
    let end = state.requests.run(&call, work).await.map_err(|e| e.to_string());
    let own = &state.findings;
    if end.is_err() {
        *own.is_begun.lock() = false;
    }
    own.known.send_modify(|known| known.end = Some(end));
}

async fn rows(engine: &Engine, found: &Findings) -> Result<()> {
    let mut statements = engine.parse(FINDINGS)?;
    let Some(statement) = statements.pop() else { return Ok(()) };
    let mut batches = engine.run(statement, &[]).await?;
    let names: Vec<String> =
        batches.schema().fields().iter().map(|field| field.name().clone()).collect();
    while let Some(batch) = batches.next().await {
        let batch = batch.map_err(Error::from)?;
        let mut rows = found.rows.lock();
        for row in values(&batch, MAX_TEXT)? {
            let own: Map<String, Value> = names.iter().cloned().zip(row).collect();
            if rows.len() < MAX_ROWS {
                rows.push(Value::Object(own));
            }
        }
        let count = rows.len();
        drop(rows);
        found.known.send_modify(|known| known.rows = count);
    }
    Ok(())
}

/// Whether a row is a finding, and not a rule that found nothing or could not be measured.
pub fn is_finding(row: &Value) -> bool {
    row["status"] == "finding"
}

fn order(row: &Value) -> (usize, String, String, i64) {
    let severity = ["high", "medium", "low"].iter().position(|s| row["severity"] == *s);
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (severity.unwrap_or(3), text("rule"), text("trace_id"), row["step"].as_i64().unwrap_or(-1))
}

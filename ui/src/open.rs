//! What all requests share: the traces, the documents, the queries that run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{OnceCell, watch};
use tracesql::docs::Reference;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::open::Location;
use tracesql::report::{self, Format};
use tracesql::requests::{Call, Limits, Query, Requests, Shape};
use tracesql::{Error, Result};

use crate::failure::{Answer, Failure};
use crate::findings::Findings;
use crate::timeline::Timeline;

/// Short queries of pages that run at once.
const QUICK: usize = 4;
/// Bounds of lists that are kept.
const LISTS: Shape = Shape { max_rows: 2_000, max_bytes: 16 << 20, max_text: 2_000 };

const TRACES: &str = "
    SELECT t.trace_id, t.path, t.rank, t.format, t.start_ns, t.end_ns, t.duration_ns, t.event_count,
           coalesce(d.devices, 0) AS device_count
    FROM traces t
    LEFT JOIN (
        SELECT trace_id, count(*) AS devices FROM devices GROUP BY trace_id
    ) d ON d.trace_id = t.trace_id
    ORDER BY t.format, t.rank NULLS LAST, t.path, t.trace_id";

/// How far reading the traces is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Inputs to read; 0 if that is not known yet.
    pub inputs: usize,
    /// Inputs that were read.
    pub done: usize,
    /// The input that is read.
    pub name: String,
    /// The share of it that is read, in percent; `None` if its size is not known.
    pub read_pct: Option<u32>,
}

impl Reading {
    /// What pages are told.
    pub fn described(&self) -> Value {
        json!({
            "files": self.inputs,
            "files_done": self.done,
            "name": self.name,
            "read_pct": self.read_pct,
        })
    }
}

/// Lets the code that opens the traces say how far it is.
#[derive(Debug, Clone)]
pub struct Progress(watch::Sender<Reading>);

impl Progress {
    /// Says how far it is.
    pub fn set(&self, reading: Reading) {
        self.0.send_replace(reading);
    }
}

/// Code that opens the traces.
pub type Open = Box<dyn FnOnce(&Progress) -> Result<Location> + Send>;

/// Whether there are traces to query.
#[derive(Clone)]
pub enum Traces {
    /// They are read.
    AreRead,
    /// They are open.
    Open(Arc<Engine>),
    /// They could not be opened, for this reason.
    Failed(String),
}

/// What requests share.
pub struct State {
    /// A session without traces, for documents.
    pub documents: Engine,
    /// Runs statements of the user, findings and reports within limits.
    pub requests: Requests,
    /// Runs the short queries of pages, which must not wait for statements of the user.
    pub quick: Requests,
    /// Folders of saved statements.
    pub saved: Vec<PathBuf>,
    options: EngineOptions,
    traces: watch::Sender<Traces>,
    progress: Progress,
    running: Mutex<HashMap<String, Call>>,
    timeline: OnceCell<Arc<Timeline>>,
    report: OnceCell<Arc<str>>,
    listed: OnceCell<Arc<[Value]>>,
    /// What the rules found.
    pub findings: Findings,
    /// When the last request came.
    pub last_request: Mutex<Instant>,
}

impl State {
    /// A state without traces.
    pub fn new(
        documents: Engine,
        options: EngineOptions,
        requests: Requests,
        saved: Vec<PathBuf>,
    ) -> Self {
        let quick = Limits { running: QUICK, ..*requests.limits() };
        Self {
            documents,
            quick: Requests::new(quick, requests.threads().clone()),
            requests,
            saved,
            options,
            traces: watch::channel(Traces::AreRead).0,
            progress: Progress(watch::channel(Reading::default()).0),
            running: Mutex::default(),
            timeline: OnceCell::new(),
            report: OnceCell::new(),
            listed: OnceCell::new(),
            findings: Findings::default(),
            last_request: Mutex::new(Instant::now()),
        }
    }

    /// Opens the traces. Requests that wait for them go on, or fail with the same error.
    pub fn open(&self, open: Open) -> Result<()> {
        let opened =
            open(&self.progress).and_then(|location| location.engine(&self.options)).map(Arc::new);
        self.traces.send_replace(match &opened {
            Ok(engine) => Traces::Open(engine.clone()),
            Err(e) => Traces::Failed(e.to_string()),
        });
        opened.map(drop)
    }

    /// Changes of whether there are traces.
    pub fn changes(&self) -> watch::Receiver<Traces> {
        self.traces.subscribe()
    }

    /// Changes of how far reading is.
    pub fn progress(&self) -> watch::Receiver<Reading> {
        self.progress.0.subscribe()
    }

    /// The session over the traces, as soon as they are read.
    pub async fn engine(&self) -> Answer<Arc<Engine>> {
        let mut changes = self.traces.subscribe();
        let known = changes.wait_for(|traces| !matches!(traces, Traces::AreRead)).await;
        match known.map(|known| known.clone()) {
            Ok(Traces::Open(engine)) => Ok(engine),
            Ok(Traces::Failed(why)) => Err(Failure::new(StatusCode::CONFLICT, why)),
            _ => Err(Failure::new(StatusCode::CONFLICT, "no trace is open")),
        }
    }

    /// The documents of everything in the session: that over the traces if they are open, because
    /// its settings may differ.
    pub fn reference(&self) -> Reference {
        match &*self.traces.borrow() {
            Traces::Open(engine) => Reference::of(engine),
            _ => Reference::of(&self.documents),
        }
    }

    /// The open traces, which the first request lists.
    pub async fn listed(&self) -> Answer<Arc<[Value]>> {
        let listed = self.listed.get_or_try_init(async || {
            let engine = self.engine().await?;
            let query = Query::new(TRACES).within(LISTS);
            let answers = self.quick.queries(&engine, vec![query], &Call::default()).await?;
            let rows = answers.first().map(|answer| answer.objects()).unwrap_or_default();
            Ok::<Arc<[Value]>, Failure>(rows.into())
        });
        Ok(listed.await?.clone())
    }

    /// The index of the timeline, which the first request builds.
    pub async fn timeline(&self) -> Answer<Arc<Timeline>> {
        let engine = self.engine().await?;
        let timeline = self.timeline.get_or_try_init(async || {
            let limit = self.options.memory_limit;
            let call = Call::default();
            let building = async move { Timeline::build(&engine, limit).await.map(Arc::new) };
            self.quick.run(&call, building).await
        });
        Ok(timeline.await?.clone())
    }

    /// The data of the report's page, which the first request computes.
    pub async fn report(&self) -> Answer<Arc<str>> {
        let engine = self.engine().await?;
        let report = self.report.get_or_try_init(async || {
            let call = Call::default();
            let collecting = async move {
                let report = report::collect(&engine, Vec::new(), Format::Html).await?;
                Ok::<Arc<str>, Error>(report.page_data().into())
            };
            self.requests.run(&call, collecting).await
        });
        Ok(report.await?.clone())
    }

    /// Registers a query under the name that its page gave it. It is forgotten when the returned
    /// value is dropped, and then it is cancelled if it still runs.
    pub fn begin(self: &Arc<Self>, id: &str) -> Answer<Running> {
        let call = Call::default();
        let mut running = self.running.lock();
        if !id.is_empty() && running.contains_key(id) {
            return Err(Failure::bad(format!("a query with the id {id:?} runs already")));
        }
        if !id.is_empty() {
            running.insert(id.to_owned(), call.clone());
        }
        Ok(Running { state: self.clone(), id: id.to_owned(), call })
    }

    /// Stops a query. One that has ended is not affected.
    pub fn cancel(&self, id: &str) {
        if let Some(call) = self.running.lock().get(id) {
            call.cancel();
        }
    }
}

/// A query that runs for a page.
pub struct Running {
    state: Arc<State>,
    id: String,
    /// Its handle.
    pub call: Call,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Also when the page has left: the server drops what it computed for it.
        self.call.cancel();
        if !self.id.is_empty() {
            self.state.running.lock().remove(&self.id);
        }
    }
}

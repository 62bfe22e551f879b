//! What the requests of a client share: the traces, the documents and the limits.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use super::OpenMore;
use crate::docs::Reference;
use crate::engine::{Engine, EngineOptions};
use crate::error::{Error, Result};
use crate::open::Location;
use crate::requests::{Call, Requests};

/// The traces that are open.
pub struct Open {
    pub engine: Arc<Engine>,
    /// Where the traces are: what the user named, and what clients opened since.
    locations: Vec<Location>,
}

impl Open {
    fn new(locations: Vec<Location>, options: &EngineOptions) -> Result<Arc<Self>> {
        let engine = match locations.as_slice() {
            [one] => one.engine(options)?,
            several => over(several, |_| true, options)?,
        };
        Ok(Arc::new(Self { engine: Arc::new(engine), locations }))
    }

    /// What opens a session over some of the traces with other options.
    pub fn locations(&self) -> Vec<Location> {
        self.locations.clone()
    }
}

/// Opens a session over the chosen traces of several locations.
pub fn over(
    locations: &[Location],
    is_chosen: impl Fn(&String) -> bool,
    options: &EngineOptions,
) -> Result<Engine> {
    let mut parts = Vec::with_capacity(locations.len());
    for location in locations {
        let mut traces = location.traces()?;
        traces.retain(&is_chosen);
        parts.push((location.store().clone(), traces));
    }
    let parts: Vec<_> =
        parts.iter().map(|(store, traces)| (store, Some(traces.as_slice()))).collect();
    Engine::open_together(&parts, options)
}

/// Whether there are traces to query.
#[derive(Clone)]
enum Traces {
    AreRead,
    Open(Arc<Open>),
    Failed(String),
}

pub struct Server {
    /// A session without traces, for documents.
    pub documents: Engine,
    /// The options with which sessions over traces are opened.
    pub options: EngineOptions,
    pub requests: Requests,
    pub open_more: Option<(PathBuf, Arc<OpenMore>)>,
    traces: watch::Sender<Traces>,
}

impl Server {
    pub fn new(
        documents: Engine,
        options: EngineOptions,
        requests: Requests,
        open_more: Option<(PathBuf, Arc<OpenMore>)>,
    ) -> Self {
        let (traces, _) = watch::channel(Traces::AreRead);
        Self { documents, options, requests, open_more, traces }
    }

    /// Opens the traces. Requests that wait for them go on, or fail with the same error.
    pub fn open(&self, open: Box<dyn FnOnce() -> Result<Location> + Send>) -> Result<()> {
        let opened = open().and_then(|location| Open::new(vec![location], &self.options));
        self.traces.send_replace(match &opened {
            Ok(open) => Traces::Open(open.clone()),
            Err(e) => Traces::Failed(e.to_string()),
        });
        opened.map(drop)
    }

    /// Adds traces to those that are open. Requests that run keep theirs.
    pub fn add(&self, open: &Open, more: Location) -> Result<Arc<Open>> {
        let mut locations = open.locations();
        locations.push(more);
        let open = Open::new(locations, &self.options)?;
        self.traces.send_replace(Traces::Open(open.clone()));
        Ok(open)
    }

    /// The traces, as soon as they are read.
    pub async fn traces(&self, call: &Call) -> Result<Arc<Open>> {
        let mut changes = self.traces.subscribe();
        let known = changes.wait_for(|traces| !matches!(traces, Traces::AreRead));
        let traces = tokio::select! {
            () = call.cancelled() => return Err(Error::Cancelled),
            known = known => known.map(|known| known.clone()),
        };
        match traces {
            Ok(Traces::Open(open)) => Ok(open),
            Ok(Traces::Failed(why)) => Err(Error::Query(why)),
            Ok(Traces::AreRead) | Err(_) => Err(Error::Query("no trace is open".to_owned())),
        }
    }

    /// Whether the traces are still read.
    pub fn are_read(&self) -> bool {
        matches!(*self.traces.borrow(), Traces::AreRead)
    }

    /// The documents of everything in a session.
    pub fn reference(&self) -> Reference {
        Reference::of(&self.documents)
    }
}

//! Locates the traces that a user named.

use super::named_traces;
use crate::engine::{Engine, EngineOptions};
use crate::error::Result;
use crate::store::TraceStore;

/// A store, and the selected traces in it.
#[derive(Debug, Clone)]
pub struct Location {
    store: TraceStore,
    /// The names of the traces. `None` stands for all traces that the store contains when it is
    /// opened.
    only: Option<Vec<String>>,
    is_in_cache: bool,
}

impl Location {
    /// Selects all traces of a store.
    pub fn of_store(store: impl Into<TraceStore>) -> Self {
        Self { store: store.into(), only: None, is_in_cache: false }
    }

    /// Selects traces in the cache.
    pub(super) fn in_cache(store: impl Into<TraceStore>, traces: Vec<String>) -> Self {
        Self { store: store.into(), only: Some(traces), is_in_cache: true }
    }

    /// The same store with other selected traces.
    pub fn with_only(self, traces: Vec<String>) -> Self {
        Self { only: Some(traces), ..self }
    }

    /// Selects those traces that a user named, or all if there are no names. [`super::named_trace`]
    /// states which names a trace has.
    pub fn choose(self, names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Ok(self);
        }
        let mut readable = self.store.readable()?;
        if let Some(only) = &self.only {
            readable.traces.retain(|t| only.contains(&t.trace_id));
        }
        let chosen = readable.or_damage(|all| named_traces(names, all))?;
        Ok(self.with_only(chosen))
    }

    /// The store that contains the traces.
    pub fn store(&self) -> &TraceStore {
        &self.store
    }

    /// Whether the traces are in the cache and not in a store of their own.
    pub fn is_in_cache(&self) -> bool {
        self.is_in_cache
    }

    /// The names of the traces.
    pub fn traces(&self) -> Result<Vec<String>> {
        match &self.only {
            Some(traces) => Ok(traces.clone()),
            None => Ok(self.store.traces()?.into_iter().map(|t| t.trace_id).collect()),
        }
    }

    /// Opens a session over the traces.
    pub fn engine(&self, options: &EngineOptions) -> Result<Engine> {
        Engine::open(&self.store, self.only.as_deref(), options)
    }
}

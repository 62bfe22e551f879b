//! Where the traces are stored that a user named.

use tracesql_ingest::Store;

use crate::engine::{Engine, EngineOptions};
use crate::error::Result;

/// A store on disk and which of its traces are meant.
#[derive(Debug, Clone)]
pub struct Location {
    store: Store,
    /// Names of the traces; `None` for all that the store holds when it is opened.
    only: Option<Vec<String>>,
    is_in_cache: bool,
}

impl Location {
    /// All traces of a store.
    pub fn of_store(store: Store) -> Self {
        Self { store, only: None, is_in_cache: false }
    }

    /// Traces that the cache holds.
    pub(super) fn in_cache(store: Store, traces: Vec<String>) -> Self {
        Self { store, only: Some(traces), is_in_cache: true }
    }

    /// Some of the traces.
    pub fn with_only(self, traces: Vec<String>) -> Self {
        Self { only: Some(traces), ..self }
    }

    /// The store that holds them.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the traces were opened without a store of their own.
    pub fn is_in_cache(&self) -> bool {
        self.is_in_cache
    }

    /// Names of the traces.
    pub fn traces(&self) -> Result<Vec<String>> {
        match &self.only {
            Some(traces) => Ok(traces.clone()),
            None => Ok(self.store.traces()?.into_iter().map(|t| t.trace_id).collect()),
        }
    }

    /// A session over the traces.
    pub fn engine(&self, options: &EngineOptions) -> Result<Engine> {
        Engine::open(&self.store, self.only.as_deref(), options)
    }
}

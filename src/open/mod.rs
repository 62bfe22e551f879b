//! Opening stores, and traces by way of the cache: what the command line and the Python package
//! share.
//!
//! Nothing is said here. Whoever opens things hands in a [`Reader`], which reads inputs and is told
//! what went wrong.

mod cache;
mod inputs;

use std::path::Path;

use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Store};

pub use cache::{Cache, folder};
pub use inputs::{all, inputs, oddities};

use crate::engine::{Engine, EngineOptions};
use crate::error::{Error, Result};

/// Reads inputs for somebody, and says what has to be said.
pub trait Reader {
    /// Reads one input into a store.
    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome>;
    /// A file that lay beside traces is no trace.
    fn left_out(&self, why: &IngestError);
    /// One of several inputs could not be read.
    fn failed(&self, why: &Error);
}

/// Where the traces are that names stand for.
pub enum Found {
    /// In a store: all of its traces.
    Store(Store),
    /// In the cache: those with these names.
    Cached(Cache, Vec<String>),
}

impl Found {
    /// A session over the traces.
    pub fn engine(&self, options: &EngineOptions) -> Result<Engine> {
        match self {
            Self::Store(store) => Engine::open(store, None, options),
            Self::Cached(cache, traces) => Engine::open(cache.store(), Some(traces), options),
        }
    }
}

/// Finds one store, or reads traces that the cache does not hold.
pub fn find(names: &[String], options: &IngestOptions, reader: &dyn Reader) -> Result<Found> {
    let stores = names.iter().filter(|i| Store::is_store(Path::new(i))).count();
    if stores > 0 && names.len() > 1 {
        return Err(Error::Usage("open either one store, or traces".into()));
    }
    if stores == 1 && options.strict {
        return Err(Error::Usage("--strict is for traces; a store was read already".into()));
    }
    if stores == 1 {
        return Ok(Found::Store(Store::open(Path::new(&names[0]))?));
    }
    let cache = Cache::open()?;
    let traces = all(inputs(names), names, reader, |input| cache.trace(input, options, reader))?;
    Ok(Found::Cached(cache, traces))
}

//! Stores that the engine can read: folders on this machine, and stores elsewhere.
//!
//! This crate reads folders. A program that can reach other places registers an [`Opener`] for
//! their URLs; `tracesql-full` does so for object storage.

mod remote;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracesql_ingest::{Examined, Manifest, Store, examine};
use url::Url;

use crate::error::Result;
pub use remote::{
    FAILURE, Kind, Opener, Readable, RemoteStore, failure, has_opener, is_remote, open_remote,
    register, remote_kind,
};

/// A store, wherever it is.
#[derive(Debug, Clone)]
pub enum TraceStore {
    /// A folder on this machine.
    Folder(Store),
    /// A store that is reached by a URL.
    Remote(Arc<dyn RemoteStore>),
}

/// The place of a trace's Parquet files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceFiles {
    /// A folder on this machine.
    Folder(PathBuf),
    /// The URL of a folder, with a slash at its end. [`RemoteStore::objects`] reads it.
    Url(Url),
}

impl TraceStore {
    /// The traces, in the order of their names. Fails if a manifest cannot be read.
    pub fn traces(&self) -> Result<Vec<Manifest>> {
        match self {
            Self::Folder(store) => Ok(store.traces()?),
            Self::Remote(store) => store.traces(),
        }
    }

    /// The traces whose manifests can be read. Fails for a folder if a manifest cannot be read.
    pub fn readable(&self) -> Result<Readable> {
        match self {
            Self::Folder(store) => Ok(Readable { traces: store.traces()?, damage: None }),
            Self::Remote(store) => store.readable(),
        }
    }

    /// The files of a trace.
    pub fn files(&self, trace_id: &str) -> Result<TraceFiles> {
        match self {
            Self::Folder(store) => Ok(TraceFiles::Folder(store.trace_folder(trace_id))),
            Self::Remote(store) => store.files(trace_id).map(TraceFiles::Url),
        }
    }

    /// The name of the store as the user knows it: a path or a URL.
    pub fn name(&self) -> String {
        match self {
            Self::Folder(store) => store.root().display().to_string(),
            Self::Remote(store) => store.name().to_owned(),
        }
    }

    /// Removes a trace. Fails if the store does not contain it or cannot be written.
    pub fn remove(&self, trace_id: &str) -> Result<()> {
        match self {
            Self::Folder(store) => Ok(store.remove(trace_id)?),
            Self::Remote(store) => store.remove(trace_id),
        }
    }

    /// Reads the whole store and reports what is damaged.
    pub fn examine(&self) -> Result<Examined> {
        match self {
            Self::Folder(store) => Ok(examine(store.root())?),
            Self::Remote(store) => store.examine(),
        }
    }

    /// The folder of a store on this machine.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(store) => Some(store.root()),
            Self::Remote(_) => None,
        }
    }
}

impl From<Store> for TraceStore {
    fn from(store: Store) -> Self {
        Self::Folder(store)
    }
}

impl From<&Store> for TraceStore {
    fn from(store: &Store) -> Self {
        Self::Folder(store.clone())
    }
}

impl From<&TraceStore> for TraceStore {
    fn from(store: &TraceStore) -> Self {
        store.clone()
    }
}

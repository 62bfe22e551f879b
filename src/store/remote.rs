//! The interface to stores that are not folders on this machine, and the registry of their URLs.

use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use datafusion::object_store::{Error as ObjectStoreError, ObjectStore};
use tracesql_ingest::{Examined, Manifest};
use url::Url;

use crate::error::{Error, Result};

/// A store that is reached by a URL. The methods wait for the network; they may be called inside
/// and outside an asynchronous runtime.
pub trait RemoteStore: Debug + Send + Sync {
    /// The URL as the user wrote it, without credentials.
    fn name(&self) -> &str;

    /// The traces, in the order of their names, as they are now. Fails if a manifest is damaged.
    fn traces(&self) -> Result<Vec<Manifest>>;

    /// The traces whose manifests can be read, in the order of their names.
    fn readable(&self) -> Result<Readable>;

    /// The URL of the folder with a trace's Parquet files, with a slash at its end.
    fn files(&self, trace_id: &str) -> Result<Url>;

    /// What reads these files, and the URL under which a session registers it. No two stores share
    /// that URL.
    fn objects(&self) -> (Url, Arc<dyn ObjectStore>);

    /// The trace with this content hash, if the store contains it in this schema version.
    fn find(&self, content_hash: &str) -> Result<Option<Manifest>>;

    /// Stores the files in a folder as a trace, unless the store contains these bytes already and
    /// `replace` is not set. Returns the manifest of the trace that the store contains then, and
    /// whether it was there before.
    fn publish(
        &self,
        folder: &Path,
        manifest: &Manifest,
        replace: bool,
    ) -> Result<(Manifest, bool)>;

    /// Removes the trace with this id or content hash. The hash also removes a trace whose manifest
    /// is damaged. Fails if the store does not contain it or cannot be written.
    fn remove(&self, trace_id: &str) -> Result<()>;

    /// Reads the whole store and reports what is damaged.
    fn examine(&self) -> Result<Examined>;
}

/// The traces of a store whose manifests can be read.
#[derive(Debug)]
pub struct Readable {
    /// The traces, in the order of their names.
    pub traces: Vec<Manifest>,
    /// The error about the other manifests. `None` if all can be read.
    pub damage: Option<Error>,
}

impl Readable {
    /// Looks for traces. If they are not found, a damaged manifest may be theirs, so that the error
    /// is about it.
    pub fn or_damage<T>(self, find: impl FnOnce(&[Manifest]) -> Result<T>) -> Result<T> {
        find(&self.traces).map_err(|e| self.damage.unwrap_or(e))
    }
}

/// What a URL names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A store.
    Store,
    /// Something else, such as a trace to read or nothing yet.
    Other,
}

/// Opens stores by their URLs.
pub trait Opener: Debug + Send + Sync {
    /// Whether this opener is for a name. Nothing is read for this.
    fn takes(&self, name: &str) -> bool;

    /// Looks at what a URL names.
    fn kind(&self, name: &str) -> Result<Kind>;

    /// Opens a store. With `create` it is made if it does not exist.
    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn RemoteStore>>;
}

/// What [`ObjectStoreError::Generic`] names as its store if its source is a text for the user.
pub const FAILURE: &str = "tracesql";

/// The text for the user, if the cause of an error is a store elsewhere that could not be read.
pub fn failure(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.find_map(|cause| match cause.downcast_ref::<ObjectStoreError>() {
        Some(ObjectStoreError::Generic { store: FAILURE, source }) => Some(source.to_string()),
        _ => None,
    })
}

static OPENER: OnceLock<Arc<dyn Opener>> = OnceLock::new();

/// Sets what opens the URLs of this process. The first call decides.
pub fn register(opener: Arc<dyn Opener>) {
    let _ = OPENER.set(opener);
}

fn opener(name: &str) -> Option<&'static Arc<dyn Opener>> {
    OPENER.get().filter(|opener| opener.takes(name))
}

/// Whether this program opens stores by URLs.
pub fn has_opener() -> bool {
    OPENER.get().is_some()
}

/// Whether this program can open a name as a URL.
pub fn is_remote(name: &str) -> bool {
    opener(name).is_some()
}

/// What a name stands for; `None` if it is not a URL that this program can open.
pub fn remote_kind(name: &str) -> Result<Option<Kind>> {
    opener(name).map(|opener| opener.kind(name)).transpose()
}

/// Opens the store with a URL. Fails if this program cannot open such a URL.
pub fn open_remote(name: &str, create: bool) -> Result<Arc<dyn RemoteStore>> {
    match opener(name) {
        Some(opener) => opener.open(name, create),
        None => Err(Error::Usage(format!("{name}: this program cannot open URLs of this kind"))),
    }
}

//! Inputs that are reached by a URL, and the registry of what reads them.

use std::fmt::Debug;
use std::fs::File;
use std::sync::{Arc, OnceLock};

use tracesql_ingest::IngestError;

use crate::error::{Error, Result};

/// An input that is reached by a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteInput {
    /// Its URL, without credentials.
    pub url: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its version, if the server reports one. Other bytes have another version.
    pub etag: Option<String>,
}

/// Finds inputs by their URLs and reads them. The methods wait for the network.
pub trait InputSource: Debug + Send + Sync {
    /// Whether this source is for a name. Nothing is read for this.
    fn takes(&self, name: &str) -> bool;

    /// The inputs that a URL stands for, in the order of their URLs: one object, all traces in a
    /// folder, or all objects that match a pattern. Fails if there are none.
    fn find(&self, name: &str) -> Result<Vec<RemoteInput>>;

    /// Writes the bytes of an input to a file. Fails if the input is no longer the same.
    fn fetch(&self, input: &RemoteInput, file: &mut File) -> Result<()>;
}

static SOURCE: OnceLock<Arc<dyn InputSource>> = OnceLock::new();

/// Sets what reads inputs by their URLs in this process. The first call decides.
pub fn register_inputs(source: Arc<dyn InputSource>) {
    let _ = SOURCE.set(source);
}

/// The source for a name; `None` if this program cannot read inputs with such a name from
/// elsewhere.
pub(super) fn source(name: &str) -> Option<&'static Arc<dyn InputSource>> {
    SOURCE.get().filter(|source| source.takes(name))
}

/// Copies an input to an unnamed file in the folder for temporary files. The file goes away with
/// the process, however it ends.
pub(super) fn copy(input: &RemoteInput) -> Result<File> {
    let folder = std::env::temp_dir();
    let mut file = tempfile::tempfile_in(&folder).map_err(|e| IngestError::io(&folder, e))?;
    let source = source(&input.url).ok_or_else(|| {
        Error::Usage(format!("{}: this program cannot read URLs of this kind", input.url))
    })?;
    source.fetch(input, &mut file)?;
    Ok(file)
}

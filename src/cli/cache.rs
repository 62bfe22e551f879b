//! The cache as commands use it: what is read for it is shown as `tracesql ingest` shows it.

use tracesql_ingest::{Input, Store};

use super::args::Global;
use super::ingest::Terminal;
use crate::error::Result;
use crate::open;
pub use open::folder;

/// The cache of this user.
pub struct Cache(open::Cache);

impl Cache {
    /// Opens the cache, or makes it.
    pub fn open() -> Result<Self> {
        open::Cache::open().map(Self)
    }

    /// The store of the cache.
    pub fn store(&self) -> &Store {
        self.0.store()
    }

    /// The name of an input's trace, which is read if the cache does not hold it.
    pub fn trace(&self, input: &Input, strict: bool, global: &Global) -> Result<String> {
        self.0.trace(
            input,
            &global.ingest_options(strict, false),
            &Terminal { quiet: global.quiet },
        )
    }
}

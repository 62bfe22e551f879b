//! `tracesql mcp`: the protocol, the tools, their bounds, and clients of others.

mod answers;
mod assistants;
mod client;
mod clients_of_others;
mod limits;
mod protocol;

use client::Client;

use crate::support::{TestStore, fixture};

/// A store with the two ranks of the synthetic job, and its path.
fn store() -> (TestStore, String) {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    store.ingest(&fixture("synthetic_gpu_rank1.json.gz")).expect("the trace is read");
    let path = store.store.root().display().to_string();
    (store, path)
}

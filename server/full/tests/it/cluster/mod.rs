//! Queries on a cluster of processes on this machine: the rows are those of one process, whatever
//! happens to executors.

mod cancel;
#[expect(clippy::module_inception, reason = "it is the cluster that tests use")]
mod cluster;
mod commands;
mod faults;
mod refusals;
mod same_rows;

use std::path::Path;
use std::sync::Arc;

use tracesql::engine::{Engine, EngineOptions};
use tracesql_ingest::{IngestOptions, Input, Progress, Store, ingest};

use crate::support::{fixture, small_trace};

pub use cluster::{Cluster, Options, session};

/// Two ranks of a job and a trace without a rank.
const THREE: [&str; 3] =
    ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz", "resnet_cpu.pt.trace.json.gz"];

/// Ranks of two jobs, traces without a rank, and a recording of MLLM.
const EIGHT: [&str; 8] = [
    "ddp_rank0.pt.trace.json.gz",
    "ddp_rank1.pt.trace.json.gz",
    "bottlenecks/skewed/skewed_rank0.json.gz",
    "bottlenecks/skewed/skewed_rank1.json.gz",
    "bottlenecks/slow_steps.json.gz",
    "kernels/own_kernels.json.gz",
    "old_kineto.json.gz",
    "perf.json",
];

/// A store of fixtures in a folder.
fn store_of(folder: &Path, names: &[&str]) -> Store {
    let store = Store::open_or_create(&folder.join("store")).expect("a store");
    for name in names {
        ingest_into(&store, &fixture(name));
    }
    store
}

/// A store of small ranks of a job in a folder.
fn store_of_ranks(folder: &Path, ranks: usize) -> Store {
    let store = Store::open_or_create(&folder.join("store")).expect("a store");
    for rank in 0..ranks {
        let path = folder.join(format!("rank{rank}.json"));
        std::fs::write(&path, small_trace(rank, 30)).expect("a trace");
        ingest_into(&store, &path);
    }
    store
}

fn ingest_into(store: &Store, path: &Path) {
    let input = Input::File(path.to_owned());
    ingest(&input, store, &IngestOptions::default(), &Progress::default())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// A session over a store that computes on a cluster, or on this machine.
fn engine(store: &Store, cluster: Option<&Cluster>) -> Engine {
    let cluster = cluster.map(|c| {
        Arc::new(tracesql_cluster::Cluster::new(&c.address, None))
            as Arc<dyn tracesql::engine::Cluster>
    });
    let options = EngineOptions { cluster, ..EngineOptions::default() };
    Engine::open(store, None, &options).expect("the store opens")
}

/// A path as an argument.
fn text(path: &Path) -> &str {
    path.to_str().expect("a text")
}

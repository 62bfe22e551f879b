//! Stacks for other tools: profiles that the real pprof can read, folded stacks, flame graphs, and
//! speedscope profiles.

mod drawing;
mod names;
mod notes;
mod oracle;
mod pprof;
mod texts;
mod tools;

use std::path::Path;

use tracesql::engine::{Engine, EngineOptions};
use tracesql::stacks::{Request, Samples, collect};
use tracesql_ingest::Store;

use crate::support::{texts, tracesql};

/// The samples of a store.
fn samples(store: &Store, request: &Request) -> Samples {
    let engine = Engine::open(store, None, &EngineOptions::default()).expect("the store opens");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(collect(&engine, None, request)).expect("samples")
}

/// The bytes that the program writes to a file. It must succeed.
fn written(args: &[&str], file: &Path) -> Vec<u8> {
    let out = tracesql(&[args, &["-q", "-o", &file.to_string_lossy()]].concat());
    assert!(out.status.success(), "{args:?}: {}", texts(&out).1);
    std::fs::read(file).expect("the file is there")
}

//! Stacks for other tools: profiles that the real pprof reads, folded stacks, flame graphs,
//! speedscope.

mod oracle;
mod pprof;
mod texts;
mod tools;

use std::path::{Path, PathBuf};

use tracesql::engine::{Engine, EngineOptions};
use tracesql::stacks::{Request, Samples, collect};
use tracesql_ingest::Store;

use crate::support::{texts, tracesql};

/// Samples of a store.
fn samples(store: &Store, request: &Request) -> Samples {
    let engine = Engine::open(store, None, &EngineOptions::default()).expect("the store opens");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(collect(&engine, None, request)).expect("samples")
}

/// What the program writes to a file, which it must write without an error.
fn written(args: &[&str], file: &Path) -> Vec<u8> {
    let out = tracesql(&[args, &["-q", "-o", &file.to_string_lossy()]].concat());
    assert!(out.status.success(), "{args:?}: {}", texts(&out).1);
    std::fs::read(file).expect("the file is there")
}

/// Go, for its `go tool pprof`: `TRACESQL_TEST_GO`, one beside the Python of the tests, or one on
/// the path.
fn go() -> Option<PathBuf> {
    let beside = std::env::var_os("TRACESQL_TEST_PYTHON")
        .and_then(|p| Some(Path::new(&p).parent()?.join("go")));
    let on_path = std::env::var_os("PATH")
        .map(|p| std::env::split_paths(&p).map(|d| d.join("go")).collect::<Vec<_>>())
        .unwrap_or_default();
    let named = std::env::var_os("TRACESQL_TEST_GO").map(PathBuf::from);
    named.into_iter().chain(beside).chain(on_path).find(|p| p.is_file())
}

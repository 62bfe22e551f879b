//! Relations that are given to a session replace tables and views.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use tracesql::engine::{Engine, EngineOptions};

use super::rows::batches_of;
use crate::support::{TestStore, fixture, rows_of};

/// The rows of a query as a table.
fn table(engine: &Engine, sql: &str) -> Arc<dyn TableProvider> {
    let (schema, batches) = batches_of(engine, sql);
    Arc::new(MemTable::try_new(schema, vec![batches]).expect("a table"))
}

fn with(
    store: &TestStore,
    name: &str,
    rows: Arc<dyn TableProvider>,
) -> Result<Engine, tracesql::Error> {
    let relations = vec![(name.to_owned(), rows)];
    Engine::open(&store.store, None, &EngineOptions { relations, ..EngineOptions::default() })
}

#[test]
fn views_read_the_given_rows_instead_of_a_view_or_a_table() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let plain = store.engine();
    let ranks = table(&plain, "SELECT * REPLACE ('given' AS job) FROM job_ranks");
    let engine = with(&store, "job_ranks", ranks).expect("a session");
    let jobs = rows_of(&engine, "SELECT DISTINCT job FROM collectives").expect("rows");
    assert_eq!(jobs, [["given"]]);
    let name = "SELECT DISTINCT name FROM kernel_names";
    let kernels = table(&plain, "SELECT * REPLACE ('gemm' AS name) FROM kernels");
    let engine = with(&store, "kernels", kernels).expect("a session");
    assert_eq!(rows_of(&engine, name).expect("rows"), [["gemm"]]);
    assert_eq!(rows_of(&engine, "SELECT count(*) FROM traces").expect("rows"), [["1"]]);
}

#[test]
fn a_given_relation_has_the_columns_of_the_one_that_it_replaces() {
    let store = TestStore::new();
    let plain = store.engine();
    let error = |name: &str, sql: &str| {
        with(&store, name, table(&plain, sql)).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(error("job_ranks", "SELECT * FROM job_ranks"), "");
    assert_eq!(error("no_such", "SELECT 1"), "relation no_such: no table or view has this name");
    for sql in [
        "SELECT trace_id, path FROM compare_sides",
        "SELECT * REPLACE (1 AS path) FROM compare_sides",
        "SELECT trace_id, side, run, rank, path FROM compare_sides",
    ] {
        assert_eq!(
            error("compare_sides", sql),
            "relation compare_sides: its columns must be those of the reference, in order: \
             trace_id, side, rank, run, path",
            "{sql}"
        );
    }
}

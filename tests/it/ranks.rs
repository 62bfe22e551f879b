//! Ranks of a job: a rank without the others, and traces that are not in a separate folder.

use std::path::Path;

use tempfile::TempDir;

use crate::support::{TestStore, fixture, texts, tracesql_in};

#[test]
fn a_rank_alone_is_not_all_waiting() {
    let store = TestStore::new();
    store.ingest(&fixture("ddp_rank0.pt.trace.json.gz")).expect("it is read");
    assert_eq!(
        store.value(
            "SELECT count(*) FROM communication_wait \
            WHERE communication_ns > 0 AND (transfer_ns IS NOT NULL OR wait_ns IS NOT NULL)"
        ),
        "0"
    );
    assert_eq!(
        store.value(
            "SELECT count(*) FROM collective_operators \
        WHERE transfer_ns IS NOT NULL OR mean_transfer_ns IS NOT NULL"
        ),
        "0"
    );
    assert!(store.ints("SELECT count(*) FROM communication_wait")[0] > 0);
}

#[test]
fn files_without_a_folder_are_of_one_job() {
    let folder = TempDir::new().expect("a folder");
    let names = ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];
    for name in names {
        std::fs::copy(fixture(name), folder.path().join(name)).expect("a copy");
    }
    let run = |inputs: [&str; 2], sql: &str| {
        let cache = folder.path().join(format!("cache-{}", inputs[0].replace('/', "_")));
        let out = tracesql_in(
            folder.path(),
            &["-q", inputs[0], inputs[1], "--format", "csv", "-c", sql],
            &[("TRACESQL_CACHE", Path::new(&cache))],
        );
        texts(&out).0
    };
    let sql = "SELECT count(DISTINCT job), min(ranks), (SELECT sum(wait_ns) \
        FROM stragglers) AS wait_ns FROM job_ranks";
    let bare = run(names, sql);
    assert!(bare.ends_with("1,2,5488907\n"), "{bare}");
    assert_eq!(bare, run(["./synthetic_gpu_rank0.json.gz", "./synthetic_gpu_rank1.json.gz"], sql));
}

//! What a cluster refuses.

use std::time::Duration;

use super::{Cluster, Options, session, store_of_ranks, text};
use crate::support::{Child, Finished, Program, free_port, moto};

const LIMIT: Duration = Duration::from_secs(60);

/// Another version, for tests.
const VERSION: &str = "TRACESQL_TEST_CLUSTER_VERSION";

#[test]
fn processes_of_another_version_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 1);
    let cluster = Cluster::of(1);
    let other = "this process is tracesql-full 9.9.9, the scheduler is ";
    let arguments = ["query", text(store.root()), "-c", "SELECT * FROM findings"];
    let error = cluster.call(&arguments).env(VERSION, "9.9.9").run().failure(4);
    assert!(error.contains(other), "{error}");
    let work_dir = folder.path().join("work");
    let arguments =
        ["cluster", "executor", "--scheduler", &cluster.address, "--work-dir", text(&work_dir)];
    let executor = Program::new(folder.path()).args(arguments).env(VERSION, "9.9.9");
    let error = executor.run_within(LIMIT).failure(4);
    assert!(error.contains(other), "{error}");
    // Other programs.
    for agent in [None, Some("curl/8.0")] {
        let answer = session(&cluster.address, agent);
        assert!(answer.contains(" 412 ") && answer.contains("serves processes of"), "{answer}");
    }
}

#[test]
fn addresses_of_the_network_need_a_word_of_trust() {
    let folder = tempfile::tempdir().expect("a folder");
    let call = |arguments: &[&str]| Program::new(folder.path()).args(arguments).run().failure(2);
    let error = call(&["cluster", "scheduler", "--listen", "0.0.0.0:0"]);
    assert!(error.contains("--trust-network"), "{error}");
    let work_dir = folder.path().join("work");
    let executor = ["cluster", "executor", "--work-dir", text(&work_dir), "--listen", "0.0.0.0"];
    let error = call(&executor);
    assert!(error.contains("--trust-network"), "{error}");
    let error = call(&[&executor[..], &["--trust-network"]].concat());
    assert!(error.contains("give --host NAME too"), "{error}");
}

#[test]
fn an_executor_without_a_scheduler_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let work_dir = folder.path().join("work");
    let scheduler = format!("127.0.0.1:{}", free_port());
    let arguments =
        ["cluster", "executor", "--scheduler", &scheduler, "--work-dir", text(&work_dir)];
    let error = Program::new(folder.path()).args(arguments).run_within(LIMIT).failure(4);
    assert!(error.contains(&scheduler), "{error}");
}

#[test]
fn an_executor_that_cannot_reach_the_store_is_reported() {
    let Some(bucket) = moto::bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 2);
    let url = bucket.url("run");
    let copy = ["copy", text(store.root()), &url];
    Program::new(folder.path()).envs(bucket.environment()).args(copy).run().success();
    let mut variables = bucket.environment();
    for (name, value) in &mut variables {
        if name == "AWS_ENDPOINT" {
            *value = format!("http://127.0.0.1:{}", free_port());
        }
    }
    let cluster = Cluster::with(1, &Options { variables, ..Options::default() });
    let sql = "SELECT count(*) FROM events WHERE name = 'aten::mm'";
    let program = cluster.call(&["query", &url, "-c", sql]).envs(bucket.environment());
    let mut child: Child = program.start();
    let error = Finished::of(&mut child, LIMIT).failure(4);
    assert!(error.contains("s3://") && error.contains("cannot be reached"), "{error}");
}

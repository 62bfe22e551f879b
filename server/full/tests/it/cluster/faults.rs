//! Executors, schedulers and traces that fail while a query runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Cluster, Options, store_of_ranks, text};
use crate::support::{Child, Finished, Program};

/// A query that needs all traces.
const SQL: &str = "SELECT * FROM operators ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10";

/// The time in which a lost cluster must be reported.
const REPORT: Duration = Duration::from_secs(30);

const LIMIT: Duration = Duration::from_secs(60);

const VARIABLE: &str = "TRACESQL_TEST_CLUSTER_FAULTS";

fn faults(text: &str) -> Options<'static> {
    Options { variables: vec![(VARIABLE.to_owned(), text.to_owned())], ..Options::default() }
}

fn query(cluster: &Cluster, store: &str, sql: &str) -> Program {
    cluster.call(&["query", store, "--format", "csv", "-c", sql])
}

/// Starts the query and waits until the first executor has computed one trace and begun another.
fn in_the_middle(cluster: &Cluster, store: &str) -> Child {
    let child = query(cluster, store, SQL).start();
    cluster.executors[0].wait_for_line("done after", LIMIT);
    cluster.executors[0].wait_for_line("queries start", LIMIT);
    child
}

#[test]
fn another_executor_takes_the_traces_of_a_killed_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 6);
    let store = text(store.root());
    let arguments = ["query", store, "--format", "csv", "-c", SQL];
    let expected = Program::new(folder.path()).args(arguments).run().success();
    let mut cluster = Cluster::with(2, &faults("wait:700"));
    let mut child = in_the_middle(&cluster, store);
    cluster.executors[0].child.kill();
    assert_eq!(Finished::of(&mut child, LIMIT).success(), expected);
    // An executor that comes back at the same address and in its folder has nothing of the past.
    cluster.restart(0);
    cluster.wait_for(2);
    let mut child = in_the_middle(&cluster, store);
    cluster.restart(0);
    assert_eq!(Finished::of(&mut child, LIMIT).success(), expected);
}

#[test]
fn rows_that_are_lost_before_they_are_read_are_computed_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 2);
    let store = text(store.root());
    let arguments = ["query", store, "--format", "csv", "-c", SQL];
    let expected = Program::new(folder.path()).args(arguments).run().success();
    let mut cluster = Cluster::of(2);
    let mut child = query(&cluster, store, SQL).env(VARIABLE, "hold:2000").start();
    cluster.executors[0].wait_for_line("done after", LIMIT);
    cluster.executors[0].child.kill();
    assert_eq!(Finished::of(&mut child, LIMIT).success(), expected);
    let lines = cluster.executors[1].lines();
    let started = lines.iter().filter(|line| line.contains("queries start")).count();
    assert_eq!(started, 2, "its own trace and the lost one: {lines:?}");
}

#[test]
fn a_cluster_without_executors_or_scheduler_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 4);
    let store = text(store.root());
    let mut cluster = Cluster::with(2, &faults("wait:20000"));
    let mut child = query(&cluster, store, SQL).start();
    cluster.executors[0].wait_for_line("queries start", LIMIT);
    for executor in &mut cluster.executors {
        executor.child.kill();
    }
    let start = Instant::now();
    let error = Finished::of(&mut child, REPORT).failure(4);
    assert!(error.contains("executors") && error.contains(&cluster.address), "{error}");
    assert!(start.elapsed() < REPORT);
    // No executor is left.
    let error = query(&cluster, store, SQL).run_within(REPORT).failure(4);
    let advice =
        format!("start some with `tracesql-full cluster executor --scheduler {}", cluster.address);
    assert!(error.contains(&advice), "{error}");
    // The scheduler ends.
    cluster.add(&faults("wait:20000"));
    cluster.wait_for(1);
    let mut child = query(&cluster, store, SQL).start();
    cluster.executors[2].wait_for_line("queries start", LIMIT);
    cluster.scheduler.kill();
    let error = Finished::of(&mut child, REPORT).failure(4);
    assert!(error.contains(&format!("the scheduler {} is gone", cluster.address)), "{error}");
    let error = query(&cluster, store, SQL).run_within(REPORT).failure(4);
    assert!(
        error.contains(&format!("the scheduler {} cannot be reached", cluster.address)),
        "{error}"
    );
}

#[test]
fn a_trace_that_ends_executors_is_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 3);
    let bad = store.traces().expect("traces")[1].trace_id.clone();
    let store = text(store.root());
    let mut cluster = Cluster::with(2, &faults(&format!("abort:{bad}")));
    let address = cluster.address.clone();
    let mut child = query(&cluster, store, "SELECT * FROM operators").start();
    // A supervisor starts executors again.
    let is_over = AtomicBool::new(false);
    let (finished, others) = std::thread::scope(|scope| {
        let supervisor = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for number in 0..2 {
                    if !cluster.executors[number].child.is_running() {
                        cluster.restart(number);
                    }
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let finished = Finished::of(&mut child, Duration::from_secs(120));
        let sql = format!("SELECT DISTINCT trace_id FROM operators WHERE trace_id <> '{bad}'");
        let others = Program::new(folder.path())
            .args(["query", store, "--cluster", &address, "--format", "csv", "-c", &sql])
            .run();
        is_over.store(true, Ordering::Relaxed);
        supervisor.join().expect("no panic");
        (finished, others)
    });
    let error = finished.failure(4);
    assert!(error.contains(&format!("trace {bad}: the executor ended 3 times")), "{error}");
    assert_eq!(others.success().lines().count(), 3, "a heading and two traces");
}

#[test]
fn a_task_that_needs_too_much_memory_ends_with_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rank0.json");
    std::fs::write(&path, crate::support::small_trace(0, 20_000)).expect("a trace");
    let store = super::store_of_ranks(folder.path(), 0);
    super::ingest_into(&store, &path);
    let store = text(store.root());
    let options = Options { options: &["--memory", "64MiB"], ..Options::default() };
    let mut cluster = Cluster::with(1, &options);
    let sql = "SELECT * FROM events ORDER BY args, name, ts_ns DESC";
    let error = query(&cluster, store, sql).run().failure(4);
    let advice = "--memory 64MiB and --slots 1: start executors with more memory or fewer slots";
    assert!(error.contains(advice), "{error}");
    assert!(cluster.executors[0].child.is_running());
}

#[test]
fn a_trace_that_takes_too_long_ends_with_the_option() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 1);
    let options = Options {
        options: &["--task-timeout", "1"],
        variables: vec![(VARIABLE.to_owned(), "wait:20000".to_owned())],
    };
    let cluster = Cluster::with(1, &options);
    let error = query(&cluster, text(store.root()), SQL).run_within(REPORT).failure(4);
    assert!(error.contains("it took longer than 1 s, which is what --task-timeout"), "{error}");
}

#[test]
fn a_trace_that_is_removed_or_damaged_while_a_query_runs_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 2);
    let traces = store.traces().expect("traces");
    let (removed, damaged) = (&traces[0].trace_id, &traces[1].trace_id);
    let cluster = Cluster::with(1, &faults("wait:1500"));
    let start = |id: &str| {
        let sql = format!("SELECT * FROM events WHERE trace_id = '{id}'");
        let child = query(&cluster, text(store.root()), &sql).start();
        cluster.executors[0].wait_for_line("queries start", LIMIT);
        child
    };
    let mut child = start(removed);
    store.remove(removed).expect("it is removed");
    let error = Finished::of(&mut child, LIMIT).failure(4);
    assert!(
        error.contains(removed.as_str()) && error.contains("cannot find the folder"),
        "{error}"
    );
    let mut child = start(damaged);
    let file = store.trace_folder(damaged).join("events.parquet");
    let bytes = std::fs::read(&file).expect("a file");
    std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("a file");
    let error = Finished::of(&mut child, LIMIT).failure(4);
    let is_named = error.contains(damaged.as_str()) && error.contains("events.parquet");
    assert!(is_named, "{error}");
}

#[test]
fn a_removed_trace_is_missed_by_a_session_that_is_still_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 1);
    let removed = store.traces().expect("traces")[0].trace_id.clone();
    let cluster = Cluster::with(1, &faults("wait:1500"));
    let sql = "SELECT count(*) FROM events WHERE name <> ''";
    let start = || query(&cluster, text(store.root()), sql).start();
    Finished::of(&mut start(), LIMIT).success();
    cluster.executors[0].wait_for_line("queries start", LIMIT);
    let mut child = start();
    cluster.executors[0].wait_for_line("queries start", LIMIT);
    store.remove(&removed).expect("it is removed");
    let error = Finished::of(&mut child, LIMIT).failure(4);
    assert!(error.contains("cannot find the folder"), "{error}");
}

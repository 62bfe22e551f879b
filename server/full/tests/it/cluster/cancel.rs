//! Queries that are cancelled stop on the executors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use tracesql::engine::{Engine, EngineOptions};

use super::{Cluster, store_of_ranks, text};
use crate::support::{Child, Finished};

/// The time in which executors must stop. On an idle machine it takes a tenth of a second.
const STOP: Duration = Duration::from_secs(3);

const LIMIT: Duration = Duration::from_secs(60);

/// A view of single traces that computes for hours.
const ENDLESS: &str = "-- Endless.\n--\n-- @scope trace\n\
    -- @column trace_id VARCHAR text The trace.\n-- @column n BIGINT count Pairs.\n\
    SELECT a.trace_id, count(*) AS n FROM events a JOIN events b ON a.ts_ns <> b.ts_ns \
    JOIN events c ON c.ts_ns <> b.ts_ns JOIN events d ON d.ts_ns <> c.ts_ns \
    JOIN events e ON e.ts_ns <> d.ts_ns JOIN events f ON f.ts_ns <> e.ts_ns \
    WHERE a.ts_ns + b.ts_ns + c.ts_ns + d.ts_ns + e.ts_ns + f.ts_ns <> 1 GROUP BY a.trace_id\n";

const SQL: &str = "SELECT * FROM endless";

/// A folder with the view.
fn views(folder: &Path) -> PathBuf {
    let own = folder.join("sql/own");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::write(own.join("endless.sql"), ENDLESS).expect("a view");
    folder.join("sql")
}

/// Starts the endless query as a process, and waits until both executors compute.
fn start(cluster: &Cluster, store: &str, sql: &Path, more: &[&str]) -> Child {
    let arguments = ["query", store, "--sql", text(sql), "-c", SQL];
    let child = cluster.call(&arguments).args(more).start();
    wait_for_start(cluster);
    child
}

fn wait_for_start(cluster: &Cluster) {
    for executor in &cluster.executors {
        executor.wait_for_line("queries start", LIMIT);
    }
    let start = Instant::now();
    while cpu(cluster, Duration::from_millis(500)) < 0.3 {
        assert!(start.elapsed() < LIMIT, "it does not compute");
    }
}

/// Expects that all executors stop, and stay idle.
#[track_caller]
fn expect_stop(cluster: &Cluster, since: Instant) {
    for executor in &cluster.executors {
        executor.wait_for_line("stopped after", LIMIT);
    }
    assert!(since.elapsed() < STOP, "{:?}", since.elapsed());
    let busy = cpu(cluster, Duration::from_secs(1));
    assert!(busy < 0.2, "{busy} s of CPU in a second after the end");
}

/// The seconds of CPU that executors use in a time.
fn cpu(cluster: &Cluster, time: Duration) -> f64 {
    let used = || -> f64 { cluster.executors.iter().map(|e| cpu_of(e.child.id())).sum() };
    let before = used();
    std::thread::sleep(time);
    used() - before
}

/// The seconds of CPU that a process has used.
fn cpu_of(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
    let (_, fields) = stat.rsplit_once(')').expect("fields");
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Clock ticks are hundredths of a second on Linux.
    fields[11..13].iter().map(|field| field.parse::<f64>().expect("a number") / 100.0).sum()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("a command").success());
}

#[test]
fn executors_stop_when_the_client_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 4);
    let (store, sql) = (text(store.root()), views(folder.path()));
    let cluster = Cluster::of(2);
    // Ctrl-C, and an end without a word.
    for name in ["-INT", "-KILL"] {
        let mut child = start(&cluster, store, &sql, &[]);
        let since = Instant::now();
        signal(&child, name);
        expect_stop(&cluster, since);
        let finished = Finished::of(&mut child, LIMIT);
        assert_ne!(finished.code, Some(0), "{}", finished.stdout);
    }
    // The time of the query.
    let mut child = start(&cluster, store, &sql, &["--timeout", "6s"]);
    let error = Finished::of(&mut child, LIMIT).failure(4);
    assert!(error.contains("--timeout"), "{error}");
    expect_stop(&cluster, Instant::now());
    // The cluster is as good as before.
    let arguments = ["query", store, "--format", "csv", "-c", "SELECT count(*) AS n FROM events"];
    assert_eq!(cluster.call(&arguments).run().success(), "n\n120\n");
}

#[test]
fn executors_stop_when_rows_are_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of_ranks(folder.path(), 4);
    let sql = vec![views(folder.path())];
    let cluster = Cluster::of(2);
    let there = Arc::new(tracesql_cluster::Cluster::new(&cluster.address, None));
    let options = EngineOptions { cluster: Some(there), sql, ..EngineOptions::default() };
    let engine = Engine::open(&store, None, &options).expect("the store opens");
    let runtime = tracesql::runtime::with_threads(2).expect("a runtime");
    runtime.block_on(async {
        let statement = engine.parse(SQL).expect("SQL").remove(0);
        let mut rows = engine.run(statement, &[]).await.expect("the query starts");
        let polled = tokio::time::timeout(Duration::from_millis(100), rows.next()).await;
        assert!(polled.is_err(), "no rows yet");
        tokio::task::block_in_place(|| wait_for_start(&cluster));
        let since = Instant::now();
        drop(rows);
        tokio::task::block_in_place(|| expect_stop(&cluster, since));
    });
}

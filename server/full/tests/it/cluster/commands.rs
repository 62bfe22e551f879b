//! Commands write the same on a cluster as without one.

use std::path::Path;

use super::{Cluster, EIGHT, Options, THREE, store_of, text};
use crate::support::{Program, moto};

/// What a command writes without and with the cluster.
fn both(cluster: &Cluster, arguments: &[&str], output: Option<&Path>) -> (String, String) {
    let read = |stdout: String| match output {
        Some(path) => {
            let text = std::fs::read_to_string(path).expect("an output");
            std::fs::remove_file(path).expect("an output");
            text
        }
        None => stdout,
    };
    let here = Program::new(cluster.folder.path()).args(arguments).run();
    let here = (here.code, read(here.stdout));
    let there = cluster.call(arguments).run();
    assert_eq!(here.0, there.code, "{arguments:?}: {}", there.stderr);
    (here.1, read(there.stdout))
}

#[test]
fn commands_write_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = tempfile::tempdir().expect("a folder");
    let stores = (store_of(folder.path(), &EIGHT[2..5]), store_of(other.path(), &EIGHT[..2]));
    let (store, other) = (text(stores.0.root()), text(stores.1.root()));
    let (page, rows) = (folder.path().join("report.html"), folder.path().join("kernels.csv"));
    let cluster = Cluster::of(2);
    let sql = "SELECT name, count(*) AS n FROM kernels GROUP BY name ORDER BY n DESC, name";
    let cases: [(&[&str], Option<&Path>); 7] = [
        (&["query", store, "-c", sql], None),
        (
            &[
                "query",
                store,
                "--format",
                "csv",
                "-c",
                "SELECT * FROM findings ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            ],
            None,
        ),
        (&[store, "-c", "SELECT * FROM steps WHERE step = $s ORDER BY 1, 2, 3", "-p", "s=2"], None),
        (&["report", store, "-o", text(&page)], Some(&page)),
        (&["check", store], None),
        (&["compare", store, other], None),
        (
            &["export", store, "--format", "csv", "-o", text(&rows), "--view", "kernels"],
            Some(&rows),
        ),
    ];
    for (arguments, output) in cases {
        let (here, there) = both(&cluster, arguments, output);
        assert!(!here.is_empty(), "{arguments:?}");
        // Rows without an order come trace by trace, in any order.
        let lines = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            if arguments[0] == "export" {
                lines.sort();
            }
            lines
        };
        assert_eq!(lines(here), lines(there), "{arguments:?}");
    }
}

/// The shell reads its statements from standard input here. All of them are one session.
#[test]
fn statements_of_a_session_see_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(folder.path(), &THREE);
    let script = folder.path().join("script.sql");
    let sql = "CREATE VIEW long AS SELECT name, dur_ns FROM events WHERE dur_ns > 1000;\n\
               SELECT count(*) FROM long;\n\
               SELECT name, count(*) AS n FROM long GROUP BY name ORDER BY n DESC, name LIMIT 5;\n\
               SELECT rule, status, severity FROM findings ORDER BY 1, 2, 3;\n";
    std::fs::write(&script, sql).expect("a script");
    let arguments = [text(store.root()), "-f", text(&script), "--format", "csv"];
    let (here, there) = both(&Cluster::of(1), &arguments, None);
    assert!(here.lines().count() > 20, "{here}");
    assert_eq!(here, there);
}

/// Users' views, users' rules and changed settings travel to the executors.
#[test]
fn what_a_user_adds_travels() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(folder.path(), &THREE);
    let own = folder.path().join("sql/own");
    std::fs::create_dir_all(&own).expect("a folder");
    let view = "-- Long calls.\n--\n-- @scope trace\n-- @column trace_id VARCHAR text The trace.\n\
                -- @column calls BIGINT count Calls.\n\
                SELECT trace_id, count(*) AS calls FROM events WHERE dur_ns > 1000 GROUP BY 1\n";
    std::fs::write(own.join("long_calls.sql"), view).expect("a view");
    let sql = folder.path().join("sql");
    let cluster = Cluster::of(2);
    let arguments = [
        "query",
        text(store.root()),
        "--sql",
        text(&sql),
        "--set",
        "rule_data_loading_pct=1",
        "--format",
        "csv",
        "-c",
        "SELECT * FROM long_calls ORDER BY 1; SELECT * FROM findings ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
    ];
    let (here, there) = both(&cluster, &arguments, None);
    assert!(here.contains("resnet"), "{here}");
    assert_eq!(here, there);
}

#[test]
fn stores_on_object_storage_are_read_by_executors() {
    let Some(bucket) = moto::bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(folder.path(), &THREE);
    let url = bucket.url("run");
    let copy = ["copy", text(store.root()), &url];
    Program::new(folder.path()).envs(bucket.environment()).args(copy).run().success();
    let options = Options { variables: bucket.environment(), ..Options::default() };
    let cluster = Cluster::with(2, &options);
    for sql in [
        "SELECT * FROM findings ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
        "SELECT cat, count(*) FROM events GROUP BY 1 ORDER BY 1",
    ] {
        let arguments = |store| ["query", store, "--format", "csv", "-c", sql];
        let here = Program::new(folder.path()).args(arguments(text(store.root()))).run().success();
        let there = cluster.call(&arguments(&url)).envs(bucket.environment()).run().success();
        assert_eq!(here, there, "{sql}");
    }
}

#[test]
fn the_option_is_refused_where_it_means_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let call = |arguments: &[&str]| Program::new(folder.path()).args(arguments).run().failure(2);
    let error = call(&["--cluster", "127.0.0.1:1", "list", "store"]);
    assert!(error.contains("means nothing to `tracesql-full list`"), "{error}");
    let error = call(&["query", "store", "--cluster", "somewhere", "-c", "SELECT 1"]);
    assert!(error.contains("--cluster somewhere: write the host and the port"), "{error}");
}

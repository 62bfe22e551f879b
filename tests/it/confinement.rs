//! Actions that a query or an input must not be able to do: run longer than allowed, reach files
//! outside the store, run forbidden commands, or fill the disk.

use std::io::Write;
use std::time::{Duration, Instant};

use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, fixture, texts, tracesql};

fn store() -> (TestStore, String) {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let path = store.store.root().display().to_string();
    (store, path)
}

/// A cross product of rows that would run for years.
const ENDLESS: &str = "SELECT count(*) FROM events a, events b, events c, events d \
    WHERE a.ts_ns + b.ts_ns < c.ts_ns + d.ts_ns";

#[test]
fn queries_end_when_their_time_is_up() {
    let (store, path) = store();
    let out = store.folder.path().join("out.csv").display().to_string();
    for (args, what) in [
        (vec!["query", &path, "--timeout", "300ms", "-c", ENDLESS], "an aggregate"),
        (
            vec![
                "query",
                &path,
                "--timeout",
                "0.3",
                "--format",
                "csv",
                "-o",
                &out,
                "-c",
                "SELECT a.name FROM events a, events b, events c",
            ],
            "a file",
        ),
        (
            vec![
                "query",
                &path,
                "--timeout",
                "300ms",
                "-c",
                "SELECT max(x.value * y.value) \
                    FROM generate_series(1, 10000000) x, generate_series(1, 100000) y",
            ],
            "series",
        ),
        (
            vec![
                "export", &path, "--timeout", "300ms", "--format", "csv", "-o", &out, "-c", ENDLESS,
            ],
            "an export",
        ),
    ] {
        let start = Instant::now();
        let output = tracesql(&args);
        assert_eq!(output.status.code(), Some(4), "{what}: {}", texts(&output).1);
        assert!(
            texts(&output).1.contains("stopped after 0.3 s, which is what --timeout allows"),
            "{what}: {}",
            texts(&output).1
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: {:?}", start.elapsed());
        assert!(!store.folder.path().join("out.csv").exists(), "{what} leaves no result");
    }
    let output =
        tracesql(&["query", &path, "--timeout", "1m", "-c", "SELECT 1 AS one", "--format", "csv"]);
    assert_eq!(texts(&output).0, "one\n1\n");
    assert_eq!(
        tracesql(&["query", &path, "--timeout", "soon", "-c", "SELECT 1"]).status.code(),
        Some(2)
    );
}

#[test]
fn statements_stay_within_the_store() {
    let (store, path) = store();
    let secret = store.folder.path().join("secret.csv");
    std::fs::write(&secret, "word\nhidden\n").expect("a file");
    let target = store.folder.path().join("copied.csv");
    let external = format!(
        "CREATE EXTERNAL TABLE s STORED AS CSV LOCATION '{}' OPTIONS ('format.has_header' 'true'); \
            SELECT * FROM s",
        secret.display()
    );
    for sql in [
        external.clone(),
        format!("COPY (SELECT 1) TO '{}'", target.display()),
        format!("SELECT * FROM '{}'", secret.display()),
        format!("SELECT * FROM read_csv('{}')", secret.display()),
        "INSERT INTO events SELECT * FROM events".to_owned(),
        "DROP TABLE events".to_owned(),
        "SET datafusion.runtime.temp_directory = '/'".to_owned(),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{}'", target.display()),
    ] {
        let output = tracesql(&["query", &path, "-c", &sql]);
        let (out, error) = texts(&output);
        assert_eq!(output.status.code(), Some(4), "{sql}: {out}{error}");
        assert!(!out.contains("hidden"), "{sql}");
    }
    assert!(!target.exists());
    let error = texts(&tracesql(&["query", &path, "-c", &external])).1;
    assert!(error.contains("--allow-files"), "{error}");
    let output = tracesql(&["query", &path, "--allow-files", "--format", "csv", "-c", &external]);
    assert_eq!(texts(&output).0, "word\nhidden\n", "{}", texts(&output).1);
    // Only the program's own options can write files.
    assert_eq!(
        tracesql(&[
            "query",
            &path,
            "--allow-files",
            "-c",
            &format!("COPY (SELECT 1) TO '{}'", target.display())
        ])
        .status
        .code(),
        Some(4)
    );
}

#[test]
fn a_session_can_refuse_tables_in_memory() {
    let (store, _) = store();
    let run = |queries_and_views_only, sql: &str| {
        let options = EngineOptions { queries_and_views_only, ..EngineOptions::default() };
        let engine = Engine::open(&store.store, None, &options).expect("the store opens");
        let statement = engine.parse(sql).expect("SQL").remove(0);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let rows = runtime.block_on(engine.run(statement, &[]));
        rows.map(drop).map_err(|e| e.to_string())
    };
    for sql in ["SELECT 1 AS n INTO mine", "CREATE TABLE mine AS SELECT 1 AS n"] {
        assert_eq!(run(false, sql), Ok(()), "{sql}");
        let error = run(true, sql).expect_err(sql);
        assert!(error.contains("only queries and CREATE VIEW"), "{error}");
    }
    for sql in ["SELECT 1", "CREATE VIEW mine AS SELECT 1 AS n"] {
        assert_eq!(run(true, sql), Ok(()), "{sql}");
    }
}

#[test]
fn commands_can_be_refused() {
    let (store, path) = store();
    let target = store.folder.path().join("out.csv");
    let text = format!("\\o {}\nSELECT 1 AS one;", target.display());
    let output = tracesql(&["query", &path, "--no-commands", "-c", &text]);
    assert_eq!(output.status.code(), Some(2));
    assert!(texts(&output).1.contains("--no-commands"), "{}", texts(&output).1);
    assert!(!target.exists(), "nothing ran");
    assert!(tracesql(&["query", &path, "-c", &text]).status.success());
    assert!(target.exists());
}

#[test]
fn small_inputs_do_not_fill_the_disk() {
    let store = TestStore::new();
    // 1.3 GB of blanks in an event list: about 1.3 MB of gzip.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    packed.write_all(b"[").expect("memory");
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..1300 {
        packed.write_all(&blanks).expect("memory");
    }
    let path = store.folder.path().join("bomb.json.gz");
    std::fs::write(&path, packed.finish().expect("memory")).expect("a file");
    let error = store.ingest(&path).expect_err("it is refused").to_string();
    assert!(error.contains("no trace is packed so densely"), "{error}");
    assert_eq!(store.store.traces().expect("traces").len(), 0);
}

#[test]
fn a_session_for_queries_refuses_everything_else() {
    let (store, _) = store();
    // Files stay refused even if they were allowed.
    let options =
        EngineOptions { queries_only: true, allow_files: true, ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let run = |sql: &str| {
        let statement = engine.parse(sql).map_err(|e| e.to_string())?.remove(0);
        runtime.block_on(engine.run(statement, &[])).map(drop).map_err(|e| e.to_string())
    };
    for sql in [
        "CREATE TABLE mine AS SELECT 1 AS n",
        "CREATE VIEW mine AS SELECT 1 AS n",
        "CREATE EXTERNAL TABLE s STORED AS CSV LOCATION '/etc/passwd'",
        "CREATE SCHEMA mine",
        "CREATE FUNCTION f(BIGINT) RETURNS BIGINT RETURN $1 + 1",
        "DROP VIEW IF EXISTS mine",
        "SELECT 1 AS n INTO mine",
        "SELECT * FROM (SELECT 1 AS n INTO mine)",
        "EXPLAIN ANALYZE SELECT 1 AS n INTO mine",
        "EXPLAIN CREATE VIEW mine AS SELECT 1 AS n",
        "SET datafusion.execution.batch_size = 1",
        "SET datafusion.runtime.temp_directory = '/'",
        "RESET datafusion.execution.batch_size",
        "PREPARE p AS SELECT 1",
        "BEGIN",
        "COMMIT",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "INSERT INTO events SELECT * FROM events",
        "DELETE FROM events",
        "UPDATE events SET name = ''",
    ] {
        assert!(run(sql).is_err(), "{sql} ran");
    }
    let error = run("CREATE VIEW mine AS SELECT 1 AS n").expect_err("it is refused");
    assert!(error.contains("only queries, EXPLAIN, SHOW and DESCRIBE"), "{error}");
    for sql in [
        "SELECT 1",
        "WITH a AS (SELECT 1 AS n) SELECT * FROM a",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT count(*) FROM events",
        "SHOW TABLES",
        "SHOW COLUMNS FROM events",
        "DESCRIBE events",
        "SUMMARIZE steps",
        "FROM steps",
        "VALUES (1)",
    ] {
        assert_eq!(run(sql), Ok(()), "{sql}");
    }
}

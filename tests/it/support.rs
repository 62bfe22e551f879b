//! Stores, queries and paths that tests share.

pub mod archives;
mod fixture_stores;
pub mod needs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};
use tracesql_ingest::{IngestOptions, Input, Outcome, Progress, Result, Store, ingest};

pub use fixture_stores::{
    bottlenecks, fixtures, kept_beside, kept_bottlenecks, kept_fixtures, kept_kernels,
    kept_pipeline, kept_protobufs, kept_snapshots,
};

/// The root folder of the project, which contains `Cargo.lock`, whichever package these tests
/// belong to.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<&Path> = LazyLock::new(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        package.ancestors().find(|p| p.join("Cargo.lock").is_file()).expect("there is a lock file")
    });
    &ROOT
}

/// The ranks of a job with two stages of two experts each.
pub const PIPELINE: [&str; 4] = [
    "pipeline/pipeline_rank0.json.gz",
    "pipeline/pipeline_rank1.json.gz",
    "pipeline/pipeline_rank2.json.gz",
    "pipeline/pipeline_rank3.json.gz",
];

/// The path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures").join(name)
}

/// A store that is removed at the end of the test.
pub struct TestStore {
    pub folder: TempDir,
    pub store: Store,
}

impl TestStore {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open_or_create(&folder.path().join("store")).expect("a new store");
        Self { folder, store }
    }

    /// A store with one trace.
    pub fn with(path: &Path) -> (Self, Outcome) {
        let store = Self::new();
        let outcome = store.ingest(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (store, outcome)
    }

    /// A store with one trace that was written for the test.
    pub fn of_text(text: impl AsRef<[u8]>) -> (Self, Outcome) {
        let store = Self::new();
        let path = store.folder.path().join("trace.json");
        std::fs::write(&path, text).expect("write a trace");
        let outcome = store.ingest(&path).expect("the trace is read");
        (store, outcome)
    }

    pub fn ingest(&self, path: &Path) -> Result<Outcome> {
        self.ingest_with(path, &IngestOptions::default())
    }

    pub fn ingest_with(&self, path: &Path, options: &IngestOptions) -> Result<Outcome> {
        ingest(&Input::File(path.to_owned()), &self.store, options, &Progress::default())
    }

    /// A session over the store.
    pub fn engine(&self) -> Engine {
        Engine::open(&self.store, None, &EngineOptions::default()).expect("the store opens")
    }

    /// The rows of a query as texts; NULL is `NULL`.
    pub fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows_of(&self.engine(), sql).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// The rows of several queries as texts.
    pub fn rows_of_each(&self, queries: &[&str]) -> Vec<Vec<Vec<String>>> {
        let texts: Vec<String> = queries.iter().map(|sql| (*sql).to_owned()).collect();
        let all = rows_of_each(&self.engine(), &texts).into_iter().zip(queries);
        all.map(|(rows, sql)| rows.unwrap_or_else(|e| panic!("{sql}: {e}"))).collect()
    }

    /// The only row of a query, as integers. NULL becomes 0.
    pub fn ints(&self, sql: &str) -> Vec<i64> {
        let row = self.rows(sql).remove(0);
        row.iter()
            .map(|v| {
                if v == "NULL" {
                    0
                } else {
                    v.parse().unwrap_or_else(|_| panic!("{sql}: {v} is no integer"))
                }
            })
            .collect()
    }

    /// The rows of a query as lines in which values are separated by blanks.
    pub fn lines(&self, sql: &str) -> Vec<String> {
        self.rows(sql).into_iter().map(|row| row.join(" ")).collect()
    }

    /// The issues of the traces as `code count`, ordered by code.
    pub fn issues(&self) -> Vec<String> {
        self.lines("SELECT code, count FROM ingest_issues ORDER BY code")
    }

    /// The only value of a query.
    pub fn value(&self, sql: &str) -> String {
        self.rows(sql).remove(0).remove(0)
    }
}

/// Reads a trace into a store. The trace must be readable.
fn ingest_into(store: &Store, path: &Path) {
    let options = IngestOptions::default();
    ingest(&Input::File(path.to_owned()), store, &options, &Progress::default())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// The rows of a query as texts; NULL is `NULL`.
pub fn rows_of(
    engine: &Engine,
    sql: &str,
) -> std::result::Result<Vec<Vec<String>>, tracesql::Error> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let batches: Vec<RecordBatch> = runtime.block_on(async {
        let statement = engine.parse(sql)?.remove(0);
        Ok::<_, tracesql::Error>(engine.run(statement, &[]).await?.try_collect().await?)
    })?;
    Ok(texts_of(&batches))
}

/// Rows as texts; NULL is `NULL`.
fn texts_of(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c.as_ref(), &options).expect("a formatter"))
            .collect();
        rows.extend(
            (0..batch.num_rows()).map(|i| columns.iter().map(|c| c.value(i).to_string()).collect()),
        );
    }
    rows
}

/// The rows of queries that start together, or the error of each. Views that several of them read
/// are planned and computed once.
pub fn rows_of_each(
    engine: &Engine,
    queries: &[String],
) -> Vec<std::result::Result<Vec<Vec<String>>, tracesql::Error>> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let together = runtime.block_on(async {
        let mut statements = Vec::new();
        for sql in queries {
            statements.push(engine.parse(sql)?.remove(0));
        }
        let mut all = Vec::new();
        for started in engine.start_all(statements, &[]).await? {
            let batches: datafusion::error::Result<Vec<RecordBatch>> =
                started.result.try_collect().await;
            all.push(batches.map(|batches| texts_of(&batches)).map_err(tracesql::Error::from));
        }
        Ok::<_, tracesql::Error>(all)
    });
    together.unwrap_or_else(|together| {
        // Alone, only the queries that cannot be planned have an error.
        let alone: Vec<_> = queries.iter().map(|sql| rows_of(engine, sql)).collect();
        assert!(alone.iter().any(Result::is_err), "only together they fail: {together}");
        alone
    })
}

/// Rows as one text. Values are separated by ` | `, and rows by line ends.
pub fn answer(rows: &[Vec<String>]) -> String {
    rows.iter().map(|r| r.join(" | ")).collect::<Vec<_>>().join("\n")
}

/// A store with a trace of these elements, which are separated by commas.
pub fn elements(text: impl AsRef<[u8]>) -> TestStore {
    TestStore::of_text([b"{\"traceEvents\":[\n", text.as_ref(), b"\n]}"].concat()).0
}

/// A store with a trace of complete events on thread 1 of process 1. Each is given by name, start
/// and duration in microseconds.
pub fn spans(events: &[(&str, i64, i64)]) -> TestStore {
    let span = |(name, ts, dur): &(&str, i64, i64)| {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    elements(events.iter().map(span).collect::<Vec<_>>().join(",\n"))
}

/// Runs the program.
pub fn tracesql(args: &[&str]) -> Output {
    tracesql_in(Path::new("."), args, &[])
}

/// Runs the program in a folder with environment variables.
pub fn tracesql_in(folder: &Path, args: &[&str], env: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    for (name, value) in env {
        command.env(name, value);
    }
    within_a_minute(command.stdin(std::process::Stdio::null()))
}

/// Runs a program, which must end within a minute.
pub fn within_a_minute(command: &mut Command) -> Output {
    within(60, command)
}

/// Runs a program, which must end within this number of seconds.
pub fn within(seconds: u64, command: &mut Command) -> Output {
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    fn all(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("its output");
            bytes
        })
    }
    let (stdout, stderr) =
        (all(child.stdout.take().expect("a pipe")), all(child.stderr.take().expect("a pipe")));
    let start = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        if start.elapsed().as_secs() >= seconds {
            child.kill().expect("it can be killed");
            panic!("{command:?} runs for ever");
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    Output {
        status,
        stdout: stdout.join().expect("no panic"),
        stderr: stderr.join().expect("no panic"),
    }
}

/// Standard output and error as text.
pub fn texts(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Waits for a program and returns its peak memory in bytes, measured every millisecond.
pub fn peak_memory(child: &mut std::process::Child) -> usize {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let kibibytes = text.lines().find_map(|l| {
            l.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
        });
        peak = peak.max(kibibytes.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(peak > 0, "memory cannot be looked at here");
    peak
}

//! What an executor computes: queries over one trace.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;
use datafusion::common::{exec_datafusion_err, exec_err};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use prost::Message;
use tokio::runtime::Handle;
use tracesql::engine::{Engine, EngineOptions, OpenTrace, Started};
use tracesql::store::{RemoteStore, TraceFiles, open_remote};
use tracesql_ingest::Manifest;
use tracesql_ingest::schema::SCHEMA_VERSION;
use url::Url;

use crate::errors::marked;
use crate::faults::Faults;
use crate::wire::{Payload, TraceTask};
use crate::{library, rows, version};

/// The folders of views and of rules among the files of a user.
const SQL: &str = "sql";
const RULES: &str = "rules";

/// What one executor may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Traces that are computed at once.
    pub slots: usize,
    /// Threads for each of them.
    pub threads: usize,
    /// Bytes of memory for all of them; 0 for no limit.
    pub memory: usize,
    /// Time for one trace; `None` for no limit.
    pub time: Option<Duration>,
}

impl Limits {
    /// Adds to an error about memory what may be done about it.
    fn advise(&self, error: DataFusionError) -> DataFusionError {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(why) => exec_datafusion_err!(
                "{why}; this executor runs with --memory {}MiB and --slots {}: start executors with \
                 more memory or fewer slots",
                self.memory >> 20,
                self.slots
            ),
            _ => error,
        }
    }
}

/// The worker of an executor.
pub struct Worker {
    limits: Limits,
    /// The folder for the files of users.
    folder: PathBuf,
    /// Sessions that were used last, the newest at the end. Their views are planned already.
    engines: Mutex<Vec<(blake3::Hash, Arc<Engine>)>>,
    /// Stores on object storage by their URLs.
    stores: Mutex<HashMap<String, Arc<dyn RemoteStore>>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Worker {
    /// A worker that keeps files in a folder.
    pub fn new(limits: Limits, folder: PathBuf) -> Self {
        Self { limits, folder, engines: Mutex::default(), stores: Mutex::default() }
    }

    /// The error about a trace that ended the process each time.
    pub fn gave_up(&self, attempts: usize) -> DataFusionError {
        let text = format!(
            "the executor ended {attempts} times while it computed this trace; give executors more \
             memory or fewer slots, and look at the trace with `tracesql doctor`"
        );
        marked(&exec_datafusion_err!("{text}"))
    }

    /// The rows of all queries over a trace.
    pub fn run(
        self: Arc<Self>,
        payload: Arc<Payload>,
        task: TraceTask,
    ) -> BoxStream<'static, Result<RecordBatch>> {
        let until = self.limits.time.map(|time| (tokio::time::Instant::now() + time, time));
        let limits = self.limits.clone();
        let rows = stream::once(async move { self.start(payload, task).await }).try_flatten();
        let rows = rows.map_err(move |e| marked(&limits.advise(e))).boxed();
        match until {
            Some((end, time)) => in_time(rows, end, time),
            None => rows,
        }
    }

    async fn start(
        self: Arc<Self>,
        payload: Arc<Payload>,
        task: TraceTask,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let manifest: Manifest = serde_json::from_str(&task.manifest)
            .map_err(|e| exec_datafusion_err!("the manifest of a trace cannot be read: {e}"))?;
        let log = Log::start(&manifest.trace_id, payload.queries.len());
        Faults::get().strike(&manifest.trace_id).await;
        let (runtime, numbers) =
            (Handle::current(), payload.queries.iter().map(|q| q.number).collect::<Vec<_>>());
        // Opening and planning block.
        let (engine, started) = tokio::task::spawn_blocking(move || {
            let engine = self.engine(&payload, &task, manifest)?;
            let started = runtime.block_on(start_all(&engine, &payload))?;
            Ok::<_, DataFusionError>((engine, started))
        })
        .await
        .map_err(|e| exec_datafusion_err!("the query engine failed: {e}"))??;
        let results = numbers.into_iter().zip(started).map(|(number, started)| {
            started
                .result
                .map_ok(move |batch| stream::iter(rows::wrap(number, &batch)))
                .try_flatten()
                .boxed()
        });
        let rows = stream::select_all(results.collect::<Vec<_>>());
        let rows = rows.map(Some).chain(stream::once(async { None }));
        // The session lives as long as its rows are read.
        let rows = rows.scan((engine, log), |(_, log), row| {
            log.is_complete |= row.is_none();
            std::future::ready(row)
        });
        Ok(rows.boxed())
    }

    /// A session over the trace: one that was used before, or a new one.
    fn engine(
        &self,
        payload: &Payload,
        task: &TraceTask,
        manifest: Manifest,
    ) -> Result<Arc<Engine>> {
        let files = self.files(task)?;
        let session = Payload { queries: Vec::new(), ..payload.clone() };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&session.encode_to_vec());
        hasher.update(&task.encode_to_vec());
        let key = hasher.finalize();
        let mut engines = self.engines.lock();
        if let Some(at) = engines.iter().position(|(known, _)| *known == key) {
            let known = engines.remove(at);
            let engine = known.1.clone();
            engines.push(known);
            return Ok(engine);
        }
        drop(engines);
        let engine = Arc::new(self.open(payload, task, manifest, files)?);
        let mut engines = self.engines.lock();
        if engines.len() >= 4 * self.limits.slots {
            engines.remove(0);
        }
        engines.push((key, engine.clone()));
        Ok(engine)
    }

    fn open(
        &self,
        payload: &Payload,
        task: &TraceTask,
        manifest: Manifest,
        files: TraceFiles,
    ) -> Result<Engine> {
        let own = version::program();
        if payload.program_version != own || payload.schema_version != SCHEMA_VERSION {
            return exec_err!(
                "the query comes from tracesql-full {} (schema {}), this executor is {own} (schema \
                 {SCHEMA_VERSION}); all processes of a cluster need the same version",
                payload.program_version,
                payload.schema_version
            );
        }
        let (sql, rules) = self.folders(payload)?;
        let mut relations = Vec::new();
        for relation in &task.relations {
            let (schema, batches) = rows::from_ipc(&relation.rows)?;
            let table = MemTable::try_new(schema, vec![batches])?;
            relations.push((relation.name.clone(), Arc::new(table) as _));
        }
        let share = self.limits.memory / self.limits.slots.max(1);
        let options = EngineOptions {
            threads: self.limits.threads,
            memory_limit: share,
            process_memory_limit: self.limits.memory,
            sql,
            rules,
            settings: payload.settings.iter().map(|s| (s.name.clone(), s.value.clone())).collect(),
            relations,
            ..EngineOptions::default()
        };
        let remote = self.remote_store(task, &manifest)?;
        let trace = OpenTrace { manifest, files, remote_store: None };
        let engine = Engine::open_trace(trace, remote, &options).map_err(external)?;
        let hash = library::hash(engine.library());
        if hash != payload.library {
            return exec_err!(
                "the query uses the views {}, this executor has {hash}; all processes of a cluster \
                 need the same build of tracesql-full",
                payload.library
            );
        }
        Ok(engine)
    }

    /// Where the files of a trace are. A folder that was removed is an error here, because the
    /// engine takes a file that does not exist for a table without rows.
    fn files(&self, task: &TraceTask) -> Result<TraceFiles> {
        if !task.remote_store.is_empty() {
            let folder = Url::parse(&task.files).map_err(|e| exec_datafusion_err!("{e}"))?;
            return Ok(TraceFiles::Url(folder));
        }
        let folder = PathBuf::from(&task.files);
        if !folder.is_dir() {
            return exec_err!(
                "{}: this executor cannot find the folder of the trace; if the trace was not \
                 removed, put the store on a file system that all executors share, or on object \
                 storage",
                folder.display()
            );
        }
        Ok(TraceFiles::Folder(folder))
    }

    /// The store of a trace on object storage, which must still have the trace.
    fn remote_store(
        &self,
        task: &TraceTask,
        manifest: &Manifest,
    ) -> Result<Option<Arc<dyn RemoteStore>>> {
        if task.remote_store.is_empty() {
            return Ok(None);
        }
        let store = self.store(&task.remote_store)?;
        if store.find(&manifest.content_hash).map_err(external)?.is_none() {
            return exec_err!(
                "{}: the trace was removed or replaced while the query ran; run the query again",
                task.remote_store
            );
        }
        Ok(Some(store))
    }

    /// A store, which stays open.
    fn store(&self, url: &str) -> Result<Arc<dyn RemoteStore>> {
        if let Some(store) = self.stores.lock().get(url) {
            return Ok(store.clone());
        }
        let store = open_remote(url, false).map_err(external)?;
        self.stores.lock().insert(url.to_owned(), store.clone());
        Ok(store)
    }

    /// Folders with the user's views and rules. They are named by their content and appear whole,
    /// because several tasks write and read them at the same time.
    fn folders(&self, payload: &Payload) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        if payload.sql.is_empty() && payload.rules.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let files = Payload {
            sql: payload.sql.clone(),
            rules: payload.rules.clone(),
            ..Payload::default()
        };
        let name = blake3::hash(&files.encode_to_vec()).to_hex();
        let folder = self.folder.join(name.as_str());
        if !folder.is_dir() {
            let new = self.folder.join(uuid::Uuid::new_v4().to_string());
            library::write(&files.sql, &new.join(SQL))?;
            library::write(&files.rules, &new.join(RULES))?;
            // Another task may have been faster.
            if let Err(error) = std::fs::rename(&new, &folder) {
                std::fs::remove_dir_all(&new)?;
                if !folder.is_dir() {
                    return Err(error.into());
                }
            }
        }
        Ok((
            library::folders(&files.sql, &folder.join(SQL)),
            library::folders(&files.rules, &folder.join(RULES)),
        ))
    }
}

async fn start_all(engine: &Engine, payload: &Payload) -> Result<Vec<Started>> {
    let mut statements = Vec::new();
    for query in &payload.queries {
        statements.extend(engine.parse(&query.sql).map_err(external)?);
    }
    engine.start_all(statements, &[]).await.map_err(external)
}

/// An error of the library as an error of DataFusion.
fn external(error: tracesql::Error) -> DataFusionError {
    match error {
        tracesql::Error::Sql(inner) => *inner,
        other => DataFusionError::External(Box::new(other)),
    }
}

/// The rows until a time. An error ends them then.
fn in_time(
    rows: BoxStream<'static, Result<RecordBatch>>,
    end: tokio::time::Instant,
    time: Duration,
) -> BoxStream<'static, Result<RecordBatch>> {
    stream::unfold(Some(rows), move |rows| async move {
        let mut rows = rows?;
        match tokio::time::timeout_at(end, rows.next()).await {
            Ok(next) => next.map(|next| (next, Some(rows))),
            Err(_) => {
                let error = exec_datafusion_err!(
                    "it took longer than {} s, which is what --task-timeout of the executor allows",
                    time.as_secs_f64()
                );
                Some((Err(marked(&error)), None))
            }
        }
    })
    .boxed()
}

/// Writes the begin and the end of a task to the log.
struct Log {
    trace: String,
    begin: Instant,
    is_complete: bool,
}

impl Log {
    fn start(trace: &str, queries: usize) -> Self {
        log::info!("trace {trace}: {queries} queries start");
        Self { trace: trace.to_owned(), begin: Instant::now(), is_complete: false }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let how = if self.is_complete { "done" } else { "stopped" };
        log::info!("trace {}: {how} after {} ms", self.trace, self.begin.elapsed().as_millis());
    }
}

//! A client's session: its traces, its connection, and what it sends along with queries.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::{exec_datafusion_err, plan_datafusion_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::optimizer::OptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use parking_lot::RwLock;
use tokio::sync::{Mutex, OnceCell};
use tracesql::engine::{ClusterSession, OpenTrace, Relations, Settings};
use tracesql::library::{JOB_RANKS, Library, Scope};
use tracesql::store::TraceFiles;
use tracesql_ingest::schema::SCHEMA_VERSION;

use crate::batch::Batch;
use crate::connection::Connection;
use crate::partial::PartialAggregates;
use crate::relation::ClusterTable;
use crate::wire::{File, Payload, Relation, Setting, TraceTask};
use crate::{library, rows, version};

/// Shows how many traces of how many are computed; `None` when the work ends.
pub type Progress = Arc<dyn Fn(Option<(usize, usize)>) + Send + Sync>;

/// The cluster of a scheduler.
pub struct Cluster {
    address: String,
    progress: Option<Progress>,
}

impl Cluster {
    /// The cluster of the scheduler at `HOST:PORT`. Nothing is connected before the first query.
    pub fn new(address: &str, progress: Option<Progress>) -> Self {
        Self { address: address.to_owned(), progress }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("address", &self.address).finish_non_exhaustive()
    }
}

impl tracesql::engine::Cluster for Cluster {
    fn open(&self, session: ClusterSession) -> tracesql::Result<Arc<dyn Relations>> {
        let mut traces = session.traces;
        for trace in &mut traces {
            // Executors have other working directories.
            if let TraceFiles::Folder(folder) = &mut trace.files
                && let Ok(absolute) = std::path::absolute(&*folder)
            {
                *folder = absolute;
            }
        }
        Ok(Arc::new(Opened(Arc::new(Session {
            address: self.address.clone(),
            progress: self.progress.clone(),
            traces,
            library: session.library,
            settings: session.settings,
            sql: library::files("--sql", &session.sql)?,
            rules: library::files("--rules", &session.rules)?,
            state: session.state,
            hash: OnceLock::new(),
            connection: Mutex::new(None),
            job_ranks: OnceCell::new(),
        }))))
    }

    fn optimizer_rules(&self) -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
        vec![Arc::new(PartialAggregates)]
    }
}

/// A session of the cluster.
pub struct Session {
    address: String,
    progress: Option<Progress>,
    /// The traces that are open.
    pub traces: Vec<OpenTrace>,
    library: Arc<Library>,
    settings: Arc<Settings>,
    sql: Vec<File>,
    rules: Vec<File>,
    state: Weak<RwLock<SessionState>>,
    hash: OnceLock<String>,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The rows of `job_ranks` for each trace, and for traces without rows.
    job_ranks: OnceCell<JobRanks>,
}

#[derive(Clone)]
struct JobRanks {
    of_trace: HashMap<String, Vec<u8>>,
    none: Vec<u8>,
}

/// Relations of other traces that go along with a trace.
pub struct Given(Option<JobRanks>);

impl Session {
    /// The session in which statements are planned.
    pub fn state(&self) -> Result<SessionState> {
        let state = self.state.upgrade();
        Ok(state.ok_or_else(|| plan_datafusion_err!("the session is closed"))?.read().clone())
    }

    /// Shows progress, if somebody wants to see it.
    pub fn show_progress(&self, progress: Option<(usize, usize)>) {
        if let Some(show) = &self.progress {
            show(progress);
        }
    }

    /// The connection to the scheduler. It is opened again if the scheduler ended.
    pub async fn connection(&self) -> Result<Arc<Connection>> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|c| !c.is_over()) {
            return Ok(open.clone());
        }
        let opened = Arc::new(Connection::open(&self.address).await?);
        *connection = Some(opened.clone());
        Ok(opened)
    }

    /// The bytes of a trace's files.
    pub fn bytes(&self, trace: usize) -> u64 {
        self.traces[trace].manifest.tables.values().map(|table| table.bytes).sum()
    }

    /// What goes along with all queries.
    pub fn payload(&self) -> Result<Payload> {
        let settings = self.settings.changed().into_iter();
        Ok(Payload {
            program_version: version::program().to_owned(),
            schema_version: SCHEMA_VERSION,
            library: self.hash.get_or_init(|| library::hash(&self.library)).clone(),
            queries: Vec::new(),
            settings: settings
                .filter_map(|(name, setting)| Some(Setting { name, value: setting.value? }))
                .collect(),
            sql: self.sql.clone(),
            rules: self.rules.clone(),
        })
    }

    /// The relations of other traces that queries need.
    pub async fn relations(&self, needs_jobs: bool) -> Result<Given> {
        if !needs_jobs {
            return Ok(Given(None));
        }
        let ranks = self.job_ranks.get_or_try_init(|| self.rank_all()).await?;
        Ok(Given(Some(ranks.clone())))
    }

    async fn rank_all(&self) -> Result<JobRanks> {
        let context = SessionContext::new_with_state(self.state()?);
        let frame = context.sql(&format!("SELECT * FROM {JOB_RANKS}")).await?;
        let schema = plain(&Arc::new(frame.schema().as_arrow().clone()));
        let mut batches: HashMap<String, Vec<RecordBatch>> = HashMap::new();
        for batch in frame.collect().await? {
            let batch = rows::fit(&batch, &schema)?;
            let ids = batch.column_by_name("trace_id").and_then(|c| c.as_string_opt::<i32>());
            let ids = ids.ok_or_else(|| exec_datafusion_err!("{JOB_RANKS} has no trace_id"))?;
            for id in ids.iter().flatten().collect::<HashSet<_>>() {
                let is = BooleanArray::from_iter(ids.iter().map(|i| Some(i == Some(id))));
                batches.entry(id.to_owned()).or_default().push(filter_record_batch(&batch, &is)?);
            }
        }
        let of_trace =
            batches.into_iter().map(|(id, rows)| Ok((id, rows::to_ipc(&schema, &rows)?)));
        Ok(JobRanks {
            of_trace: of_trace.collect::<Result<_>>()?,
            none: rows::to_ipc(&schema, &[])?,
        })
    }

    /// The task of a trace.
    pub fn task(&self, trace: usize, given: &Given) -> Result<TraceTask> {
        let trace = &self.traces[trace];
        let manifest = serde_json::to_string(&trace.manifest)
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        let files = match &trace.files {
            TraceFiles::Folder(folder) => folder.display().to_string(),
            TraceFiles::Url(url) => url.to_string(),
        };
        let relations = given.0.iter().map(|ranks| Relation {
            name: JOB_RANKS.to_owned(),
            rows: ranks.of_trace.get(&trace.manifest.trace_id).unwrap_or(&ranks.none).clone(),
        });
        Ok(TraceTask {
            manifest,
            files,
            remote_store: trace.remote_store.clone().unwrap_or_default(),
            relations: relations.collect(),
        })
    }
}

/// The columns with plain texts.
fn plain(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => field.clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A session as the engine knows it.
struct Opened(Arc<Session>);

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("address", &self.0.address).finish_non_exhaustive()
    }
}

impl Relations for Opened {
    fn table(&self, name: &str, scope: Scope, schema: SchemaRef) -> Option<Arc<dyn TableProvider>> {
        Some(Arc::new(ClusterTable::new(self.0.clone(), name, scope, schema)))
    }

    fn start_together(&self, plans: &[Arc<dyn ExecutionPlan>]) -> tracesql::engine::Batch {
        Arc::new(Batch::of_plans(self.0.clone(), plans))
    }
}

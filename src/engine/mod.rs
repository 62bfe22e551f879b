//! A DataFusion session over the traces of a store.

mod catalog;
mod cluster;
mod describe;
mod json_rows;
mod kept_columns;
mod kept_scan;
mod materialize;
mod memory_limit;
mod memory_watch;
mod planned_view;
mod planner_threads;
mod planning;
mod rules;
mod run_ahead;
mod scanned;
mod session;
mod settings;
mod statements;
mod store_scan;
mod store_tables;
mod string_buffers;
mod summarize;
mod system_tables;
mod trace_groups;
mod utf8_results;
mod views;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::{DdlStatement, LogicalPlan, Statement as PlanStatement};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use tracesql_ingest::Manifest;

use crate::error::{Error, Result};
use crate::library::Library;
use crate::store::{RemoteStore, TraceStore};
use catalog::Catalog;
pub use cluster::{Batch, Cluster, ClusterSession, OpenTrace, Relations};
pub use json_rows::{Object, int, number, text};
pub use materialize::{operators, planned_apart};
use memory_limit::MemoryLimit;
use rules::constant_trace_id::ConstantTraceId;
pub use rules::stoppable_joins::stop_with;
pub use scanned::Scanned;
use session::Basis;
pub use settings::{Setting, Settings};
pub use system_tables::documented;
use trace_groups::TraceGroups;
pub use trace_groups::passing_traces;

/// Options for running queries.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// The number of threads; 0 stands for one thread per core.
    pub threads: usize,
    /// Bytes of memory that the process may hold while a query runs; 0 for no limit. Sorts, joins
    /// and aggregations spill to disk before the limit is reached; a query that needs more fails.
    pub memory_limit: usize,
    /// Whether each reader of a view computes the view itself, even if there is enough memory to
    /// keep its rows for all readers.
    pub shares_nothing: bool,
    /// Folders with the user's views, laid out like `sql/`.
    pub sql: Vec<PathBuf>,
    /// Folders with the user's rules.
    pub rules: Vec<PathBuf>,
    /// Settings to change.
    pub settings: Vec<(String, String)>,
    /// Whether statements may read files outside the store.
    pub allow_files: bool,
    /// Whether statements may only query, and define and drop views of the session. Then tables in
    /// memory are refused, because no limit of time or memory applies to filling them.
    pub queries_and_views_only: bool,
    /// Whether statements may only query: `SELECT`, `EXPLAIN`, `SHOW`, `DESCRIBE`. Then a session
    /// that several clients share stays as it was opened, and `allow_files` has no effect.
    pub queries_only: bool,
    /// Relations that replace tables of the store or views of the library, by name. Queries and
    /// views that name them read the given rows.
    pub relations: Vec<(String, Arc<dyn TableProvider>)>,
    /// The cluster that computes what depends on single traces; `None` to compute everything here.
    pub cluster: Option<Arc<dyn Cluster>>,
    /// The most events of traces whose views are computed at once, but at least one trace; 0 stands
    /// for 2 million. With more events, groups of traces are computed one after another.
    pub events_at_once: u64,
    /// Bytes of memory that the process may hold, if several sessions share it and `memory_limit`
    /// is the share of one of them; 0 if there is only one session.
    pub process_memory_limit: usize,
}

/// All functions that a session adds to SQL.
pub fn functions() -> Vec<tracesql_udfs::Function> {
    let mut all = tracesql_udfs::functions();
    all.extend(settings::functions(&Arc::default()));
    all.push(summarize::function());
    all
}

/// A session over the traces of a store.
pub struct Engine {
    context: SessionContext,
    catalog: Arc<Catalog>,
    library: Arc<Library>,
    settings: Arc<Settings>,
    traces: Vec<Manifest>,
    memory_limit: Option<MemoryLimit>,
    /// Whether rows of views with several readers are kept in memory. They cannot spill to disk.
    shares_views: bool,
    allow_files: bool,
    queries_and_views_only: bool,
    queries_only: bool,
}

impl Engine {
    /// Opens all traces of a store, or those with the given IDs.
    pub fn open(
        store: impl Into<TraceStore>,
        only: Option<&[String]>,
        options: &EngineOptions,
    ) -> Result<Self> {
        Self::open_together(&[(&store.into(), only)], options)
    }

    /// Opens traces of several stores as one. A trace that several stores contain is opened only
    /// once.
    pub fn open_together(
        stores: &[(&TraceStore, Option<&[String]>)],
        options: &EngineOptions,
    ) -> Result<Self> {
        let mut traces = Vec::new();
        let mut remote: Vec<Arc<dyn RemoteStore>> = Vec::new();
        let mut known = HashSet::new();
        for (store, only) in stores {
            if let TraceStore::Remote(store) = store {
                remote.push(store.clone());
            }
            // A damaged manifest of another trace does not matter.
            let manifests = match only {
                Some(_) => store.readable()?.traces,
                None => store.traces()?,
            };
            for manifest in manifests {
                let is_wanted = only.is_none_or(|only| only.contains(&manifest.trace_id));
                if is_wanted && known.insert(manifest.trace_id.clone()) {
                    let files = store.files(&manifest.trace_id)?;
                    let remote_store = store.folder().is_none().then(|| store.name());
                    traces.push(OpenTrace { manifest, files, remote_store });
                }
            }
        }
        Self::over(traces, &remote, options)
    }

    /// A session whose tables are empty.
    pub fn without_store(options: &EngineOptions) -> Result<Self> {
        Self::over(Vec::new(), &[], options)
    }

    /// A session over one trace whose manifest and files are known, so that no store is listed.
    /// `remote` reads the files if they are not in a folder.
    pub fn open_trace(
        trace: OpenTrace,
        remote: Option<Arc<dyn RemoteStore>>,
        options: &EngineOptions,
    ) -> Result<Self> {
        Self::over(vec![trace], remote.as_slice(), options)
    }

    fn over(
        opened: Vec<OpenTrace>,
        remote: &[Arc<dyn RemoteStore>],
        options: &EngineOptions,
    ) -> Result<Self> {
        let library = Library::of_session(&options.sql, &options.rules)?;
        let settings = Arc::new(Settings::of(&library)?);
        for (name, value) in &options.settings {
            if let Some(error) = settings.type_error(name, value) {
                return Err(Error::Usage(error));
            }
            if !settings.set(name, value) {
                return Err(Error::Usage(settings.unknown(name)));
            }
        }
        let limit = match options.memory_limit {
            0 => None,
            bytes => Some(MemoryLimit::new(bytes, options.process_memory_limit)?),
        };
        let views_fit =
            memory_limit::fits_in_memory(options.memory_limit, session::events(&opened));
        let pool = limit.as_ref().map(|limit| limit.pool(views_fit));
        let basis = Basis {
            config: session::config(options.threads, options.memory_limit),
            runtime: session::runtime(pool, remote)?,
            library: library.clone(),
            settings: settings.clone(),
            shares_views: views_fit && !options.shares_nothing,
            queries_only: options.queries_only,
            cluster: options.cluster.clone(),
        };
        let (context, catalog) = session::over(&opened, &basis, &options.relations)?;
        let traces: Vec<Manifest> = opened.iter().map(|trace| trace.manifest.clone()).collect();
        if let Some(cluster) = &options.cluster {
            catalog.compute_elsewhere(cluster.open(ClusterSession {
                traces: opened,
                library: library.clone(),
                settings: settings.clone(),
                sql: options.sql.clone(),
                rules: options.rules.clone(),
                state: context.state_weak_ref(),
            })?);
        } else if let Some(most) = trace_groups::most_at_once(&opened, &basis, options) {
            let state = context.state_weak_ref();
            let groups = TraceGroups::new(opened, basis.clone(), most, state);
            catalog.compute_elsewhere(Arc::new(groups));
        }
        Ok(Self {
            context,
            catalog,
            library,
            settings,
            traces,
            memory_limit: limit,
            shares_views: basis.shares_views,
            allow_files: options.allow_files,
            queries_and_views_only: options.queries_and_views_only,
            queries_only: options.queries_only,
        })
    }

    /// The views of the session, with their documentation.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The settings of the session.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The traces that are open.
    pub fn traces(&self) -> &[Manifest] {
        &self.traces
    }

    /// The rule for a store with a single trace; `None` for any other number of traces.
    fn constant_trace_id(&self) -> Option<ConstantTraceId> {
        match self.traces.as_slice() {
            [trace] => Some(ConstantTraceId::new(&trace.trace_id)),
            _ => None,
        }
    }

    /// Whether a view with several readers is computed once for all of them.
    pub fn shares_views(&self) -> bool {
        self.shares_views
    }

    /// Waits until the memory of earlier queries is returned to the system, if the process uses
    /// more than its limit. Gives up after a few seconds.
    pub async fn memory_settled(&self) {
        if let Some(limit) = &self.memory_limit {
            limit.settled().await;
        }
    }

    /// The DataFusion session, for features that this type does not offer.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// The statements of a text, in order. Columns of their results that have no name are named by
    /// their text.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>> {
        let mut statements: Vec<_> = statements::parse(sql).map_err(Error::from)?.into();
        statements.iter_mut().for_each(statements::name_columns);
        Ok(statements)
    }

    /// Runs one statement. Its result is produced while it is read.
    pub async fn run(
        &self,
        statement: Statement,
        parameters: &[(String, ScalarValue)],
    ) -> Result<SendableRecordBatchStream> {
        Ok(self.start(statement, parameters).await?.result)
    }

    /// Starts one statement. The returned plan counts the rows and bytes that it reads.
    pub async fn start(
        &self,
        statement: Statement,
        parameters: &[(String, ScalarValue)],
    ) -> Result<Started> {
        let mut started = self.start_all(vec![statement], parameters).await?;
        started.pop().ok_or_else(|| Error::Query("the query was not planned".into()))
    }

    /// Starts statements together, so that they compute shared views once. Their results can be
    /// read in any order, or concurrently.
    pub async fn start_all(
        &self,
        statements: Vec<Statement>,
        parameters: &[(String, ScalarValue)],
    ) -> Result<Vec<Started>> {
        for statement in &statements {
            statements::refuse(statement, self.queries_only, |name| self.catalog.owner(name))?;
        }
        self.plan_views_of(&statements);
        let mut plans = Vec::with_capacity(statements.len());
        for statement in statements {
            plans.push(self.logical_plan(statement, parameters).await?);
        }
        let state = self.context.state();
        let trace_id = self.constant_trace_id();
        // Workers of a cluster compute the views. With little memory, one thing runs at a time.
        let ahead = self.shares_views && self.catalog.elsewhere().is_none();
        let context = ahead.then(|| self.context.task_ctx());
        let plans = planning::physical_plans(plans, &state, trace_id, self.shares_views, context)?;
        let batch = self.catalog.elsewhere().map(|relations| relations.start_together(&plans));
        plans.into_iter().map(|plan| self.execute(plan, batch.clone())).collect()
    }

    /// Runs a plan. `batch` is kept until its result is read or dropped.
    fn execute(&self, plan: Arc<dyn ExecutionPlan>, batch: Option<Batch>) -> Result<Started> {
        let rows = utf8_results::utf8(execute_stream(plan.clone(), self.context.task_ctx())?);
        let rows = match batch {
            Some(batch) => cluster::keep(batch, rows),
            None => rows,
        };
        let result = match &self.memory_limit {
            Some(limit) => limit.enforce(rows),
            None => rows,
        };
        Ok(Started { result, plan })
    }

    /// Plans all views that the statements name. An error in a view is reported when its statement
    /// is planned.
    fn plan_views_of(&self, statements: &[Statement]) {
        let state = self.context.state();
        let references = statements
            .iter()
            .filter_map(|statement| state.resolve_table_references(statement).ok())
            .flatten();
        let names: Vec<String> = references.map(|reference| reference.table().to_owned()).collect();
        let _ = self.catalog.plan(&names.iter().map(String::as_str).collect::<Vec<_>>());
    }

    async fn logical_plan(
        &self,
        statement: Statement,
        parameters: &[(String, ScalarValue)],
    ) -> Result<LogicalPlan> {
        let plan = self.context.state().statement_to_plan(statement).await?;
        let plan = describe::with_sql_types(plan)?;
        // Only the module `output` writes results, so that a query cannot write files unnoticed.
        let allowed = SQLOptions::new().with_allow_dml(false);
        allowed.verify_plan(&plan)?;
        if self.queries_only {
            statements::refuse_all_but_queries(&plan)?;
        }
        if !self.allow_files {
            refuse_files(&plan)?;
        }
        if self.queries_and_views_only {
            refuse_tables(&plan)?;
        }
        let mut frame = self.context.execute_logical_plan(plan).await?;
        if !parameters.is_empty() {
            let values: HashMap<_, _> = parameters
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect();
            frame = frame.with_param_values(ParamValues::Map(values))?;
        }
        Ok(frame.into_unoptimized_plan())
    }
}

/// Refuses statements that use files outside the store.
fn refuse_files(plan: &LogicalPlan) -> Result<()> {
    let what = match plan {
        LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => {
            "CREATE EXTERNAL TABLE reads files outside the store"
        }
        LogicalPlan::Statement(PlanStatement::SetVariable(set))
            if set.variable.starts_with("datafusion.runtime.") =>
        {
            "settings of the runtime say where temporary files go and how much memory is taken"
        }
        _ => return Ok(()),
    };
    Err(Error::Query(format!("{what}; allow it with --allow-files")))
}

/// Refuses statements that define something else than views.
fn refuse_tables(plan: &LogicalPlan) -> Result<()> {
    match plan {
        LogicalPlan::Ddl(DdlStatement::CreateView(_) | DdlStatement::DropView(_)) => Ok(()),
        LogicalPlan::Ddl(ddl) => Err(Error::Query(format!(
            "{} is not allowed here; only queries and CREATE VIEW are",
            ddl.name()
        ))),
        _ => Ok(()),
    }
}

/// A running statement.
pub struct Started {
    /// Its result, produced while it is read.
    pub result: SendableRecordBatchStream,
    /// Its plan.
    pub plan: Arc<dyn ExecutionPlan>,
}

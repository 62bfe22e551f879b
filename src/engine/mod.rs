//! A DataFusion session over the traces of a store.

mod catalog;
mod cooperative;
mod settings;
mod system;
mod tables;
mod views;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::CatalogProvider;
use datafusion::catalog::MemoryCatalogProvider;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::datasource::MemTable;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{DdlStatement, LogicalPlan, Statement as PlanStatement};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParser, Statement};
use tracesql_ingest::{Manifest, Store};

use crate::error::{Error, Result};
use crate::library::Library;
use catalog::Catalog;
pub use settings::{Setting, Settings};
pub use system::documented;
use tables::StoreTables;

/// How queries run.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Number of threads; 0 stands for all cores.
    pub threads: usize,
    /// Bytes of memory that sorts, joins and aggregations may take before they go to disk; 0 for no limit.
    pub memory_limit: usize,
    /// Folders with views of the user, laid out like `sql/`.
    pub sql: Vec<PathBuf>,
    /// Settings to change.
    pub settings: Vec<(String, String)>,
    /// Whether statements may read files outside the store.
    pub allow_files: bool,
}

/// All functions that a session adds to SQL.
pub fn functions() -> Vec<tracesql_udfs::Function> {
    let mut all = tracesql_udfs::functions();
    all.extend(settings::functions(&Arc::default()));
    all
}

/// A session over traces of a store.
pub struct Engine {
    context: SessionContext,
    library: Arc<Library>,
    settings: Arc<Settings>,
    traces: Vec<Manifest>,
    allow_files: bool,
}

impl Engine {
    /// Opens all traces of a store, or those named.
    pub fn open(store: &Store, only: Option<&[String]>, options: &EngineOptions) -> Result<Self> {
        let mut traces = store.traces()?;
        if let Some(only) = only {
            traces.retain(|t: &Manifest| only.contains(&t.trace_id));
        }
        let folders = traces.iter().map(|t| store.trace_folder(&t.trace_id)).collect();
        Self::over(traces, folders, options)
    }

    /// A session whose tables are empty.
    pub fn without_store(options: &EngineOptions) -> Result<Self> {
        Self::over(Vec::new(), Vec::new(), options)
    }

    fn over(traces: Vec<Manifest>, folders: Vec<PathBuf>, options: &EngineOptions) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if options.threads == 0 { cores } else { options.threads };
        let mut config = SessionConfig::new()
            .with_information_schema(true)
            .with_default_catalog_and_schema("tracesql", "main")
            .with_create_default_catalog_and_schema(false)
            .with_target_partitions(threads);
        config.options_mut().execution.parquet.pushdown_filters = true;
        config.options_mut().sql_parser.enable_ident_normalization = true;
        // Errors say where in the statement.
        config.options_mut().sql_parser.collect_spans = true;
        let mut runtime = RuntimeEnvBuilder::new();
        if options.memory_limit > 0 {
            runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(options.memory_limit)));
            config.options_mut().execution.sort_spill_reservation_bytes = (options.memory_limit / 16).min(10 << 20);
        }
        let context = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
        let library = Arc::new(Library::load(&options.sql)?);
        let settings = Arc::new(Settings::of(&library)?);
        for (name, value) in &options.settings {
            if !settings.set(name, value) {
                return Err(Error::Usage(format!("{name} is no setting; `SELECT * FROM tracesql_settings` lists all")));
            }
        }
        let schema = Arc::new(Catalog::new(StoreTables::new(folders), library.clone(), settings.clone()));
        schema.attach(context.state_weak_ref());
        let catalog = MemoryCatalogProvider::new();
        catalog.register_schema("main", schema)?;
        context.register_catalog("tracesql", Arc::new(catalog));
        tracesql_udfs::register_with_rules(&context, library.name_rules().clone());
        for function in settings::functions(&settings) {
            if let tracesql_udfs::Call::Scalar(f) = function.call {
                context.register_udf(f.as_ref().clone());
            }
        }
        Ok(Self { context, library, settings, traces, allow_files: options.allow_files })
    }

    /// The views of the session and what documents them.
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

    /// The DataFusion session, for whatever this type does not offer.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Computes a view once for all queries of this session that follow, which is faster if they name it often.
    pub async fn keep_result(&self, view: &str) -> Result<()> {
        let frame = self.context.table(view).await?;
        let schema = frame.schema().inner().clone();
        let batches = frame.collect_partitioned().await?;
        self.context.deregister_table(view)?;
        self.context.register_table(view, Arc::new(MemTable::try_new(schema, batches)?))?;
        Ok(())
    }

    /// The statements of a text, in order.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>> {
        let statements = DFParser::parse_sql(sql).map_err(Error::from)?;
        Ok(statements.into())
    }

    /// Runs one statement; its result is produced while it is read.
    pub async fn run(&self, statement: Statement, parameters: &[(String, ScalarValue)]) -> Result<SendableRecordBatchStream> {
        Ok(self.start(statement, parameters).await?.result)
    }

    /// Starts one statement; with its plan, which counts what it reads.
    pub async fn start(&self, statement: Statement, parameters: &[(String, ScalarValue)]) -> Result<Started> {
        let plan = self.context.state().statement_to_plan(statement).await?;
        // Results are written by us, so that a query cannot write files behind the user's back.
        let allowed = SQLOptions::new().with_allow_dml(false);
        allowed.verify_plan(&plan)?;
        if !self.allow_files {
            refuse_files(&plan)?;
        }
        let mut frame = self.context.execute_logical_plan(plan).await?;
        if !parameters.is_empty() {
            let values: HashMap<_, _> = parameters.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
            frame = frame.with_param_values(ParamValues::Map(values))?;
        }
        let task = Arc::new(frame.task_ctx());
        let plan = cooperative::joins(frame.create_physical_plan().await?)?;
        Ok(Started { result: execute_stream(plan.clone(), task)?, plan })
    }
}

/// Refuses statements that reach for files outside the store.
fn refuse_files(plan: &LogicalPlan) -> Result<()> {
    let what = match plan {
        LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => "CREATE EXTERNAL TABLE reads files outside the store",
        LogicalPlan::Statement(PlanStatement::SetVariable(set)) if set.variable.starts_with("datafusion.runtime.") => {
            "settings of the runtime say where temporary files go and how much memory is taken"
        }
        _ => return Ok(()),
    };
    Err(Error::Query(format!("{what}; allow it with --allow-files")))
}

/// A statement that runs.
pub struct Started {
    /// Its result, produced while it is read.
    pub result: SendableRecordBatchStream,
    /// Its plan.
    pub plan: Arc<dyn ExecutionPlan>,
}

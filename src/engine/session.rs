//! Makes DataFusion sessions over traces: one for all traces that are open, and one for each group
//! of them whose views are computed together.

use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider, TableProvider};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};

use super::catalog::Catalog;
use super::cluster::{Cluster, OpenTrace};
use super::settings::{self, Settings};
use super::store_tables::{MANY_TRACES, StoreTables};
use super::{rules, summarize};
use crate::error::Result;
use crate::library::Library;
use crate::store::RemoteStore;

/// The bytes of Parquet footers that are kept while a store elsewhere is open.
const REMOTE_FOOTERS: usize = 256 << 20;
/// Changes of plans that save memory for each row pay off from this number of events on, and for
/// many traces. `findings` over 1 million events of one trace takes 8 % longer with them.
const MANY_EVENTS: u64 = 2_000_000;

/// Relations that replace tables of the store or views of the library, by name.
pub type Replaced = [(String, Arc<dyn TableProvider>)];

/// What the sessions over some traces and over groups of them have in common.
#[derive(Debug, Clone)]
pub struct Basis {
    pub config: SessionConfig,
    pub runtime: Arc<RuntimeEnv>,
    pub library: Arc<Library>,
    pub settings: Arc<Settings>,
    /// Whether rows of views with several readers are kept in memory.
    pub shares_views: bool,
    pub queries_only: bool,
    pub cluster: Option<Arc<dyn Cluster>>,
}

/// The configuration of all sessions.
pub fn config(threads: usize, memory_limit: usize) -> SessionConfig {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        .with_default_catalog_and_schema("tracesql", "main")
        .with_create_default_catalog_and_schema(false)
        .with_target_partitions(if threads == 0 { cores } else { threads })
        // The files of a store are small and expensive to decode.
        .with_repartition_file_min_size(1 << 20);
    config.options_mut().sql_parser.enable_ident_normalization = true;
    // A third pass changes nothing in `findings`, the largest query, and takes a fifth of its
    // planning time.
    config.options_mut().optimizer.max_passes = 2;
    // The rows of a shared view are planned apart. Where its expressions were rewritten,
    // DataFusion takes a column for nullable that the statement knows not to be: coalesce
    // becomes CASE. That is no error, but the check fails for an aggregate over it.
    config.options_mut().execution.skip_physical_aggregate_schema_check = true;
    // Errors contain their place in the statement.
    config.options_mut().sql_parser.collect_spans = true;
    if memory_limit > 0 {
        config.options_mut().execution.sort_spill_reservation_bytes =
            (memory_limit / 16).min(10 << 20);
    }
    config
}

/// What queries run in. Without a pool there is no limit of memory.
pub fn runtime(
    pool: Option<Arc<dyn MemoryPool>>,
    remote: &[Arc<dyn RemoteStore>],
) -> Result<Arc<RuntimeEnv>> {
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(pool) = pool {
        runtime = runtime.with_memory_pool(pool);
    }
    if !remote.is_empty() {
        // To read a footer again costs a request.
        runtime = runtime.with_metadata_cache_limit(REMOTE_FOOTERS);
    }
    let runtime = runtime.build_arc()?;
    for store in remote {
        let (url, objects) = store.objects();
        runtime.register_object_store(&url, objects);
    }
    Ok(runtime)
}

/// The number of events of some traces.
pub fn events<'t>(traces: impl IntoIterator<Item = &'t OpenTrace>) -> u64 {
    let tables = traces.into_iter().filter_map(|trace| trace.manifest.tables.get("events"));
    tables.map(|table| table.rows).sum()
}

/// A session over traces, and its relations.
pub fn over(
    traces: &[OpenTrace],
    basis: &Basis,
    replaced: &Replaced,
) -> Result<(SessionContext, Arc<Catalog>)> {
    let mut state = SessionStateBuilder::new()
        .with_config(basis.config.clone())
        .with_runtime_env(basis.runtime.clone())
        .with_default_features();
    for rule in basis.cluster.iter().flat_map(|cluster| cluster.optimizer_rules()) {
        state = state.with_optimizer_rule(rule);
    }
    // Parts of the plans of a cluster run elsewhere, where our operators are not known.
    let is_large =
        (events(traces) >= MANY_EVENTS || traces.len() >= MANY_TRACES) && basis.cluster.is_none();
    for rule in rules::physical(basis.queries_only, is_large) {
        state = state.with_physical_optimizer_rule(rule);
    }
    let mut context = SessionContext::new_with_state(state.build());
    let catalog = Arc::new(Catalog::new(
        StoreTables::new(
            traces.iter().map(|trace| (trace.files.clone(), trace.manifest.clone())).collect(),
            basis.shares_views && basis.cluster.is_none(),
        ),
        basis.library.clone(),
        basis.settings.clone(),
    ));
    catalog.attach(context.state_weak_ref());
    for (name, relation) in replaced {
        catalog.replace(name, relation.clone())?;
    }
    let schemas = MemoryCatalogProvider::new();
    schemas.register_schema("main", catalog.clone())?;
    context.register_catalog("tracesql", Arc::new(schemas));
    tracesql_udfs::register_with_rules(&mut context, basis.library.name_rules().clone())?;
    for planner in tracesql_udfs::relation_planners() {
        context.register_relation_planner(planner)?;
    }
    context.register_relation_planner(summarize::planner())?;
    for function in settings::functions(&basis.settings) {
        if let tracesql_udfs::Call::Scalar(f) = function.call {
            context.register_udf(f.as_ref().clone());
        }
    }
    Ok((context, catalog))
}

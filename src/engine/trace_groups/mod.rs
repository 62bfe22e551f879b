//! Computes views of single traces for some traces at a time.
//!
//! - Why: rules and reports keep rows of views for several readers, and joins and windows hold the
//!   rows of all traces at once. For a thousand traces, or a few large ones, that takes gigabytes.
//!   But a row of most views depends on a single trace ([`Scope`]), so the rows of a group of traces
//!   can be computed, handed on, and dropped before the next group.
//! - How: in a session over many events, such a view is a table ([`GroupedView`]) whose rows come
//!   from a session over each group. All scans of these tables in statements that start together
//!   are one [`Batch`](batch::Batch): each group is planned and read once for all of them. While a
//!   group is computed, the next one is planned.
//! - Measured: see "Many traces" in `bench/README.md`.
//! - Tables of the store and views with the scope of the store are read and computed as usual.

mod batch;
mod outlets;
mod scan;
mod view;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Weak};

use arrow::array::AsArray;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::plan_datafusion_err;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SessionState, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use parking_lot::RwLock;
use tracesql_ingest::schema;

use super::cluster::{OpenTrace, Relations};
use super::rules::constant_trace_id::ConstantTraceId;
use super::session::{self, Basis};
use super::{EngineOptions, planning};
use crate::library::{JOB_RANKS, Scope};
pub use view::passing_traces;
use view::{GroupQuery, GroupedView};

/// The most events of a group. With half as many, `findings` takes a seventh longer and as much
/// memory, because each group is planned.
const MOST_EVENTS: u64 = 2_000_000;
/// What planning and opening the files of a trace cost, as a number of events.
const EVENTS_OF_A_TRACE: u64 = 500;

/// The most events at once in a session, if its traces do not fit in one group. `None` for sessions
/// that share no views, because there is little memory: rows of groups that wait for several readers
/// would have to fit.
pub fn most_at_once(traces: &[OpenTrace], basis: &Basis, options: &EngineOptions) -> Option<u64> {
    // Rows that replace a relation may belong to any traces.
    if !basis.shares_views || !options.relations.is_empty() || traces.len() < 2 {
        return None;
    }
    let most = if options.events_at_once > 0 { options.events_at_once } else { MOST_EVENTS };
    (traces.iter().map(weight).sum::<u64>() > most).then_some(most)
}

/// What a trace contributes to the size of its group.
fn weight(trace: &OpenTrace) -> u64 {
    session::events([trace]) + EVENTS_OF_A_TRACE
}

/// The traces of a session, and how their groups are computed.
#[derive(Debug)]
pub struct TraceGroups(Arc<Groups>);

#[derive(Debug)]
struct Groups {
    traces: Vec<OpenTrace>,
    basis: Basis,
    most_at_once: u64,
    /// The session over all traces.
    all: Weak<RwLock<SessionState>>,
}

impl TraceGroups {
    /// Groups of traces with at most this number of events at once, or one trace each. `all` is the
    /// session over all traces.
    pub fn new(
        traces: Vec<OpenTrace>,
        basis: Basis,
        most_at_once: u64,
        all: Weak<RwLock<SessionState>>,
    ) -> Self {
        Self(Arc::new(Groups { traces, basis, most_at_once, all }))
    }
}

impl Relations for TraceGroups {
    fn table(&self, name: &str, scope: Scope, rows: SchemaRef) -> Option<Arc<dyn TableProvider>> {
        // The session over all traces reads the files of all traces.
        if schema::table(name).is_some() {
            return None;
        }
        Some(Arc::new(GroupedView::new(self.0.clone(), name, scope, rows)))
    }

    fn start_together(&self, plans: &[Arc<dyn ExecutionPlan>]) -> super::Batch {
        Arc::new(batch::Batch::of_plans(self.0.clone(), plans))
    }
}

/// The plans of a batch's queries over a group of traces.
struct Planned {
    plans: Vec<(usize, Arc<dyn ExecutionPlan>)>,
    context: Arc<TaskContext>,
}

impl Groups {
    /// The session over all traces.
    fn state(&self) -> Result<SessionState> {
        let state = self.all.upgrade();
        Ok(state.ok_or_else(|| plan_datafusion_err!("the session is closed"))?.read().clone())
    }

    /// Divides traces, given by their positions, into groups of about the same size.
    fn divide(&self, traces: &[usize]) -> Vec<Vec<usize>> {
        let weights: Vec<u64> = traces.iter().map(|&at| weight(&self.traces[at])).collect();
        let groups = divided(&weights, self.most_at_once);
        groups.into_iter().map(|group| traces[group].to_vec()).collect()
    }

    /// The rows of [`JOB_RANKS`] over all traces.
    async fn job_ranks(&self) -> Result<Vec<RecordBatch>> {
        let context = SessionContext::new_with_state(self.state()?);
        context.sql(&format!("SELECT * FROM {JOB_RANKS}")).await?.collect().await
    }

    /// Plans queries, given with their numbers, over a group of traces.
    async fn plan(
        &self,
        group: &[usize],
        queries: &[(usize, Arc<GroupQuery>)],
        job_ranks: &[RecordBatch],
    ) -> Result<Planned> {
        let traces: Vec<OpenTrace> = group.iter().map(|&at| self.traces[at].clone()).collect();
        let replaced = match job_ranks.first() {
            Some(first) => {
                let rows = of_traces(job_ranks, &traces)?;
                let rows = MemTable::try_new(first.schema(), vec![rows])?;
                vec![(JOB_RANKS.to_owned(), Arc::new(rows) as Arc<dyn TableProvider>)]
            }
            None => Vec::new(),
        };
        let (context, catalog) = session::over(&traces, &self.basis, &replaced)
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        let mut views: Vec<&str> = queries.iter().map(|(_, query)| query.view()).collect();
        views.sort_unstable();
        views.dedup();
        catalog.plan(&views)?;
        let mut plans = Vec::with_capacity(queries.len());
        for (_, query) in queries {
            plans.push(query.plan(&catalog).await?);
        }
        let only = match traces.as_slice() {
            [trace] => Some(ConstantTraceId::new(&trace.manifest.trace_id)),
            _ => None,
        };
        let state = context.state();
        let plans = planning::physical_plans(plans, &state, only, self.basis.shares_views, None)?;
        let numbers = queries.iter().map(|(number, _)| *number);
        Ok(Planned { plans: numbers.zip(plans).collect(), context: context.task_ctx() })
    }
}

/// The rows whose column `trace_id` names one of the traces.
fn of_traces(rows: &[RecordBatch], traces: &[OpenTrace]) -> Result<Vec<RecordBatch>> {
    let wanted: HashSet<&str> =
        traces.iter().map(|trace| trace.manifest.trace_id.as_str()).collect();
    let of_batch = rows.iter().map(|batch| {
        let ids = batch.column_by_name("trace_id").and_then(|ids| ids.as_string_view_opt());
        let ids = ids.ok_or_else(|| plan_datafusion_err!("{JOB_RANKS} has no trace_id"))?;
        let is_wanted = ids.iter().map(|id| Some(id.is_some_and(|id| wanted.contains(id))));
        Ok(filter_record_batch(batch, &is_wanted.collect())?)
    });
    of_batch.collect()
}

/// Divides items into ranges of about the same weight, none above `most` unless it is one item.
fn divided(weights: &[u64], most: u64) -> Vec<Range<usize>> {
    let all: u64 = weights.iter().sum();
    let target = all.div_ceil(all.div_ceil(most.max(1)).max(1));
    let (mut groups, mut start, mut now) = (Vec::new(), 0, 0);
    for (at, &weight) in weights.iter().enumerate() {
        if at > start && now + weight > target.max(1) {
            groups.push(start..at);
            (start, now) = (at, 0);
        }
        now += weight;
    }
    if start < weights.len() {
        groups.push(start..weights.len());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::divided;

    #[test]
    fn groups_have_about_the_same_size() {
        assert!(divided(&[], 10).is_empty());
        assert_eq!(divided(&[3, 3, 3, 3], 12).first(), Some(&(0..4)));
        assert_eq!(divided(&[3, 3, 3, 3], 9), [0..2, 2..4]);
        assert_eq!(divided(&[100, 1, 1, 100], 10), [0..1, 1..3, 3..4]);
        assert_eq!(divided(&[1; 5], 0), [0..1, 1..2, 2..3, 3..4, 4..5]);
        let groups = divided(&vec![7; 1000], 2_000);
        assert_eq!(groups.len(), 4);
        assert!(groups.iter().all(|group| group.len() == 250));
    }
}

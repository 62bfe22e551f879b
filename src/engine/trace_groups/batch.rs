//! Queries that run together, one group of traces after another.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::common::internal_datafusion_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::outlets::{Outlets, Receiver};
use super::scan::GroupScan;
use super::view::GroupQuery;
use super::{Groups, Planned};
use crate::engine::materialize::operators;
use crate::engine::scanned::{ROWS_SCANNED, Scanned};
use crate::engine::string_buffers;

/// Some queries, and the work on them. The work ends when this is dropped.
pub struct Batch(Arc<Shared>);

/// What the readers of a batch share.
#[derive(Debug)]
pub struct Shared {
    groups: Arc<Groups>,
    queries: Vec<Arc<GroupQuery>>,
    /// The number of scans that read each query.
    readers: Vec<usize>,
    counts: ExecutionPlanMetricsSet,
    run: Mutex<Run>,
}

#[derive(Debug)]
enum Run {
    /// No query was read yet.
    Idle,
    Going {
        receivers: Vec<Vec<Receiver>>,
        _work: SpawnedTask<()>,
    },
    /// It was stopped, because its rows are no longer read.
    Over,
}

impl Drop for Batch {
    fn drop(&mut self) {
        *self.0.run.lock() = Run::Over;
    }
}

impl Batch {
    /// Makes all queries of some plans a batch.
    pub fn of_plans(groups: Arc<Groups>, plans: &[Arc<dyn ExecutionPlan>]) -> Self {
        let scans: Vec<&GroupScan> = operators(plans);
        let (mut queries, mut readers) = (Vec::<Arc<GroupQuery>>::new(), Vec::new());
        let mut numbers = Vec::with_capacity(scans.len());
        for scan in &scans {
            let known = queries.iter().position(|known| known == scan.query());
            let number = known.unwrap_or_else(|| {
                queries.push(scan.query().clone());
                readers.push(0);
                queries.len() - 1
            });
            readers[number] += 1;
            numbers.push(number);
        }
        let counts = scans.first().map(|scan| scan.counts()).unwrap_or_default();
        let shared = Shared { groups, queries, readers, counts, run: Mutex::new(Run::Idle) };
        let batch = Self(Arc::new(shared));
        for (scan, number) in scans.into_iter().zip(numbers) {
            scan.join(batch.0.clone(), number);
        }
        batch
    }

    /// A batch of one query with one reader.
    pub fn of_one(groups: Arc<Groups>, scan: &GroupScan) -> Self {
        Self(Arc::new(Shared {
            groups,
            queries: vec![scan.query().clone()],
            readers: vec![1],
            counts: scan.counts(),
            run: Mutex::new(Run::Idle),
        }))
    }

    /// The rows of the only query. The batch ends with them.
    pub fn into_rows(self, context: &Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.0.rows(0, context);
        let rows = rows.ok_or_else(|| internal_datafusion_err!("a query was read twice"))?;
        let schema = rows.schema();
        let rows = rows.inspect(move |_| {
            let _ = &self;
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

impl Shared {
    /// The rows of a query for one of its readers. `None` if all its readers have theirs, or if the
    /// batch was stopped.
    pub fn rows(
        self: &Arc<Self>,
        number: usize,
        context: &Arc<TaskContext>,
    ) -> Option<SendableRecordBatchStream> {
        let mut run = self.run.lock();
        if matches!(*run, Run::Idle) {
            *run = self.start(context);
        }
        let Run::Going { receivers, .. } = &mut *run else { return None };
        let receiver = receivers.get_mut(number)?.pop()?;
        Some(receiver.rows(self.queries[number].schema().clone()))
    }

    fn start(&self, context: &Arc<TaskContext>) -> Run {
        let schemas = self.queries.iter().map(|query| query.schema().clone()).collect();
        let (outlets, receivers) = Outlets::new(schemas, &self.readers, context);
        let work = Work {
            groups: self.groups.clone(),
            queries: self.queries.clone(),
            counts: self.counts.clone(),
        };
        let work = SpawnedTask::spawn(async move {
            let done = work.run(&outlets).await;
            outlets.end(done).await;
        });
        Run::Going { receivers, _work: work }
    }
}

struct Work {
    groups: Arc<Groups>,
    queries: Vec<Arc<GroupQuery>>,
    counts: ExecutionPlanMetricsSet,
}

impl Work {
    /// Computes all queries, group by group, and hands out their rows.
    async fn run(&self, outlets: &Outlets) -> Result<()> {
        let needs_jobs = self.queries.iter().any(|query| query.needs_jobs());
        let job_ranks = if needs_jobs { self.groups.job_ranks().await? } else { Vec::new() };
        let job_ranks = Arc::new(job_ranks);
        let traces: BTreeSet<usize> =
            self.queries.iter().flat_map(|query| query.traces()).copied().collect();
        let traces: Vec<usize> = traces.into_iter().collect();
        let mut groups = self.groups.divide(&traces).into_iter();
        let mut next = groups.next().map(|group| self.plan(group, &job_ranks));
        while let Some(planning) = next {
            let planned = planning
                .join()
                .await
                .map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??;
            next = groups.next().map(|group| self.plan(group, &job_ranks));
            self.compute(planned, outlets).await?;
            if outlets.are_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Starts to plan a group. Planning takes a while, so it has a thread of its own.
    fn plan(
        &self,
        group: Vec<usize>,
        job_ranks: &Arc<Vec<RecordBatch>>,
    ) -> SpawnedTask<Result<Planned>> {
        let (groups, job_ranks) = (self.groups.clone(), job_ranks.clone());
        let is_of = |query: &GroupQuery| query.traces().iter().any(|at| group.contains(at));
        let queries: Vec<(usize, Arc<GroupQuery>)> =
            self.queries.iter().cloned().enumerate().filter(|(_, query)| is_of(query)).collect();
        let runtime = Handle::current();
        SpawnedTask::spawn_blocking(move || {
            runtime.block_on(groups.plan(&group, &queries, &job_ranks))
        })
    }

    async fn compute(&self, planned: Planned, outlets: &Outlets) -> Result<()> {
        let context = planned.context;
        let plans: Vec<_> = planned.plans.iter().map(|(_, plan)| plan.clone()).collect();
        for (number, plan) in planned.plans {
            if outlets.is_closed(number) {
                continue;
            }
            let query = &self.queries[number];
            let mut rows = string_buffers::stream(execute_stream(plan, context.clone())?);
            if outlets.is_direct() {
                while let Some(batch) = rows.next().await {
                    outlets.pass(number, query.fit(&batch?)?).await;
                }
                continue;
            }
            let mut waiting = outlets.waiting(number);
            while let Some(batch) = rows.next().await {
                waiting.add(query.fit(&batch?)?).await?;
            }
            waiting.finish().await?;
        }
        let read = Scanned::of_all(&plans);
        MetricBuilder::new(&self.counts).counter(ROWS_SCANNED, 0).add(read.rows);
        MetricBuilder::new(&self.counts).counter("bytes_scanned", 0).add(read.bytes);
        Ok(())
    }
}

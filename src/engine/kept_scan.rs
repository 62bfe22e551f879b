//! The operator that scans columns which are read once for several scans.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{SchedulingType, reset_plan_states};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

use super::kept_columns::KeptColumns;

/// A scan of some columns. It has the partitions, the rows and their order of `alone`, a scan of
/// the files, and it runs `alone` if no other scan reads any of its columns.
#[derive(Debug)]
pub struct KeptScanExec {
    table: &'static str,
    alone: Arc<dyn ExecutionPlan>,
    columns: Vec<usize>,
    kept: Arc<KeptColumns>,
    properties: Arc<PlanProperties>,
    statistics: Arc<Statistics>,
    metrics: ExecutionPlanMetricsSet,
    run: Mutex<Option<Run>>,
}

/// How the operator runs, which all partitions have in common.
#[derive(Debug)]
struct Run {
    /// `None` if the files are read by this scan alone.
    reader: Option<Arc<Reader>>,
    /// The number of partitions that have not started.
    left: usize,
}

/// A scan that has not ended.
#[derive(Debug)]
struct Reader {
    kept: Arc<KeptColumns>,
    columns: Vec<usize>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.kept.release(&self.columns);
    }
}

impl KeptScanExec {
    /// Scans columns of a table.
    pub fn new(
        table: &'static str,
        alone: Arc<dyn ExecutionPlan>,
        columns: Vec<usize>,
        kept: Arc<KeptColumns>,
    ) -> Result<Self> {
        let statistics =
            StatisticsContext::new().compute(alone.as_ref(), &StatisticsArgs::new())?;
        let properties = alone.properties().as_ref().clone();
        let properties = Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative));
        let metrics = ExecutionPlanMetricsSet::new();
        let run = Mutex::default();
        Ok(Self { table, alone, columns, kept, properties, statistics, metrics, run })
    }

    /// Decides for all partitions how the operator runs. The returned reader is kept until each
    /// partition has ended.
    fn start_partition(&self) -> Option<Arc<Reader>> {
        let mut run = self.run.lock();
        let mut now = run.take().unwrap_or_else(|| Run {
            reader: self.kept.are_shared(&self.columns).then(|| {
                Arc::new(Reader { kept: self.kept.clone(), columns: self.columns.clone() })
            }),
            left: self.alone.output_partitioning().partition_count(),
        });
        now.left = now.left.saturating_sub(1);
        let reader = now.reader.clone();
        *run = (now.left > 0).then_some(now);
        reader
    }
}

impl DisplayAs for KeptScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "KeptScanExec: table={}, columns=[{}]", self.table, names.join(", "))
    }
}

impl ExecutionPlan for KeptScanExec {
    fn name(&self) -> &'static str {
        "KeptScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.alone.schema()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() {
            Ok(self)
        } else {
            internal_err!("{} has no children", self.name())
        }
    }

    // A recursive query runs its plan once per iteration, and a scan of files only once as it is.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            table: self.table,
            alone: reset_plan_states(self.alone.clone())?,
            columns: self.columns.clone(),
            kept: self.kept.clone(),
            properties: self.properties.clone(),
            statistics: self.statistics.clone(),
            metrics: self.metrics.clone(),
            run: Mutex::default(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let counted = BaselineMetrics::new(&self.metrics, partition);
        let bytes = MetricBuilder::new(&self.metrics).counter("bytes_scanned", partition);
        let Some(reader) = self.start_partition() else {
            return self.alone.execute(partition, context);
        };
        let columns = self.kept.columns(&self.columns, &context, &bytes)?;
        let schema = self.schema();
        let of = schema.clone();
        let batches = async move {
            let mut arrays = Vec::with_capacity(columns.len());
            for column in columns {
                arrays.push(column.arrays(partition).await?);
            }
            let count = arrays.first().map_or(0, Vec::len);
            if arrays.iter().any(|of_one| of_one.len() != count) {
                return internal_err!("columns of a table were read from different rows");
            }
            let batches = (0..count).map(move |at| {
                // The reader ends with the batches.
                let _ = &reader;
                let columns = arrays.iter().map(|of_one| of_one[at].clone()).collect();
                Ok(RecordBatch::try_new(of.clone(), columns)?)
            });
            Ok::<_, DataFusionError>(stream::iter(batches))
        };
        let rows = stream::once(batches).try_flatten().inspect(move |batch| {
            if let Ok(batch) = batch {
                counted.record_output(batch.num_rows());
            }
        });
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut all = self.metrics.clone_inner();
        for metric in self.alone.metrics().iter().flat_map(MetricsSet::iter) {
            all.push(metric.clone());
        }
        Some(all)
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(match args.partition() {
            None => self.statistics.clone(),
            Some(_) => Arc::new(Statistics::new_unknown(&self.schema())),
        })
    }
}

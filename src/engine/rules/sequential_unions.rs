//! Reads the inputs of larger unions one after another.
//!
//! - Why: DataFusion runs all partitions of all inputs of a union at the same time. `findings`
//!   unites dozens of queries, so that the joins, sorts and windows of all of them lie in memory
//!   together, although only as many can make progress as there are cores.
//! - Measured (2 cores), together with rows of shared views that are dropped after their last
//!   reader: `findings` over 1,000 traces takes 3.9 instead of 5.7 GB, over 5 million events of one
//!   trace 1.8 instead of 2.4 GB. Time is the same within the noise.
//! - Remove when DataFusion limits how many inputs of a union run at the same time. No upstream
//!   issue is known.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{AcrossPartitions, Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};

/// The rule. It replaces unions without an order that have more partitions than there are threads.
#[derive(Debug)]
pub struct SequentialUnions;

impl PhysicalOptimizerRule for SequentialUnions {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        options: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let threads = options.execution.target_partitions;
        let sequential = plan.transform_up(|node| {
            // Where partitions have an order or constants of their own, or hold the rows of some
            // hashes, readers may rely on it.
            let is_free = node.is::<UnionExec>()
                && node.output_ordering().is_none()
                && has_no_constants_of_partitions(&node)
                && matches!(node.output_partitioning(), Partitioning::UnknownPartitioning(n)
                    if *n > threads);
            Ok(match is_free {
                true => Transformed::yes(Arc::new(SequentialUnionExec::new(&node, threads))),
                false => Transformed::no(node),
            })
        });
        Ok(sequential?.data)
    }

    fn name(&self) -> &'static str {
        "SequentialUnions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn has_no_constants_of_partitions(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let constants = plan.equivalence_properties().constants();
    constants.iter().all(|constant| constant.across_partitions != AcrossPartitions::Heterogeneous)
}

/// A union whose partitions each read some partitions of the inputs, one after another.
#[derive(Debug)]
struct SequentialUnionExec {
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl SequentialUnionExec {
    fn new(union: &Arc<dyn ExecutionPlan>, partitions: usize) -> Self {
        let inputs = union.children().into_iter().cloned().collect();
        Self::over(inputs, union.schema(), partitions, union.properties())
    }

    fn over(
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        schema: SchemaRef,
        partitions: usize,
        like: &PlanProperties,
    ) -> Self {
        let properties = PlanProperties::new(
            like.eq_properties.clone(),
            Partitioning::UnknownPartitioning(partitions),
            like.emission_type,
            like.boundedness,
        );
        let properties = properties.with_scheduling_type(SchedulingType::Cooperative);
        Self { inputs, schema, properties: Arc::new(properties) }
    }

    fn partitions(&self) -> usize {
        self.properties.output_partitioning().partition_count()
    }
}

impl DisplayAs for SequentialUnionExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SequentialUnionExec: partitions={}", self.partitions())
    }
}

impl ExecutionPlan for SequentialUnionExec {
    fn name(&self) -> &'static str {
        "SequentialUnionExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
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
        if children.len() != self.inputs.len() {
            return internal_err!("{} has {} children", self.name(), self.inputs.len());
        }
        Ok(Arc::new(Self::over(children, self.schema.clone(), self.partitions(), &self.properties)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let all = self.inputs.iter().flat_map(|input| {
            let partitions = input.output_partitioning().partition_count();
            (0..partitions).map(|partition| (input.clone(), partition))
        });
        let own: Vec<_> = all.skip(partition).step_by(self.partitions()).collect();
        // The streams of an input start when those before it have ended.
        let rows = stream::iter(own)
            .map(move |(input, partition)| input.execute(partition, context.clone()))
            .try_flatten();
        let rows = RecordBatchStreamAdapter::new(self.schema.clone(), rows);
        Ok(make_cooperative(Box::pin(rows)))
    }

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::new(Statistics::new_unknown(&self.schema)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use arrow::record_batch::RecordBatch;
    use datafusion::common::config::ConfigOptions;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::execution::TaskContext;
    use datafusion::physical_expr::LexOrdering;
    use datafusion::physical_expr::PhysicalSortExpr;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_optimizer::PhysicalOptimizerRule;
    use datafusion::physical_plan::sorts::sort::SortExec;
    use datafusion::physical_plan::union::UnionExec;
    use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, collect};

    use super::SequentialUnions;

    /// Two partitions, each with a row.
    fn input(value: i64) -> Arc<dyn ExecutionPlan> {
        let batch = |value| {
            let values: Int64Array = [value].into_iter().collect();
            RecordBatch::try_from_iter([("n", Arc::new(values) as _)]).expect("a batch")
        };
        let partitions = [vec![batch(value)], vec![batch(-value)]];
        let schema = partitions[0][0].schema();
        MemorySourceConfig::try_new_exec(&partitions, schema, None).expect("a plan")
    }

    fn optimized(union: Arc<dyn ExecutionPlan>, threads: usize) -> Arc<dyn ExecutionPlan> {
        let mut options = ConfigOptions::new();
        options.execution.target_partitions = threads;
        SequentialUnions.optimize(union, &options).expect("a plan")
    }

    #[tokio::test]
    async fn a_union_has_as_many_partitions_as_threads_and_all_rows() {
        let union = UnionExec::try_new((1..=5).map(input).collect()).expect("a union");
        assert_eq!(union.output_partitioning().partition_count(), 10);
        for threads in [1, 3, 10] {
            let sequential = optimized(union.clone(), threads);
            assert_eq!(sequential.output_partitioning().partition_count(), threads);
            assert_eq!(sequential.is::<UnionExec>(), threads == 10);
            let rows = collect(sequential, Arc::new(TaskContext::default())).await.expect("rows");
            let mut values: Vec<i64> = rows
                .iter()
                .flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec())
                .collect();
            values.sort_unstable();
            assert_eq!(values, [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5], "{threads} threads");
        }
    }

    #[test]
    fn a_union_with_an_order_stays_as_it_is() {
        let sorted = |value| {
            let input = input(value);
            let by = PhysicalSortExpr::new_default(col("n", &input.schema()).expect("a column"));
            let order = LexOrdering::new([by]).expect("an order");
            let sorted = SortExec::new(order, input).with_preserve_partitioning(true);
            Arc::new(sorted) as Arc<dyn ExecutionPlan>
        };
        let union = UnionExec::try_new((1..=5).map(sorted).collect()).expect("a union");
        assert!(optimized(union, 1).is::<UnionExec>());
    }
}

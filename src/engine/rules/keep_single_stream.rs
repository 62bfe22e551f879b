//! Keeps ordered rows that are already in one stream in that stream.
//!
//! - Why: DataFusion distributes rows over all cores where it can, and merges them again where
//!   their order is needed. Between two windows over one partition that copies all columns twice
//!   for a few cheap expressions.
//! - Measured: `findings` over 1 million kernels takes 4.8 instead of 5.0 CPU seconds, which is
//!   about the noise (2 cores, medians of 5 runs).
//! - Remove when DataFusion leaves out the repartitioning and the merge: apache/datafusion#21349,
//!   #4368.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::Partitioning;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary,
};

/// The rule. It removes merges of rows that were in one stream before.
#[derive(Debug)]
pub struct KeepSingleStream;

impl PhysicalOptimizerRule for KeepSingleStream {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = plan.transform_up(|node| {
            let Some(merge) = node
                .downcast_ref::<SortPreservingMergeExec>()
                .filter(|merge| merge.fetch().is_none())
            else {
                return Ok(Transformed::no(node));
            };
            Ok(match without_repartition(merge.input())? {
                Some(input)
                    if input.equivalence_properties().ordering_satisfy(merge.expr().clone())? =>
                {
                    Transformed::yes(input)
                }
                _ => Transformed::no(node),
            })
        })?;
        Ok(kept.data)
    }

    fn name(&self) -> &'static str {
        "KeepSingleStream"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The plan without a round-robin repartitioning of a single stream below its cheap operators;
/// `None` if there is no such repartitioning.
fn without_repartition(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(repartition) = plan.downcast_ref::<RepartitionExec>() {
        let is_round_robin = matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_));
        let input = repartition.input();
        let is_single_stream = input.output_partitioning().partition_count() == 1;
        return Ok((is_round_robin && is_single_stream).then(|| input.clone()));
    }
    if !plan.is::<ProjectionExec>() && !plan.is::<FilterExec>() {
        return Ok(None);
    }
    match plan.children().as_slice() {
        [input] => without_repartition(input)?
            .map(|input| replace_children_if_necessary(plan.clone(), vec![input]))
            .transpose(),
        _ => Ok(None),
    }
}

//! Ordered rows that are in one stream stay in it.
//!
//! The engine deals rows out to all cores where it can, and merges them again where their order is
//! needed. Between two windows over one partition that is two copies of all columns for a few cheap
//! expressions.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary,
};

/// The plan without merges of what was one stream before.
pub fn streams(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let kept = plan.transform_up(|node| {
        let Some(merge) =
            node.downcast_ref::<SortPreservingMergeExec>().filter(|merge| merge.fetch().is_none())
        else {
            return Ok(Transformed::no(node));
        };
        Ok(match undealt(merge.input())? {
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

/// A plan without the dealing out below its cheap operators.
fn undealt(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(deal) = plan.downcast_ref::<RepartitionExec>() {
        let is_dealt = matches!(deal.partitioning(), Partitioning::RoundRobinBatch(_));
        return Ok((is_dealt && deal.input().output_partitioning().partition_count() == 1)
            .then(|| deal.input().clone()));
    }
    if !plan.is::<ProjectionExec>() && !plan.is::<FilterExec>() {
        return Ok(None);
    }
    match plan.children().as_slice() {
        [input] => undealt(input)?
            .map(|input| replace_children_if_necessary(plan.clone(), vec![input]))
            .transpose(),
        _ => Ok(None),
    }
}

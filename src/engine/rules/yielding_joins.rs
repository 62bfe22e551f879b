//! Makes joins yield to the runtime, so that a query can be stopped while a join multiplies rows.
//!
//! - Why: DataFusion's operators yield where they read. A join makes rows from input that it has
//!   already read, for hours if need be, and cannot be stopped until it yields.
//! - Measured: no cost. With and without the rule, `findings` and `operators` over 1 million
//!   kernels take the same CPU time (2 cores, medians of 4 and 5 runs).
//! - Remove when DataFusion's joins yield: apache/datafusion#19358.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
    SymmetricHashJoinExec,
};

/// The rule.
#[derive(Debug)]
pub struct YieldingJoins;

impl PhysicalOptimizerRule for YieldingJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let yielding = plan.transform_up(|node| {
            if is_join(node.as_ref()) {
                return Ok(Transformed::yes(Arc::new(CooperativeExec::new(node))));
            }
            // The plan may contain another plan to which this rule was already applied.
            if let Some(outer) = node.downcast_ref::<CooperativeExec>()
                && outer.input().is::<CooperativeExec>()
            {
                return Ok(Transformed::yes(outer.input().clone()));
            }
            Ok(Transformed::no(node))
        });
        Ok(yielding?.data)
    }

    fn name(&self) -> &'static str {
        "YieldingJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether an operator is one of DataFusion's joins.
pub fn is_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>()
        || plan.is::<NestedLoopJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<SymmetricHashJoinExec>()
        || plan.is::<PiecewiseMergeJoinExec>()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::Schema;
    use datafusion::common::config::ConfigOptions;
    use datafusion::physical_optimizer::PhysicalOptimizerRule;
    use datafusion::physical_plan::displayable;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::joins::CrossJoinExec;

    use super::YieldingJoins;

    #[test]
    fn a_plan_that_goes_through_the_rule_twice_yields_once() {
        let empty = || Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
        let join = Arc::new(CrossJoinExec::new(empty(), empty()));
        let options = ConfigOptions::new();
        let once = YieldingJoins.optimize(join, &options).expect("a plan");
        let twice = YieldingJoins.optimize(once.clone(), &options).expect("a plan");
        let text = |plan| displayable(plan).indent(false).to_string();
        assert!(text(once.as_ref()).starts_with("CooperativeExec\n  CrossJoinExec\n"));
        assert_eq!(text(once.as_ref()), text(twice.as_ref()));
    }
}

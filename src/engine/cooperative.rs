//! Plans that can be stopped while they multiply rows.
//!
//! The engine gives way to others where it reads. A join makes rows out of what it has read
//! already, for hours if need be, and until it gives way nobody can stop it.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;

/// The plan with joins that give way.
pub fn joins(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let wrapped = plan.transform_up(|node| {
        if node.name().contains("Join") {
            Ok(Transformed::yes(Arc::new(CooperativeExec::new(node))))
        } else {
            Ok(Transformed::no(node))
        }
    });
    Ok(wrapped?.data)
}

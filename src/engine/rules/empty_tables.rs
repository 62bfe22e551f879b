//! Removes scans of tables without rows, and what returns no rows because of them.
//!
//! - Why: every store has every table, and most traces fill only a few. A trace without a GPU has
//!   no kernels. Views read the empty tables too, and for small traces planning takes longer than
//!   running the plan.
//! - Measured: see `bench/README.md`, "Planning".
//! - Remove when DataFusion takes a table whose statistics state zero rows for an empty relation
//!   before it optimizes. No upstream issue is known.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan, TableScan};
use datafusion::optimizer::propagate_empty_relation::PropagateEmptyRelation;
use datafusion::optimizer::{AnalyzerRule, OptimizerContext, OptimizerRule};

use crate::engine::store_tables::StoreTable;

/// The rule.
#[derive(Debug)]
pub struct EmptyTables;

impl AnalyzerRule for EmptyTables {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        without_empty_tables(plan)
    }

    fn name(&self) -> &'static str {
        "empty_tables"
    }
}

/// The plan without what returns no rows. Views must already be in their places.
pub fn without_empty_tables(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut is_found = false;
    let replaced = plan.transform_down_with_subqueries(|node| {
        is_found |= has_no_rows(&node);
        match &node {
            LogicalPlan::TableScan(scan) if reads_nothing(scan) => {
                is_found = true;
                Ok(Transformed::yes(no_rows_of(scan)))
            }
            _ => Ok(Transformed::no(node)),
        }
    })?;
    if !is_found {
        return Ok(replaced.data);
    }
    // Subqueries stay as they are: without its correlated columns, a subquery would no longer match
    // the statement around it.
    let (rule, context) = (PropagateEmptyRelation::new(), OptimizerContext::new());
    let propagated = replaced.data.transform_up(|node| match &node {
        LogicalPlan::Distinct(_) | LogicalPlan::Unnest(_)
            if node.inputs().into_iter().all(has_no_rows) =>
        {
            let schema = node.schema().clone();
            Ok(Transformed::yes(LogicalPlan::EmptyRelation(EmptyRelation {
                produce_one_row: false,
                schema,
            })))
        }
        _ => rule.rewrite(node, &context),
    })?;
    Ok(propagated.data)
}

/// Whether a plan is the relation without rows.
pub fn has_no_rows(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::EmptyRelation(relation) if !relation.produce_one_row)
}

/// What replaces a scan that returns no rows.
pub fn no_rows_of(scan: &TableScan) -> LogicalPlan {
    LogicalPlan::EmptyRelation(EmptyRelation {
        produce_one_row: false,
        schema: scan.projected_schema.clone(),
    })
}

fn reads_nothing(scan: &TableScan) -> bool {
    let table = source_as_provider(&scan.source);
    table.is_ok_and(|table| table.downcast_ref::<StoreTable>().is_some_and(StoreTable::is_empty))
}

//! Branches of unions become views, so that they are planned side by side.
//!
//! A view over dozens of others is one plan, and the engine plans a plan on one core.

use std::sync::Arc;

use datafusion::common::HashSet;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableScanBuilder};

use super::super::views::PlannedView;
use super::view_of;

/// From how many branches on planning side by side is worth it.
const MANY: usize = 4;

/// A plan that names the branches of its larger unions.
pub fn named(plan: LogicalPlan) -> Result<LogicalPlan> {
    let (mut has_union, mut is_recursive) = (false, false);
    plan.apply_with_subqueries(|node| {
        is_recursive |= matches!(node, LogicalPlan::RecursiveQuery(_));
        has_union |= count(node) >= MANY;
        Ok(TreeNodeRecursion::Continue)
    })?;
    // What a recursive query reads of itself is in no other plan.
    if is_recursive || !has_union {
        return Ok(plan);
    }
    let named = plan.transform_down_with_subqueries(|node| match count(&node) {
        0..MANY => Ok(Transformed::no(node)),
        _ => Ok(Transformed::new(in_branches(node)?, true, TreeNodeRecursion::Jump)),
    })?;
    Ok(named.data)
}

/// The number of branches; the parser nests unions of two.
fn count(plan: &LogicalPlan) -> usize {
    match plan {
        LogicalPlan::Union(union) => union.inputs.iter().map(|input| count(input).max(1)).sum(),
        LogicalPlan::Projection(projection) => count(&projection.input),
        _ => 0,
    }
}

fn in_branches(plan: LogicalPlan) -> Result<LogicalPlan> {
    let replaced = plan.map_children(|input| {
        Ok(Transformed::yes(match count(&input) {
            0 => branch(named(input)?)?,
            _ => in_branches(input)?,
        }))
    })?;
    Ok(replaced.data)
}

fn branch(input: LogicalPlan) -> Result<LogicalPlan> {
    let schema = input.schema().clone();
    let names: HashSet<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let stands_alone = names.len() == schema.fields().len() && input.all_out_ref_exprs().is_empty();
    let Some(name) = dear(&input)?.filter(|_| stands_alone) else { return Ok(input) };
    let view = PlannedView::branch(&name, input);
    let scan = LogicalPlan::TableScan(
        TableScanBuilder::new(name, provider_as_source(Arc::new(view))).build()?,
    );
    let columns = scan.schema().columns().into_iter().zip(schema.columns());
    let columns: Vec<Expr> = columns
        .map(|(column, shown)| Expr::Column(column).alias_qualified(shown.relation, shown.name))
        .collect();
    LogicalPlanBuilder::from(scan).project(columns)?.build()
}

/// What to call a plan that does more than to read and pick rows: a view that it reads, if there is
/// one.
fn dear(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut name = None;
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => {
                if let Some(view) = view_of(scan) {
                    name = Some(view.name().to_owned());
                    return Ok(TreeNodeRecursion::Stop);
                }
            }
            LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Distinct(_) => {
                name.get_or_insert_with(|| "branch".to_owned());
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(name)
}

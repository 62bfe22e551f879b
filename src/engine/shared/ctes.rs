//! Queries of a `WITH` that are named more than once become views, so that they are computed once
//! like those.
//!
//! The parser writes such a query into each place that names it; here the copies are found again,
//! as they are equal.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::{LogicalPlan, SubqueryAlias, TableScanBuilder};

use super::super::views::PlannedView;

/// A plan that names what it repeats.
pub fn named(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut places: HashMap<SubqueryAlias, usize> = HashMap::new();
    let mut is_recursive = false;
    plan.apply_with_subqueries(|node| {
        is_recursive |= matches!(node, LogicalPlan::RecursiveQuery(_));
        if let LogicalPlan::SubqueryAlias(alias) = node
            && is_dear(&alias.input)?
        {
            *places.entry(alias.clone()).or_default() += 1;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    places.retain(|_, count| *count > 1);
    // What a recursive query reads of itself is in no other place.
    if places.is_empty() || is_recursive {
        return Ok(plan);
    }
    Repeated { places, views: HashMap::new() }.replaced(plan)
}

/// Whether a plan does more than to read and pick rows, and for itself alone.
fn is_dear(plan: &LogicalPlan) -> Result<bool> {
    let mut is_dear = false;
    plan.apply_with_subqueries(|node| {
        is_dear |= matches!(
            node,
            LogicalPlan::Aggregate(_)
                | LogicalPlan::Window(_)
                | LogicalPlan::Join(_)
                | LogicalPlan::Distinct(_)
        );
        Ok(if is_dear { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(is_dear && plan.all_out_ref_exprs().is_empty())
}

struct Repeated {
    places: HashMap<SubqueryAlias, usize>,
    views: HashMap<SubqueryAlias, PlannedView>,
}

impl Repeated {
    fn replaced(&mut self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let replaced = plan.transform_down_with_subqueries(|node| match &node {
            LogicalPlan::SubqueryAlias(alias) if self.places.contains_key(alias) => {
                let view = self.view(alias)?;
                let scan =
                    TableScanBuilder::new(alias.alias.clone(), provider_as_source(Arc::new(view)))
                        .build()?;
                Ok(Transformed::new(LogicalPlan::TableScan(scan), true, TreeNodeRecursion::Jump))
            }
            _ => Ok(Transformed::no(node)),
        })?;
        Ok(replaced.data)
    }

    fn view(&mut self, alias: &SubqueryAlias) -> Result<PlannedView> {
        if let Some(view) = self.views.get(alias) {
            return Ok(view.clone());
        }
        let body = self.replaced(alias.input.as_ref().clone())?;
        let view = PlannedView::new(&alias.alias.to_string(), body);
        self.views.insert(alias.clone(), view.clone());
        Ok(view)
    }
}

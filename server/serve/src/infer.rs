//! Types of parameters that the planner does not find out: those of LIMIT and OFFSET, of casts, and
//! lists.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};

/// Functions whose first argument is a list of what their second one is.
const LIST_FIRST: &[&str] = &["array_has", "array_contains", "list_contains", "list_has"];

/// The types of all parameters of a plan by their name with `$`; `None` where none is known.
pub fn parameter_types(plan: &LogicalPlan) -> Result<HashMap<String, Option<DataType>>> {
    let mut types = plan.get_parameter_types()?;
    if types.values().all(|t| t.as_ref().is_some_and(|t| *t != DataType::Null)) {
        return Ok(types);
    }
    let mut found: Vec<(String, DataType)> = Vec::new();
    let mut casts: Vec<(String, DataType)> = Vec::new();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Limit(limit) = node {
            let counts = [&limit.skip, &limit.fetch].into_iter().flatten();
            found.extend(counts.filter_map(|e| Some((parameter(e)?, DataType::Int64))));
        }
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(call) = expr
                    && LIST_FIRST.contains(&call.name())
                    && let [list, item, ..] = &call.args[..]
                    && let Some(name) = parameter(list)
                    && let Some(input) = node.inputs().first()
                    && let Ok(item) = item.get_type(input.schema())
                {
                    let item = Arc::new(Field::new_list_field(item, true));
                    found.push((name, DataType::List(item)));
                }
                if let Expr::Cast(cast) = expr
                    && let Expr::Placeholder(placeholder) = cast.expr.as_ref()
                {
                    casts.push((placeholder.id.clone(), cast.field.data_type().clone()));
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    // As in PostgreSQL, a parameter within a cast has the type of the cast, unless more is known.
    for (name, data_type) in casts {
        let known = types.entry(name).or_default();
        if known.as_ref().is_none_or(|known| *known == DataType::Null) {
            *known = Some(data_type);
        }
    }
    for (name, data_type) in found {
        types.insert(name, Some(data_type));
    }
    Ok(types)
}

/// The name of a parameter, also within a cast that the planner added.
fn parameter(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Placeholder(placeholder) => Some(placeholder.id.clone()),
        Expr::Cast(cast) => parameter(&cast.expr),
        _ => None,
    }
}

//! Functions with one relation that only use its intervals.

use std::sync::Arc;

use datafusion_common::{NullHandling, Result, ScalarValue, UnnestOptions};
use datafusion_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion_functions::core::expr_fn::get_field;
use datafusion_functions_aggregate::expr_fn::{max, min};

use super::Relation;
use super::arguments::{Arguments, column};
use super::gaps::gaps_function;
use super::groups::{key, key_columns, keys};
use crate::intervals::aggregate::Measure;

/// The name of the list column between the aggregation and the rows.
pub const LIST: &str = "__list";

/// Converts the list of an aggregate to rows: merged intervals, or intervals with the number of
/// open ones.
pub fn listed(relation: Relation, arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let input = arguments.input();
    let by = arguments.by(&input)?;
    let [start, end] = arguments.times(["start", "end"], &input)?;
    let measure = if relation == Relation::Merge { Measure::Merge } else { Measure::OverlapCount };
    let list = measure.function().call(vec![column(&start), column(&end)]).alias(LIST);
    let plan = LogicalPlanBuilder::from(input).aggregate(keys(&by, &start), [list])?;
    let mut columns = key_columns(&by);
    columns.extend([field("start").alias(start), field("end").alias(end)]);
    if measure == Measure::OverlapCount {
        columns.push(field("open"));
    }
    rows(plan, columns)
}

/// Finds the gaps between merged intervals, including those up to the bounds of the group if there
/// are any.
pub fn gaps(arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let input = arguments.input();
    let by = arguments.by(&input)?;
    let [start, end] = arguments.times(["start", "end"], &input)?;
    let none = || lit(ScalarValue::Int64(None));
    let from = min(arguments.expression("from", &input)?.unwrap_or_else(none)).alias("__from");
    let to = max(arguments.expression("to", &input)?.unwrap_or_else(none)).alias("__to");
    let merged =
        Measure::Merge.function().call(vec![column(&start), column(&end)]).alias("__merged");
    let list = Arc::new(gaps_function())
        .call(vec![column("__merged"), column("__from"), column("__to")])
        .alias(LIST);
    let plan = LogicalPlanBuilder::from(input).aggregate(keys(&by, &start), [merged, from, to])?;
    let plan = plan.project((0..by.len()).map(|i| column(&key(i))).chain([list]))?;
    let mut columns = key_columns(&by);
    columns.extend([field("start").alias(start), field("end").alias(end)]);
    rows(plan, columns)
}

/// Refers to a field of the list's elements.
pub fn field(name: &str) -> Expr {
    get_field(column(LIST), name).alias(name)
}

/// Converts the elements of the lists to rows with these columns.
pub fn rows(plan: LogicalPlanBuilder, columns: Vec<Expr>) -> Result<LogicalPlan> {
    let options = UnnestOptions { null_handling: NullHandling::Drop, recursions: vec![] };
    plan.unnest_column_with_options(LIST, options)?.project(columns)?.build()
}

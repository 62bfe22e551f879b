//! Functions that keep the other columns of their rows. Both sides are combined into one relation
//! and collected by group.

use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue, plan_err};
use datafusion_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};

use super::arguments::{Arguments, column, has_column, names};
use super::collect::Collect;
use super::groups::{key, key_columns, keys};
use super::result_rows::Operation;
use super::single::{LIST, field, rows};

/// One side of a call.
struct Side {
    plan: LogicalPlan,
    times: [String; 2],
    id: Option<String>,
    /// The columns that are kept in the result.
    columns: Vec<String>,
}

/// Finds the innermost interval at each instant.
pub fn flatten(arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let plan = arguments.input();
    let by = arguments.by(&plan)?;
    let times = arguments.times(["start", "end"], &plan)?;
    let id = id_column(arguments, &plan)?;
    let output = names(&plan);
    let columns = carried(&plan, &by, &times);
    let side = Side { plan, times, id, columns };
    let (plan, fields) = collected(arguments.function, Operation::Flatten, &by, &side, None)?;
    rows(plan, same_columns(&output, &by, &side, &fields))
}

/// Finds the parts of the first relation's intervals that the second relation does not cover.
pub fn subtract(arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let (a, b) = (arguments.input(), arguments.input());
    let (by, [a_times, b_times]) = both(arguments, &a, &b)?;
    let output = names(&a);
    let columns = carried(&a, &by, &a_times);
    let left = Side { plan: a, times: a_times, id: None, columns };
    let right = Side { plan: b, times: b_times, id: None, columns: vec![] };
    let (plan, fields) =
        collected(arguments.function, Operation::Subtract, &by, &left, Some(&right))?;
    rows(plan, same_columns(&output, &by, &left, &fields))
}

/// Finds the pairs of intervals that overlap.
pub fn intersect(arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let (a, b) = (arguments.input(), arguments.input());
    let (by, [a_times, b_times]) = both(arguments, &a, &b)?;
    let [start, end] = a_times.clone();
    let (a_columns, b_columns) = (carried(&a, &by, &[]), carried(&b, &by, &[]));
    let left = Side { plan: a, times: a_times, id: None, columns: a_columns };
    let right = Side { plan: b, times: b_times, id: None, columns: b_columns };
    let (plan, fields) =
        collected(arguments.function, Operation::Intersect, &by, &left, Some(&right))?;
    let mut output = key_columns(&by);
    output.extend([field("start").alias(start), field("end").alias(end)]);
    let names = left
        .columns
        .iter()
        .map(|c| format!("a_{c}"))
        .chain(right.columns.iter().map(|c| format!("b_{c}")));
    output.extend(fields.iter().zip(names).map(|(f, name)| field(f).alias(name)));
    rows(plan, output)
}

/// Joins each row of the first relation with the latest row of the second one that is not later.
pub fn asof(arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
    let (left, right) = (arguments.input(), arguments.input());
    let (left_by, _) = (arguments.by(&left)?, arguments.by(&right)?);
    let left_time = time_column(arguments, "left_time", &left)?;
    let right_time = time_column(arguments, "right_time", &right)?;
    let id = id_column(arguments, &right)?;
    let output = names(&left);
    let (left_columns, right_columns) =
        (carried(&left, &left_by, &[]), carried(&right, &left_by, &[]));
    let left =
        Side { plan: left, times: [left_time.clone(), left_time], id: None, columns: left_columns };
    let right =
        Side { plan: right, times: [right_time.clone(), right_time], id, columns: right_columns };
    let (plan, fields) =
        collected(arguments.function, Operation::Asof, &left_by, &left, Some(&right))?;
    let mut columns =
        same_columns(&output, &left_by, &Side { times: Default::default(), ..left }, &fields);
    let right_fields = &fields[fields.len() - right.columns.len()..];
    columns.extend(
        right_fields
            .iter()
            .zip(&right.columns)
            .map(|(f, name)| field(f).alias(format!("right_{name}"))),
    );
    rows(plan, columns)
}

fn both(
    arguments: &mut Arguments<'_>,
    a: &LogicalPlan,
    b: &LogicalPlan,
) -> Result<(Vec<String>, [[String; 2]; 2])> {
    let by = arguments.by(a)?;
    arguments.by(b)?;
    let a_times = arguments.times(["start", "end"], a)?;
    // The column names given for the first relation also apply to the second one, unless other
    // names are given or the second relation has no such column.
    let mut of_b = ["b_start", "b_end"];
    for (name, (own, time)) in of_b.iter_mut().zip(["start", "end"].into_iter().zip(&a_times)) {
        if !arguments.has(name) && arguments.has(own) && has_column(b, time) {
            *name = own;
        }
    }
    let b_times = arguments.times(of_b, b)?;
    Ok((by, [a_times, b_times]))
}

fn id_column(arguments: &mut Arguments<'_>, plan: &LogicalPlan) -> Result<Option<String>> {
    let id = match arguments.column("id", plan)? {
        None if has_column(plan, "event_id") => Some("event_id".to_owned()),
        named => named,
    };
    if let Some(id) = &id {
        arguments.check_integer(id, plan)?;
    }
    Ok(id)
}

fn time_column(
    arguments: &mut Arguments<'_>,
    argument: &str,
    plan: &LogicalPlan,
) -> Result<String> {
    let time = match arguments.column(argument, plan)? {
        Some(time) => time,
        None => {
            match ["ts_ns", "start_ns", "start"].into_iter().find(|name| has_column(plan, name)) {
                Some(time) => time.to_owned(),
                None => {
                    let (function, known) = (arguments.function, names(plan).join(", "));
                    return plan_err!(
                        "{function}: which column is the time? There is no ts_ns among {known}; \
                         write {argument} => column"
                    );
                }
            }
        }
    };
    arguments.check_integer(&time, plan)?;
    Ok(time)
}

fn carried(plan: &LogicalPlan, by: &[String], times: &[String]) -> Vec<String> {
    names(plan).into_iter().filter(|name| !by.contains(name) && !times.contains(name)).collect()
}

fn by_name(position: usize) -> String {
    format!("__by{position}")
}

/// Selects the columns of the left input, with the new start and end in place of the old ones.
fn same_columns(output: &[String], by: &[String], left: &Side, fields: &[String]) -> Vec<Expr> {
    let column = |name: &String| {
        if let Some(i) = by.iter().position(|b| b == name) {
            column(&key(i))
        } else if *name == left.times[0] {
            field("start")
        } else if *name == left.times[1] {
            field("end")
        } else {
            let at = left.columns.iter().position(|c| c == name).and_then(|i| fields.get(i));
            field(at.map_or("", |f| f))
        }
    };
    output.iter().map(|name| column(name).alias(name)).collect()
}

/// Collects the rows of both sides by group into a list. Also returns the names of the fields that
/// hold their columns.
fn collected(
    function: &'static str,
    operation: Operation,
    by: &[String],
    left: &Side,
    right: Option<&Side>,
) -> Result<(LogicalPlanBuilder, Vec<String>)> {
    let mut plan = LogicalPlanBuilder::from(side_rows(by, left, false, &[], right)?);
    if let Some(right) = right {
        plan = plan.union(side_rows(by, right, true, std::slice::from_ref(&left), None)?)?;
    }
    let count = left.columns.len() + right.map_or(0, |r| r.columns.len());
    let fields: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
    let collect = Collect::function(function, operation, left.columns.len(), count);
    let mut arguments: Vec<Expr> = ["__right", "__start", "__end", "__id"].map(column).into();
    arguments.extend(fields.iter().map(|f| column(&format!("__{f}"))));
    let groups: Vec<String> = (0..by.len()).map(by_name).collect();
    let plan = plan.aggregate(keys(&groups, "__start"), [collect.call(arguments).alias(LIST)])?;
    Ok((plan, fields))
}

/// Converts one side to the common form: groups, side, times, id, and the columns of both sides.
/// The columns of the other side are NULL.
fn side_rows(
    by: &[String],
    side: &Side,
    is_right: bool,
    before: &[&Side],
    after: Option<&Side>,
) -> Result<LogicalPlan> {
    let time = |name: &String| cast(column(name), DataType::Int64);
    let mut columns: Vec<Expr> =
        by.iter().enumerate().map(|(i, name)| column(name).alias(by_name(i))).collect();
    columns.push(lit(is_right).alias("__right"));
    columns.push(time(&side.times[0]).alias("__start"));
    columns.push(time(&side.times[1]).alias("__end"));
    columns.push(side.id.as_ref().map_or(lit(ScalarValue::Int64(None)), time).alias("__id"));
    let mut carried = Vec::new();
    for other in before {
        carried.extend(nulls(other)?);
    }
    carried.extend(side.columns.iter().map(|name| column(name)));
    if let Some(other) = after {
        carried.extend(nulls(other)?);
    }
    columns.extend(carried.into_iter().enumerate().map(|(i, expr)| expr.alias(format!("__c{i}"))));
    LogicalPlanBuilder::from(side.plan.clone()).project(columns)?.build()
}

fn nulls(side: &Side) -> Result<Vec<Expr>> {
    let null = |name: &String| {
        Ok(lit(ScalarValue::try_from(
            side.plan.schema().field_with_unqualified_name(name)?.data_type(),
        )?))
    };
    side.columns.iter().map(null).collect()
}

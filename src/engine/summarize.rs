//! `summarize((query))`, a relation with one row for each column of a query. `SUMMARIZE t` is
//! another way to write it.
//!
//! A call becomes an ordinary plan: an aggregate with one row, whose values are then put into lists
//! and the lists are unnested. So the query is read once, whatever the number of its columns is.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, NullHandling, ScalarValue, UnnestOptions, plan_err};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::{
    approx_distinct, approx_median, avg, count, max, min,
};
use datafusion::functions_nested::expr_fn::make_array;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, FunctionArg, FunctionArgExpr, ObjectName, ObjectNamePart, TableFactor,
};
use tracesql_udfs::{Call, Function, FunctionDoc};

use crate::library::sql_type;

const NAME: &str = "summarize";

const DOC: FunctionDoc = FunctionDoc {
    name: NAME,
    area: "statistics",
    signature: "FROM summarize((query)) → column_name, column_type, count, nulls, \
                approx_distinct, min, max, mean, approx_median",
    summary: "One row for each column of a query, with counts, bounds and averages.",
    detail: "SUMMARIZE name and SUMMARIZE query are shorter ways to write it. count is the number \
             of values that are not NULL, nulls that of the others. approx_distinct is the \
             approximate number of distinct values. min and max are texts. mean and approx_median \
             are DOUBLE, so whole numbers above 2^53 are rounded.",
    nulls: "min and max are NULL without values and for lists and structs; mean and approx_median \
            are NULL without values and for columns that are not numbers.",
    errors: "Anything but one query or one name of a relation.",
    examples: &[tracesql_udfs::Example {
        sql: "SELECT column_name, column_type, count, nulls, min, max, mean FROM \
              summarize((SELECT * FROM (VALUES (1, 'b'), (4, 'a'), (NULL, 'a')) AS t(n, s)))",
        answer: "n | BIGINT | 2 | 1 | 1 | 4 | 2.5\ns | VARCHAR | 3 | 0 | a | b | NULL",
    }],
};

/// The function with its documentation.
pub fn function() -> Function {
    Function { call: Call::Relation(planner()), doc: DOC }
}

/// The planner of the function.
pub fn planner() -> Arc<dyn RelationPlanner> {
    Arc::new(Summarize)
}

#[derive(Debug)]
struct Summarize;

impl RelationPlanner for Summarize {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (args, alias) = match relation {
            TableFactor::Table { name, alias, args: Some(args), .. } if is_named(&name) => {
                (args.args, alias)
            }
            TableFactor::Function { name, args, alias, .. } if is_named(&name) => (args, alias),
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        let plan = summary(&input(args, context)?)?;
        let plan = match alias {
            Some(_) => plan,
            None => LogicalPlanBuilder::from(plan).alias(NAME)?.build()?,
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

fn is_named(name: &ObjectName) -> bool {
    matches!(name.0.as_slice(), [part] if part.as_ident().is_some_and(
        |ident| ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case(NAME)
    ))
}

/// The plan of the only argument.
fn input(args: Vec<FunctionArg>, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
    let table = |name: ObjectName| TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints: vec![],
        version: None,
        with_ordinality: false,
        partitions: vec![],
        json_path: None,
        sample: None,
        index_hints: vec![],
    };
    let mut args = args.into_iter();
    let relation = match (args.next(), args.next()) {
        (Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))), None) => match argument {
            SqlExpr::Subquery(subquery) => {
                TableFactor::Derived { lateral: false, subquery, alias: None, sample: None }
            }
            SqlExpr::Identifier(name) => table(ObjectName(vec![ObjectNamePart::Identifier(name)])),
            other => return plan_err!("{NAME}: {other} is not a query; write {NAME}((SELECT …))"),
        },
        _ => return plan_err!("{NAME} takes one query: {NAME}((SELECT …))"),
    };
    let plan = context.plan(relation)?;
    if !plan.all_out_ref_exprs().is_empty() {
        return plan_err!("{NAME}: its query cannot use columns of the outer query");
    }
    Ok(plan)
}

/// The plan with one row for each column of the input.
fn summary(input: &LogicalPlan) -> Result<LogicalPlan> {
    let mut aggregates = vec![count(lit(1_i64)).alias("rows")];
    let mut lists: [Vec<Expr>; COLUMNS.len()] = Default::default();
    for (number, (qualifier, field)) in input.schema().iter().enumerate() {
        let column = || Expr::Column(Column::from((qualifier, field)));
        let data_type = field.data_type();
        let mut values = vec![lit(field.name().clone()), lit(sql_type(data_type))];
        let mut aggregate = |what: &str, expr: Expr| {
            let name = format!("{what}_{number}");
            aggregates.push(expr.alias(&name));
            Expr::Column(Column::new_unqualified(name))
        };
        let filled = aggregate("count", count(column()));
        values.push(filled.clone());
        values.push(Expr::Column(Column::new_unqualified("rows")) - filled);
        let distinct = match data_type.is_floating() {
            // The engine has no approximate number of distinct values for floating point.
            true => approx_distinct(cast(column(), DataType::Utf8)),
            false => approx_distinct(column()),
        };
        values.push(cast(aggregate("distinct", distinct), DataType::Int64));
        if data_type.is_nested() || *data_type == DataType::Null {
            values.extend([text(None), text(None)]);
        } else {
            values.push(cast(aggregate("min", min(column())), DataType::Utf8));
            values.push(cast(aggregate("max", max(column())), DataType::Utf8));
        }
        if data_type.is_numeric() {
            let number = || cast(column(), DataType::Float64);
            values.push(aggregate("mean", avg(number())));
            values.push(aggregate("median", approx_median(number())));
        } else {
            values.extend([lit(ScalarValue::Float64(None)), lit(ScalarValue::Float64(None))]);
        }
        lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
    let lists = lists.into_iter().zip(COLUMNS).map(|(list, name)| make_array(list).alias(name));
    let columns = COLUMNS.iter().map(|name| Column::new_unqualified(*name)).collect();
    let options = UnnestOptions { null_handling: NullHandling::Drop, recursions: vec![] };
    LogicalPlanBuilder::from(input.clone())
        .aggregate(Vec::<Expr>::new(), aggregates)?
        .project(lists)?
        .unnest_columns_with_options(columns, options)?
        .build()
}

const COLUMNS: [&str; 9] = [
    "column_name",
    "column_type",
    "count",
    "nulls",
    "approx_distinct",
    "min",
    "max",
    "mean",
    "approx_median",
];

fn text(value: Option<String>) -> Expr {
    lit(ScalarValue::Utf8(value))
}

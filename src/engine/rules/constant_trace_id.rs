//! In a store with a single trace, removes `trace_id` from the keys of windows, groups, sorts and
//! joins.
//!
//! Scans produce the value as a literal. Nodes above them remove the column from their keys and
//! project the literal into their output.
//!
//! - Why: views name `trace_id` in every window, group and join, so that they answer for any number
//!   of traces. With one trace, each of these would carry, hash and compare the same text for every
//!   row.
//! - Measured: `operators` over 1 million kernels takes 1.25 instead of 1.49 CPU seconds (2 cores,
//!   medians of 5 runs). When the rule was introduced, together with `repeated_queries`, texts read
//!   as views and parallel planning, `operators` over 1 million events went from 1.23 to 0.56 s
//!   and `comparison` from 11.6 to 1.5 s.
//! - Remove when DataFusion drops constants from all of these keys: apache/datafusion#9612 covers
//!   those of sorts.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{
    Column, JoinConstraint, JoinType, Result, ScalarValue, get_required_group_by_exprs_indices,
};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Join, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Sort,
    TableScan, Unnest, Window, lit, when,
};
use datafusion::optimizer::AnalyzerRule;

use crate::engine::materialize::SharedView;
use crate::engine::store_tables::StoreTable;

/// The columns of a plan that have the same value in every row.
pub type Constants = HashSet<Column>;

/// The rule, with the value of `trace_id` in all rows.
#[derive(Debug)]
pub struct ConstantTraceId {
    value: ScalarValue,
}

impl AnalyzerRule for ConstantTraceId {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(self.fold(plan)?.0)
    }

    fn name(&self) -> &'static str {
        "constant_trace_id"
    }
}

impl ConstantTraceId {
    /// Creates the rule for a store whose only trace has this ID.
    pub fn new(trace_id: &str) -> Self {
        Self { value: ScalarValue::Utf8View(Some(trace_id.to_owned())) }
    }

    /// Returns an equivalent plan without the value in its keys, and the columns that hold the
    /// value. Views must already be in their places.
    pub fn fold(&self, plan: LogicalPlan) -> Result<(LogicalPlan, Constants)> {
        self.without_keys(self.with_literal_scans(plan)?)
    }

    /// The plan with scans that produce the value as a literal.
    fn with_literal_scans(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let replaced = plan.transform_down_with_subqueries(|node| {
            let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
            let constants = constants_of(scan);
            if constants.is_empty() {
                return Ok(Transformed::no(node));
            }
            let columns = node.schema().columns().into_iter();
            let columns: Vec<Expr> = columns
                .map(|column| match constants.contains(&column) {
                    true => self.literal().alias_qualified(column.relation, column.name),
                    false => Expr::Column(column),
                })
                .collect();
            let node = LogicalPlanBuilder::from(node).project(columns)?.build()?;
            Ok(Transformed::new(node, true, TreeNodeRecursion::Jump))
        })?;
        Ok(replaced.data)
    }

    fn without_keys(&self, plan: LogicalPlan) -> Result<(LogicalPlan, Constants)> {
        // Without the value, the input would no longer show which of these keys follow from others,
        // so the input stays as it is.
        if let LogicalPlan::Aggregate(aggregate) = &plan
            && has_implied_keys(aggregate)
        {
            let (_, known) = self.without_keys(aggregate.input.as_ref().clone())?;
            let constants = constant_keys(aggregate, &known);
            return Ok((plan, constants));
        }
        let mut known = Vec::new();
        // The columns of each input stay the same, and so does the schema of the plan.
        let plan = plan.map_children(|input| {
            let (input, constants) = self.without_keys(input)?;
            known.push(constants);
            Ok(Transformed::yes(input))
        })?;
        let plan = plan.data;
        if known.iter().all(HashSet::is_empty) && !matches!(plan, LogicalPlan::Projection(_)) {
            return Ok((plan, Constants::new()));
        }
        match plan {
            LogicalPlan::Projection(projection) => self.projection(projection, &known[0]),
            LogicalPlan::Filter(mut filter) => {
                filter.predicate = self.with_literal(filter.predicate, &known[0])?;
                Ok((LogicalPlan::Filter(filter), known.swap_remove(0)))
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate, &known[0]),
            LogicalPlan::Window(window) => {
                Ok((self.window(window, &known[0])?, known.swap_remove(0)))
            }
            LogicalPlan::Sort(sort) => Ok((self.sort(sort, &known[0]), known.swap_remove(0))),
            LogicalPlan::Join(join) => self.join(join, &known[0], &known[1]),
            LogicalPlan::Limit(_) | LogicalPlan::Distinct(_) | LogicalPlan::Repartition(_) => {
                Ok((plan, known.swap_remove(0)))
            }
            LogicalPlan::SubqueryAlias(_) | LogicalPlan::Union(_) => {
                let constants = by_position(&plan, &known);
                Ok((plan, constants))
            }
            LogicalPlan::Unnest(unnest) => {
                let constants = constants_of_unnest(&unnest, &known[0]);
                Ok((LogicalPlan::Unnest(unnest), constants))
            }
            other => Ok((other, Constants::new())),
        }
    }

    fn literal(&self) -> Expr {
        Expr::Literal(self.value.clone(), None)
    }

    fn is_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Literal(value, _) => *value == self.value,
            Expr::Alias(alias) => self.is_value(&alias.expr),
            _ => false,
        }
    }

    /// The expression with the literal in place of constant columns.
    fn with_literal(&self, expr: Expr, known: &Constants) -> Result<Expr> {
        let replaced = expr.transform(|e| match &e {
            Expr::Column(column) if known.contains(column) => Ok(Transformed::yes(self.literal())),
            _ => Ok(Transformed::no(e)),
        })?;
        Ok(replaced.data)
    }

    fn projection(
        &self,
        projection: Projection,
        known: &Constants,
    ) -> Result<(LogicalPlan, Constants)> {
        let projection = match known.is_empty() {
            true => projection,
            false => {
                let names = NamePreserver::new_for_projection();
                let mut exprs = Vec::with_capacity(projection.expr.len());
                for expr in projection.expr {
                    let name = names.save(&expr);
                    exprs.push(name.restore(self.with_literal(expr, known)?));
                }
                Projection::try_new_with_schema(exprs, projection.input, projection.schema)?
            }
        };
        let columns = projection.schema.columns().into_iter().zip(&projection.expr);
        let constants =
            columns.filter(|(_, expr)| self.is_value(expr)).map(|(column, _)| column).collect();
        Ok((LogicalPlan::Projection(projection), constants))
    }

    fn aggregate(
        &self,
        aggregate: Aggregate,
        known: &Constants,
    ) -> Result<(LogicalPlan, Constants)> {
        if aggregate.group_expr.is_empty() {
            return Ok((without_distinct_counts(aggregate, known)?, Constants::new()));
        }
        let constants = constant_keys(&aggregate, known);
        let keys: Vec<Expr> =
            aggregate.group_expr.iter().filter(|e| !is_constant(e, known)).cloned().collect();
        // An aggregate without keys returns one row even if it has no input.
        if constants.is_empty()
            || keys.is_empty()
            || matches!(aggregate.group_expr.as_slice(), [Expr::GroupingSet(_)])
        {
            return Ok((LogicalPlan::Aggregate(aggregate), constants));
        }
        let columns = aggregate.schema.columns();
        let without = Aggregate::try_new(aggregate.input, keys, aggregate.aggr_expr)?;
        let shown = columns.into_iter().map(|column| match constants.contains(&column) {
            true => self.literal().alias_qualified(column.relation, column.name),
            false => Expr::Column(column),
        });
        let shown =
            Projection::try_new(shown.collect(), Arc::new(LogicalPlan::Aggregate(without)))?;
        Ok((LogicalPlan::Projection(shown), constants))
    }

    fn window(&self, window: Window, known: &Constants) -> Result<LogicalPlan> {
        let names = NamePreserver::new_for_projection();
        let is_constant = |e: &Expr| matches!(e, Expr::Column(column) if known.contains(column));
        let mut exprs = Vec::with_capacity(window.window_expr.len());
        for expr in window.window_expr {
            let name = names.save(&expr);
            let bare = match expr {
                Expr::Alias(alias) => *alias.expr,
                other => other,
            };
            exprs.push(name.restore(match bare {
                Expr::WindowFunction(mut function) => {
                    let WindowFunction { params, .. } = function.as_mut();
                    params.partition_by.retain(|e| !is_constant(e));
                    // A frame by range needs an order, even if all rows are equal in it.
                    if !params.order_by.iter().all(|by| is_constant(&by.expr)) {
                        params.order_by.retain(|by| !is_constant(&by.expr));
                    }
                    Expr::WindowFunction(function)
                }
                other => other,
            }));
        }
        Ok(LogicalPlan::Window(Window::try_new(exprs, window.input)?))
    }

    fn sort(&self, mut sort: Sort, known: &Constants) -> LogicalPlan {
        let is_constant = |e: &Expr| matches!(e, Expr::Column(column) if known.contains(column));
        if !sort.expr.iter().all(|by| is_constant(&by.expr)) {
            sort.expr.retain(|by| !is_constant(&by.expr));
        }
        LogicalPlan::Sort(sort)
    }

    fn join(
        &self,
        join: Join,
        left: &Constants,
        right: &Constants,
    ) -> Result<(LogicalPlan, Constants)> {
        let mut constants = Constants::new();
        // Rows that an outer join adds have NULL in the columns of the other side.
        if matches!(
            join.join_type,
            JoinType::Inner
                | JoinType::Left
                | JoinType::LeftSemi
                | JoinType::LeftAnti
                | JoinType::LeftMark
        ) {
            constants.extend(left.iter().cloned());
        }
        if matches!(
            join.join_type,
            JoinType::Inner
                | JoinType::Right
                | JoinType::RightSemi
                | JoinType::RightAnti
                | JoinType::RightMark
        ) {
            constants.extend(right.iter().cloned());
        }
        if join.join_constraint == JoinConstraint::Using || join.null_aware {
            return Ok((LogicalPlan::Join(join), constants));
        }
        let is_constant = |e: &Expr| match e {
            Expr::Column(column) => left.contains(column) || right.contains(column),
            _ => false,
        };
        let (always_on, mut on): (Vec<_>, Vec<_>) =
            join.on.iter().cloned().partition(|(l, r)| is_constant(l) && is_constant(r));
        let parts = join.filter.clone().map(split_conjunction_owned).unwrap_or_default();
        let (always, mut parts): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| match part {
                Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
                    is_constant(left) && is_constant(right)
                }
                _ => false,
            });
        let has_key = !on.is_empty() || parts.iter().any(|part| is_key(part, &join));
        // Every row is paired with the only row of `traces`.
        if !has_key
            && parts.is_empty()
            && join.join_type == JoinType::Inner
            && (reads_traces(&join.left) || reads_traces(&join.right))
        {
            return Ok((cross_joined(join)?, constants));
        }
        // A join without a key would compare all pairs of rows.
        if !has_key {
            on.extend(always_on);
            parts.extend(always);
        }
        let join = Join::try_new(
            join.left,
            join.right,
            on,
            conjunction(parts),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?;
        Ok((LogicalPlan::Join(join), constants))
    }
}

/// The columns of a scan that hold the ID of the only trace in every row.
fn constants_of(scan: &TableScan) -> Constants {
    let Ok(table) = source_as_provider(&scan.source) else { return Constants::new() };
    let is_constant = |name: &str| {
        let of_view = table.downcast_ref::<SharedView>().map(|view| view.is_constant(name));
        of_view.unwrap_or_else(|| table.is::<StoreTable>() && name == "trace_id")
    };
    let columns = scan.projected_schema.columns().into_iter();
    columns.filter(|column| is_constant(&column.name)).collect()
}

/// The columns of an aggregate whose keys are constant in its input.
fn constant_keys(aggregate: &Aggregate, known: &Constants) -> Constants {
    let keys = aggregate.group_expr.iter().zip(aggregate.schema.columns());
    keys.filter(|(e, _)| is_constant(e, known)).map(|(_, column)| column).collect()
}

/// Whether an expression is a constant column, perhaps with another name.
fn is_constant(expr: &Expr, known: &Constants) -> bool {
    match expr {
        Expr::Column(column) => known.contains(column),
        Expr::Alias(alias) => is_constant(&alias.expr, known),
        _ => false,
    }
}

/// An aggregate of all rows in which `count(DISTINCT column)` of a constant column is 1 or 0, by
/// the number of rows. DataFusion answers it from the statistics of the literal, which has one
/// distinct value even where no row holds it.
fn without_distinct_counts(aggregate: Aggregate, known: &Constants) -> Result<LogicalPlan> {
    let columns = aggregate.schema.columns();
    let mut exprs = Vec::with_capacity(columns.len());
    let mut shown = Vec::with_capacity(columns.len());
    for (expr, column) in aggregate.aggr_expr.iter().zip(columns) {
        let Some(count) = plain_count(expr, known) else {
            exprs.push(expr.clone());
            shown.push(Expr::Column(column));
            continue;
        };
        let rows = format!("rows of {}", column.name);
        exprs.push(count.alias(&rows));
        let is_any = Expr::Column(Column::from_name(rows)).gt(lit(0_i64));
        let one_or_zero = when(is_any, lit(1_i64)).otherwise(lit(0_i64))?;
        shown.push(one_or_zero.alias_qualified(column.relation, column.name));
    }
    if exprs == aggregate.aggr_expr {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let counted = Aggregate::try_new(aggregate.input, Vec::new(), exprs)?;
    let counted = Arc::new(LogicalPlan::Aggregate(counted));
    Ok(LogicalPlan::Projection(Projection::try_new(shown, counted)?))
}

/// `count(column)` for `count(DISTINCT column)` of a constant column.
fn plain_count(expr: &Expr, known: &Constants) -> Option<Expr> {
    let Expr::AggregateFunction(function) = expr else { return None };
    let [Expr::Column(column)] = function.params.args.as_slice() else { return None };
    let is_replaced = function.func.name() == "count" && function.params.distinct;
    if !is_replaced || !known.contains(column) {
        return None;
    }
    let mut function = function.clone();
    function.params.distinct = false;
    Some(Expr::AggregateFunction(function))
}

/// Whether some keys follow from others by the functional dependencies of the input. The SQL
/// planner adds such keys, which the query does not name, and DataFusion drops them later if
/// nothing reads them. Above `unnest` the dependency does not hold, so such a key would split
/// groups if it stayed.
fn has_implied_keys(aggregate: &Aggregate) -> bool {
    let names: Vec<String> =
        aggregate.group_expr.iter().map(|e| e.schema_name().to_string()).collect();
    get_required_group_by_exprs_indices(aggregate.input.schema(), &names)
        .is_some_and(|needed| needed.len() < names.len())
}

/// The columns of an unnest that are constant in its input and are not unnested themselves.
fn constants_of_unnest(unnest: &Unnest, known: &Constants) -> Constants {
    let columns = unnest.schema.columns().into_iter().zip(&unnest.dependency_indices);
    let is_kept = |at: &usize| {
        !unnest.list_type_columns.iter().any(|(list, _)| list == at)
            && !unnest.struct_type_columns.contains(at)
    };
    let is_known =
        |at: &usize| known.contains(&Column::from(unnest.input.schema().qualified_field(*at)));
    columns.filter(|(_, at)| is_kept(at) && is_known(at)).map(|(column, _)| column).collect()
}

/// The columns that are constant in all inputs. Inputs have the same columns with different names,
/// so columns are matched by position.
fn by_position(plan: &LogicalPlan, known: &[Constants]) -> Constants {
    let inputs = plan.inputs();
    let columns = plan.schema().columns().into_iter().enumerate();
    let same = |at: usize| {
        inputs
            .iter()
            .zip(known)
            .all(|(input, known)| known.contains(&Column::from(input.schema().qualified_field(at))))
    };
    columns.filter(|(at, _)| same(*at)).map(|(_, column)| column).collect()
}

/// Whether a plan reads only the table `traces`, which has one row in a store with a single trace.
fn reads_traces(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Filter(_) => {
            plan.inputs().into_iter().all(reads_traces)
        }
        LogicalPlan::TableScan(scan) => {
            let table = source_as_provider(&scan.source);
            table.is_ok_and(|table| {
                table.downcast_ref::<StoreTable>().is_some_and(|table| table.name() == "traces")
            })
        }
        _ => false,
    }
}

/// A cross join. The side with one row comes first, because a cross join goes over the rows of its
/// first input for each batch of the second.
fn cross_joined(join: Join) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    let (one, others) =
        if reads_traces(&join.left) { (join.left, join.right) } else { (join.right, join.left) };
    let pairs =
        LogicalPlanBuilder::from(one.as_ref().clone()).cross_join(others.as_ref().clone())?;
    pairs.project(columns)?.build()
}

/// Whether a condition requires that an expression over one side equals one over the other.
fn is_key(condition: &Expr, join: &Join) -> bool {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else {
        return false;
    };
    let of = |expr: &Expr, side: &LogicalPlan| {
        let columns = expr.column_refs();
        !columns.is_empty() && columns.iter().all(|column| side.schema().has_column(column))
    };
    (of(left, &join.left) && of(right, &join.right))
        || (of(left, &join.right) && of(right, &join.left))
}

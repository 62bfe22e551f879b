//! Lets executors aggregate the rows of their trace.
//!
//! An aggregate directly above a relation of single traces becomes an aggregate for each trace, and
//! one over these. `SELECT cat, count(*) FROM events GROUP BY cat` then moves a row for each trace
//! and category instead of all events.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchemaRef};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::{bool_and, bool_or, max, min, sum};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, TableScan, lit, when,
};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::relation::{ClusterTable, PartialTable, conditions};
use crate::sql::{Writer, quoted};

/// The rule.
#[derive(Debug)]
pub struct PartialAggregates;

impl OptimizerRule for PartialAggregates {
    fn name(&self) -> &'static str {
        "partial_aggregates_of_traces"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        match divided(aggregate)? {
            Some(divided) => Ok(Transformed::yes(divided)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// A scan of a relation, and what is done to its rows before they are aggregated.
struct Source<'p> {
    scan: &'p TableScan,
    /// The columns of the aggregate's input, as expressions over the relation.
    columns: Vec<(Column, Expr)>,
    filters: Vec<Expr>,
}

impl<'p> Source<'p> {
    /// The source of a plan; `None` if the plan does more than name, compute and filter.
    fn of(plan: &'p LogicalPlan) -> Result<Option<Self>> {
        Ok(match plan {
            LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
                let columns = scan.projected_schema.columns();
                let base = |c: &Column| Expr::Column(Column::new_unqualified(c.name.clone()));
                Some(Self {
                    scan,
                    columns: columns.into_iter().map(|c| (c.clone(), base(&c))).collect(),
                    filters: scan.filters.clone(),
                })
            }
            LogicalPlan::SubqueryAlias(alias) => Self::of(&alias.input)?.map(|mut source| {
                source.rename(&alias.schema);
                source
            }),
            LogicalPlan::Filter(filter) => match Self::of(&filter.input)? {
                Some(mut source) => {
                    let predicate = source.over_relation(&filter.predicate)?;
                    source.filters.push(predicate);
                    Some(source)
                }
                None => None,
            },
            LogicalPlan::Projection(projection) => match Self::of(&projection.input)? {
                Some(mut source) => {
                    let columns = projection.expr.iter().zip(projection.schema.columns());
                    let columns =
                        columns.map(|(expr, name)| Ok((name, source.over_relation(expr)?)));
                    source.columns = columns.collect::<Result<_>>()?;
                    Some(source)
                }
                None => None,
            },
            _ => None,
        })
    }

    fn rename(&mut self, schema: &DFSchemaRef) {
        for ((column, _), name) in self.columns.iter_mut().zip(schema.columns()) {
            *column = name;
        }
    }

    /// An expression over the plan's columns as one over the relation's.
    fn over_relation(&self, expr: &Expr) -> Result<Expr> {
        let over = expr.clone().unalias_nested().data.transform(|e| match &e {
            Expr::Column(column) => {
                let known = self.columns.iter().find(|(c, _)| c == column);
                Ok(match known {
                    Some((_, expr)) => Transformed::yes(expr.clone()),
                    None => Transformed::no(e),
                })
            }
            _ => Ok(Transformed::no(e)),
        })?;
        Ok(over.data)
    }
}

/// The columns that a trace returns, and the expressions over them.
#[derive(Default)]
struct Parts {
    texts: Vec<String>,
    fields: Vec<Field>,
}

impl Parts {
    /// Adds a column with a text, unless there is one, and returns the expression that reads it.
    fn add(&mut self, text: String, data_type: &DataType) -> Expr {
        let known = self.texts.iter().position(|known| *known == text);
        let at = known.filter(|at| self.fields[*at].data_type() == data_type);
        let at = at.unwrap_or_else(|| {
            let at = self.texts.len();
            self.texts.push(text);
            self.fields.push(Field::new(format!("c{at}"), data_type.clone(), true));
            at
        });
        Expr::Column(Column::new(Some(TABLE), format!("c{at}")))
    }

    /// The columns as a list of SELECT.
    fn list(&self) -> String {
        let named = self.texts.iter().zip(&self.fields);
        let named = named.map(|(text, field)| format!("{text} AS {}", quoted(field.name())));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// The name of the table of partial results.
const TABLE: &str = "partial_results";

/// The aggregate in two steps; `None` if it cannot be divided.
fn divided(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let Some(source) = Source::of(&aggregate.input)? else { return Ok(None) };
    let Ok(provider) = source_as_provider(&source.scan.source) else { return Ok(None) };
    let Some(table) = provider.downcast_ref::<ClusterTable>() else { return Ok(None) };
    let writer = table.writer()?;
    let text =
        |expr: &Expr| -> Result<Option<String>> { Ok(writer.text(&source.over_relation(expr)?)) };
    let mut wheres = Vec::new();
    for filter in &source.filters {
        let Some(text) = writer.text(filter) else { return Ok(None) };
        wheres.push(text);
    }
    let fields: Vec<DataType> =
        aggregate.schema.fields().iter().map(|f| f.data_type().clone()).collect();
    let (mut parts, mut groups) = (Parts::default(), Vec::new());
    for (expr, data_type) in aggregate.group_expr.iter().zip(&fields) {
        if matches!(expr, Expr::GroupingSet(_)) {
            return Ok(None);
        }
        let Some(text) = text(expr)? else { return Ok(None) };
        groups.push(parts.add(text, data_type));
    }
    let (mut finals, mut shown) = (Vec::new(), Vec::new());
    for (expr, data_type) in aggregate.aggr_expr.iter().zip(&fields[groups.len()..]) {
        let Expr::AggregateFunction(function) = expr.clone().unalias() else { return Ok(None) };
        let Some(divided) = Divided::of(&function, &source, &writer, data_type, &mut parts)? else {
            return Ok(None);
        };
        shown.push(divided.shown(&mut finals)?);
    }
    let relation = format!("FROM {}{}", quoted(table.name()), conditions(&wheres));
    // A constant in GROUP BY would be the number of a column.
    let by = (1..=groups.len()).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
    let by = if groups.is_empty() { String::new() } else { format!(" GROUP BY {by}") };
    let sql = format!("SELECT {} {relation}{by}", parts.list());
    let schema = Arc::new(Schema::new(parts.fields));
    let query = table.query(sql, schema, &source.filters)?;
    let provider = provider_as_source(Arc::new(PartialTable::new(query)));
    let plan = LogicalPlanBuilder::scan(TABLE, provider, None)?;
    let plan = plan.aggregate(groups.clone(), finals)?;
    let columns = groups.into_iter().chain(shown).zip(aggregate.schema.iter());
    let columns: Vec<Expr> = columns
        .map(|(expr, (relation, field))| expr.alias_qualified(relation.cloned(), field.name()))
        .collect();
    let plan = plan.project(columns)?.build()?;
    let same = plan.schema().logically_equivalent_names_and_types(&aggregate.schema);
    Ok(same.then_some(plan))
}

/// A function of the aggregate over what the traces return.
enum Divided {
    /// An aggregate of a column.
    One(Expr),
    /// A sum that is 0 where there are no rows.
    Count(Expr),
    /// A sum and a number of values.
    Average(Expr, Expr),
}

impl Divided {
    fn of(
        function: &AggregateFunction,
        source: &Source<'_>,
        writer: &Writer,
        data_type: &DataType,
        parts: &mut Parts,
    ) -> Result<Option<Self>> {
        let params = &function.params;
        if params.distinct || !params.order_by.is_empty() || params.null_treatment.is_some() {
            return Ok(None);
        }
        let [argument] = params.args.as_slice() else { return Ok(None) };
        let Some(argument) = writer.text(&source.over_relation(argument)?) else {
            return Ok(None);
        };
        let filter = match &params.filter {
            Some(filter) => match writer.text(&source.over_relation(filter)?) {
                Some(filter) => format!(" FILTER (WHERE {filter})"),
                None => return Ok(None),
            },
            None => String::new(),
        };
        let call = |name: &str| format!("{name}({argument}){filter}");
        Ok(Some(match function.func.name() {
            "count" => Self::Count(sum(parts.add(call("count"), &DataType::Int64))),
            "sum" => Self::One(sum(parts.add(call("sum"), data_type))),
            "min" => Self::One(min(parts.add(call("min"), data_type))),
            "max" => Self::One(max(parts.add(call("max"), data_type))),
            "bool_and" => Self::One(bool_and(parts.add(call("bool_and"), data_type))),
            "bool_or" => Self::One(bool_or(parts.add(call("bool_or"), data_type))),
            "avg" if *data_type == DataType::Float64 => {
                // The factor changes no number, but the name: casts are no part of the names of
                // aggregates, and the query may have the sum or the count too.
                let call = |name: &str| format!("{name}(CAST({argument} AS DOUBLE) * 1.0){filter}");
                let total = sum(parts.add(call("sum"), &DataType::Float64));
                Self::Average(total, sum(parts.add(call("count"), &DataType::Int64)))
            }
            _ => return Ok(None),
        }))
    }

    /// The expression over the aggregates, which are added to `finals`.
    fn shown(self, finals: &mut Vec<Expr>) -> Result<Expr> {
        let mut column = |aggregate: Expr| {
            let (relation, name) = aggregate.qualified_name();
            if !finals.contains(&aggregate) {
                finals.push(aggregate);
            }
            Expr::Column(Column::new(relation, name))
        };
        match self {
            Self::One(aggregate) => Ok(column(aggregate)),
            Self::Count(aggregate) => {
                let total = column(aggregate);
                when(total.clone().is_null(), lit(0_i64)).otherwise(total)
            }
            Self::Average(total, count) => {
                let (total, count) = (column(total), column(count));
                let count = Expr::Cast(datafusion::logical_expr::Cast::new(
                    Box::new(count),
                    DataType::Float64,
                ));
                // Without values the sum is NULL, and the average too.
                Ok(total / count)
            }
        }
    }
}

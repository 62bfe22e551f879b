//! The arguments of a call: queries first, then named arguments. Each error message contains the
//! correct form.

use datafusion_common::{Column, Result, plan_datafusion_err, plan_err};
use datafusion_expr::planner::RelationPlannerContext;
use datafusion_expr::sqlparser::ast::{
    Expr as SqlExpr, FunctionArg, FunctionArgExpr, ObjectName, ObjectNamePart, TableFactor,
};
use datafusion_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

use crate::intervals::aggregate::time_type;

/// Default names of the start and end columns.
const TIMES: [(&str, &str); 3] = [("ts_ns", "end_ns"), ("start_ns", "end_ns"), ("start", "end")];

/// The arguments of a call.
pub struct Arguments<'a> {
    /// Name of the function.
    pub function: &'static str,
    inputs: Vec<LogicalPlan>,
    named: Vec<(String, SqlExpr)>,
    context: &'a mut dyn RelationPlannerContext,
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a call that has this number of queries and these named arguments.
    pub fn read(
        function: &'static str,
        given: Vec<FunctionArg>,
        inputs: usize,
        names: &[&str],
        context: &'a mut dyn RelationPlannerContext,
    ) -> Result<Self> {
        let mut arguments = Self { function, inputs: Vec::new(), named: Vec::new(), context };
        for argument in given {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(query))
                    if arguments.inputs.len() < inputs =>
                {
                    arguments.add_input(query)?
                }
                FunctionArg::Unnamed(other) => {
                    return plan_err!(
                        "{function}: {other} has no name; after the {} come named arguments: {}",
                        queries(inputs),
                        all(names)
                    );
                }
                FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
                    let name = arguments.context.normalize_ident(name);
                    if !names.contains(&name.as_str()) {
                        return plan_err!(
                            "{function} has no argument {name}; it takes {}",
                            all(names)
                        );
                    }
                    if arguments.named.iter().any(|(n, _)| *n == name) {
                        return plan_err!("{function}: {name} is given twice");
                    }
                    arguments.named.push((name, value));
                }
                other => {
                    return plan_err!("{function}: {other} is no argument; write name => column");
                }
            }
        }
        if arguments.inputs.len() < inputs {
            return plan_err!(
                "{function} takes {}: {function}({}, by => (…))",
                queries(inputs),
                vec!["(SELECT …)"; inputs].join(", ")
            );
        }
        Ok(arguments)
    }

    fn add_input(&mut self, query: SqlExpr) -> Result<()> {
        let function = self.function;
        let plan = match query {
            SqlExpr::Subquery(subquery) => self.context.plan(TableFactor::Derived {
                lateral: false,
                subquery,
                alias: None,
                sample: None,
            })?,
            SqlExpr::Identifier(name) => {
                self.named_input(ObjectName(vec![ObjectNamePart::Identifier(name)]))?
            }
            SqlExpr::CompoundIdentifier(names) => self.named_input(ObjectName(
                names.into_iter().map(ObjectNamePart::Identifier).collect(),
            ))?,
            other => {
                return plan_err!(
                    "{function}: {other} is no query; write {function}((SELECT … FROM …), …)"
                );
            }
        };
        if !plan.all_out_ref_exprs().is_empty() {
            return plan_err!(
                "{function}: its query cannot use columns of the outer query; name them in by, and \
                 join with the result"
            );
        }
        self.inputs.push(plain(function, plan)?);
        Ok(())
    }

    /// Looks up a relation by its name. Only names that the planner already knows are found,
    /// because SQL does not treat the argument as a table.
    fn named_input(&mut self, name: ObjectName) -> Result<LogicalPlan> {
        let (function, text) = (self.function, name.to_string());
        let table = TableFactor::Table {
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
        self.context.plan(table).map_err(|_| {
            plan_datafusion_err!(
                "{function}: {text} is not named in WITH; write \
                {function}((SELECT * FROM {text}), …)"
            )
        })
    }

    /// Removes and returns the next query.
    pub fn input(&mut self) -> LogicalPlan {
        self.inputs.remove(0)
    }

    /// Whether an argument was given.
    pub fn has(&self, name: &str) -> bool {
        self.named.iter().any(|(n, _)| n == name)
    }

    fn value(&self, name: &str) -> Option<&SqlExpr> {
        self.named.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Returns the columns of the argument `by`.
    pub fn by(&mut self, input: &LogicalPlan) -> Result<Vec<String>> {
        let values = match self.value("by") {
            None => vec![],
            Some(SqlExpr::Tuple(values)) => values.clone(),
            Some(SqlExpr::Nested(value)) => vec![value.as_ref().clone()],
            Some(value) => vec![value.clone()],
        };
        values.into_iter().map(|value| self.name_of("by", value, input)).collect()
    }

    /// Returns the column that an argument names.
    pub fn column(&mut self, name: &str, input: &LogicalPlan) -> Result<Option<String>> {
        let value = self.value(name).cloned();
        value.map(|value| self.name_of(name, value, input)).transpose()
    }

    /// Returns the columns of start and end, which must be integers.
    pub fn times(&mut self, [start, end]: [&str; 2], input: &LogicalPlan) -> Result<[String; 2]> {
        let function = self.function;
        let known = |name: &str| has_column(input, name);
        let default = TIMES.iter().find(|(start, end)| known(start) && known(end));
        let (named_start, named_end) = (self.column(start, input)?, self.column(end, input)?);
        let missing = || {
            plan_datafusion_err!(
                "{function}: which columns are start and end? There is no ts_ns and end_ns among \
                 {}; write {start} => column, {end} => column",
                columns(input)
            )
        };
        let times = [
            named_start.or(default.map(|d| d.0.to_owned())).ok_or_else(missing)?,
            named_end.or(default.map(|d| d.1.to_owned())).ok_or_else(missing)?,
        ];
        for name in &times {
            self.check_integer(name, input)?;
        }
        Ok(times)
    }

    /// Refuses a column that is not an integer.
    pub fn check_integer(&self, name: &str, input: &LogicalPlan) -> Result<()> {
        time_type(
            self.function,
            name,
            input.schema().field_with_unqualified_name(name)?.data_type(),
        )
        .map(|_| ())
    }

    /// Parses an expression over the columns of the input.
    pub fn expression(&mut self, name: &str, input: &LogicalPlan) -> Result<Option<Expr>> {
        let Some(value) = self.value(name).cloned() else { return Ok(None) };
        let expression = self.context.sql_to_expr(value, input.schema())?;
        time_type(
            self.function,
            name,
            &datafusion_expr::ExprSchemable::get_type(&expression, input.schema())?,
        )?;
        Ok(Some(expression))
    }

    /// Parses an expression of any type over the columns of the input.
    pub fn any_expression(&mut self, name: &str, input: &LogicalPlan) -> Result<Option<Expr>> {
        let Some(value) = self.value(name).cloned() else { return Ok(None) };
        self.context.sql_to_expr(value, input.schema()).map(Some)
    }

    fn name_of(&self, argument: &str, value: SqlExpr, input: &LogicalPlan) -> Result<String> {
        let function = self.function;
        let ident = match value {
            SqlExpr::Identifier(ident) => Some(ident),
            SqlExpr::CompoundIdentifier(mut parts) => parts.pop(),
            other => {
                return plan_err!(
                    "{function}: {argument} takes column names, not {other}; give the expression a \
                     name in the query"
                );
            }
        };
        let name = ident.map(|ident| self.context.normalize_ident(ident)).unwrap_or_default();
        if !has_column(input, &name) {
            return plan_err!(
                "{function}: {argument} names {name}, but the query has {}",
                columns(input)
            );
        }
        Ok(name)
    }
}

/// Whether a plan has a column.
pub fn has_column(plan: &LogicalPlan, name: &str) -> bool {
    plan.schema().fields().iter().any(|f| f.name() == name)
}

/// Returns the names of a plan's columns.
pub fn names(plan: &LogicalPlan) -> Vec<String> {
    plan.schema().fields().iter().map(|f| f.name().clone()).collect()
}

/// Refers to a column by its exact name.
pub fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

fn columns(plan: &LogicalPlan) -> String {
    names(plan).join(", ")
}

fn queries(inputs: usize) -> String {
    if inputs == 1 { "query".into() } else { format!("{inputs} queries") }
}

fn all(names: &[&str]) -> String {
    names.join(", ")
}

/// Returns the plan with unique column names and without qualifiers.
fn plain(function: &str, plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = plan.schema().fields().iter().find(|f| !seen.insert(f.name().clone())) {
        return plan_err!(
            "{function}: two columns of the query are named {}; rename one with AS",
            twice.name()
        );
    }
    let columns: Vec<Expr> = plan
        .schema()
        .iter()
        .map(|(table, field)| {
            Expr::Column(Column::new(table.cloned(), field.name())).alias(field.name())
        })
        .collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

//! Plans the calls of functions that take relations and return a relation.

use std::fmt::Debug;
use std::sync::Arc;

use datafusion_common::{Result, plan_err};
use datafusion_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion_expr::sqlparser::ast::{FunctionArg, ObjectName, TableAlias, TableFactor};
use datafusion_expr::{LogicalPlan, LogicalPlanBuilder};

use crate::intervals::relation::arguments::Arguments;

/// A function that takes relations and returns a relation.
pub trait RelationFunction: Debug + Copy + Send + Sync + 'static {
    /// Returns the name in SQL.
    fn name(self) -> &'static str;

    /// Returns the number of queries that the function takes, and the names of its other arguments.
    fn takes(self) -> (usize, Vec<&'static str>);

    /// Returns the plan of a call.
    ///
    /// # Errors
    ///
    /// If the arguments do not fit the function.
    fn plan(self, arguments: &mut Arguments<'_>) -> Result<LogicalPlan>;

    /// Returns the planner of the function.
    fn planner(self) -> Arc<dyn RelationPlanner> {
        Arc::new(Planner(self))
    }
}

/// Plans the calls of one function.
#[derive(Debug)]
struct Planner<F>(F);

impl<F: RelationFunction> Planner<F> {
    fn is_named(&self, name: &ObjectName, context: &dyn RelationPlannerContext) -> bool {
        match name.0.as_slice() {
            [part] => part
                .as_ident()
                .is_some_and(|ident| context.normalize_ident(ident.clone()) == self.0.name()),
            _ => false,
        }
    }

    fn call(
        &self,
        given: Vec<FunctionArg>,
        alias: Option<TableAlias>,
        ordinality: bool,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let name = self.0.name();
        if ordinality {
            return plan_err!(
                "{name}: WITH ORDINALITY is not supported; number the rows with row_number() OVER \
                 (ORDER BY …)"
            );
        }
        let (inputs, names) = self.0.takes();
        let plan = self.0.plan(&mut Arguments::read(name, given, inputs, &names, context)?)?;
        let plan = if alias.is_some() {
            plan
        } else {
            LogicalPlanBuilder::from(plan).alias(name)?.build()?
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

impl<F: RelationFunction> RelationPlanner for Planner<F> {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        match relation {
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. }
                if self.is_named(&name, context) =>
            {
                self.call(args.args, alias, with_ordinality, context)
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. }
                if self.is_named(&name, context) =>
            {
                self.call(args, alias, with_ordinality, context)
            }
            other => Ok(RelationPlanning::Original(Box::new(other))),
        }
    }
}

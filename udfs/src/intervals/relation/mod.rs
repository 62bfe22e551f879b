//! Functions that take relations and return a relation:
//! `FROM interval_merge((SELECT …), by => (trace_id, device))`.
//!
//! Each call becomes an ordinary plan: an aggregate that builds one list per group, and an unnest
//! that converts the lists to rows. This needs no custom operator, so the optimizer, the memory
//! limit and threads work as for any other query.

pub(crate) mod arguments;
mod collect;
mod gaps;
pub(crate) mod groups;
mod join;
mod result_rows;
pub(crate) mod single;

use std::sync::Arc;

use datafusion_common::{Result, plan_err};
use datafusion_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion_expr::sqlparser::ast::{FunctionArg, ObjectName, TableAlias, TableFactor};
use datafusion_expr::{LogicalPlan, LogicalPlanBuilder};

use arguments::Arguments;

/// A relation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    Merge,
    Gaps,
    OverlapCount,
    Flatten,
    Subtract,
    Intersect,
    AsofJoin,
}

impl Relation {
    /// Returns the name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "interval_merge",
            Self::Gaps => "interval_gaps",
            Self::OverlapCount => "interval_overlap_count",
            Self::Flatten => "interval_flatten",
            Self::Subtract => "interval_subtract",
            Self::Intersect => "interval_intersect",
            Self::AsofJoin => "asof_join",
        }
    }

    /// Returns the planner of the function.
    pub fn planner(self) -> Arc<dyn RelationPlanner> {
        Arc::new(self)
    }

    /// Returns the number of queries that the function takes, and the names of its other arguments.
    fn takes(self) -> (usize, &'static [&'static str]) {
        match self {
            Self::Merge | Self::OverlapCount => (1, &["start", "end", "by"]),
            Self::Gaps => (1, &["start", "end", "by", "from", "to"]),
            Self::Flatten => (1, &["start", "end", "by", "id"]),
            Self::Subtract | Self::Intersect => (2, &["start", "end", "b_start", "b_end", "by"]),
            Self::AsofJoin => (2, &["left_time", "right_time", "by", "id"]),
        }
    }

    fn plan(self, mut arguments: Arguments<'_>) -> Result<LogicalPlan> {
        match self {
            Self::Merge | Self::OverlapCount => single::listed(self, &mut arguments),
            Self::Gaps => single::gaps(&mut arguments),
            Self::Flatten => join::flatten(&mut arguments),
            Self::Subtract => join::subtract(&mut arguments),
            Self::Intersect => join::intersect(&mut arguments),
            Self::AsofJoin => join::asof(&mut arguments),
        }
    }

    fn is_named(self, name: &ObjectName, context: &dyn RelationPlannerContext) -> bool {
        match name.0.as_slice() {
            [part] => part
                .as_ident()
                .is_some_and(|ident| context.normalize_ident(ident.clone()) == self.name()),
            _ => false,
        }
    }

    fn call(
        self,
        given: Vec<FunctionArg>,
        alias: Option<TableAlias>,
        ordinality: bool,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let name = self.name();
        if ordinality {
            return plan_err!(
                "{name}: WITH ORDINALITY is not supported; number the rows with row_number() OVER \
                 (ORDER BY …)"
            );
        }
        let (inputs, names) = self.takes();
        let plan = self.plan(Arguments::read(name, given, inputs, names, context)?)?;
        let plan = if alias.is_some() {
            plan
        } else {
            LogicalPlanBuilder::from(plan).alias(name)?.build()?
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

impl RelationPlanner for Relation {
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

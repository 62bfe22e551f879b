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

use arguments::Arguments;
use datafusion_common::Result;
use datafusion_expr::LogicalPlan;

use crate::relation::RelationFunction;

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

impl RelationFunction for Relation {
    fn name(self) -> &'static str {
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

    fn takes(self) -> (usize, Vec<&'static str>) {
        let (queries, names): (usize, &[&'static str]) = match self {
            Self::Merge | Self::OverlapCount => (1, &["start", "end", "by"]),
            Self::Gaps => (1, &["start", "end", "by", "from", "to"]),
            Self::Flatten => (1, &["start", "end", "by", "id"]),
            Self::Subtract | Self::Intersect => (2, &["start", "end", "b_start", "b_end", "by"]),
            Self::AsofJoin => (2, &["left_time", "right_time", "by", "id"]),
        };
        (queries, names.to_vec())
    }

    fn plan(self, arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
        match self {
            Self::Merge | Self::OverlapCount => single::listed(self, arguments),
            Self::Gaps => single::gaps(arguments),
            Self::Flatten => join::flatten(arguments),
            Self::Subtract => join::subtract(arguments),
            Self::Intersect => join::intersect(arguments),
            Self::AsofJoin => join::asof(arguments),
        }
    }
}

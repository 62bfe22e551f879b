//! The documentation of functions as data: the only source of the reference, of completion and of
//! help.

use std::sync::Arc;

use datafusion_expr::planner::{ExprPlanner, RelationPlanner};
use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

/// A function of this crate and its documentation.
#[derive(Debug, Clone)]
pub struct Function {
    /// The implementation.
    pub call: Call,
    /// The documentation.
    pub doc: FunctionDoc,
}

/// The implementation of a function, by kind.
#[derive(Debug, Clone)]
pub enum Call {
    /// One value for each row.
    Scalar(Arc<ScalarUDF>),
    /// One value for a group of rows.
    Aggregate(Arc<AggregateUDF>),
    /// One value for each row of an ordered window.
    Window(Arc<WindowUDF>),
    /// A relation made of relations: `FROM f(relation, name => value, …)`.
    Relation(Arc<dyn RelationPlanner>),
    /// An operator of expressions.
    Operator(Arc<dyn ExprPlanner>),
}

impl Call {
    /// The name of the kind in the reference.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "scalar",
            Self::Aggregate(_) => "aggregate",
            Self::Window(_) => "window",
            Self::Relation(_) => "relation",
            Self::Operator(_) => "operator",
        }
    }
}

/// The documentation of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Name, as called in SQL.
    pub name: &'static str,
    /// The area: intervals, nesting, stacks, statistics, names, json, format.
    pub area: &'static str,
    /// Arguments and result: `f(a BIGINT, b BIGINT) → BIGINT`.
    pub signature: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Units, the rules in full, the source of a formula.
    pub detail: &'static str,
    /// The treatment of NULL.
    pub nulls: &'static str,
    /// What is refused and with which message; "None." if nothing is.
    pub errors: &'static str,
    /// Statements with their results; the tests run them.
    pub examples: &'static [Example],
}

/// A statement that runs without any table, and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The statement.
    pub sql: &'static str,
    /// The result: values of a row separated by ` | `, rows by line ends, NULL as `NULL`.
    pub answer: &'static str,
}

//! The documentation of functions as data. The reference, the completion and the help are generated
//! from it alone.

use std::sync::Arc;

use datafusion_expr::planner::{ExprPlanner, RelationPlanner};
use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

/// A function of this crate with its documentation.
#[derive(Debug, Clone)]
pub struct Function {
    /// The implementation.
    pub call: Call,
    /// The documentation.
    pub doc: FunctionDoc,
}

/// The implementation of a function, by its kind.
#[derive(Debug, Clone)]
pub enum Call {
    /// One value for each row.
    Scalar(Arc<ScalarUDF>),
    /// One value for a group of rows.
    Aggregate(Arc<AggregateUDF>),
    /// One value for each row of an ordered window.
    Window(Arc<WindowUDF>),
    /// A relation computed from relations: `FROM f(relation, name => value, …)`.
    Relation(Arc<dyn RelationPlanner>),
    /// An operator of expressions.
    Operator(Arc<dyn ExprPlanner>),
}

impl Call {
    /// Returns the name of the kind in the reference.
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
    /// The name as called in SQL.
    pub name: &'static str,
    /// The area: intervals, nesting, stacks, statistics, names, json, format, clocks.
    pub area: &'static str,
    /// The arguments and the result: `f(a BIGINT, b BIGINT) → BIGINT`.
    pub signature: &'static str,
    /// A summary of one sentence.
    pub summary: &'static str,
    /// The units, the complete rules and the source of a formula.
    pub detail: &'static str,
    /// The treatment of NULL.
    pub nulls: &'static str,
    /// The inputs that are refused and the messages for them; "None." if there are none.
    pub errors: &'static str,
    /// Statements with their results, which the tests run.
    pub examples: &'static [Example],
}

/// A statement that needs no table, with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The statement.
    pub sql: &'static str,
    /// The result: values of a row are separated by ` | `, rows by line ends, and NULL is written
    /// as `NULL`.
    pub answer: &'static str,
}

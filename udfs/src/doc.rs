//! What a function is called, takes, gives and refuses: the one source of the reference, of
//! completion and of help.

use std::sync::Arc;

use datafusion_expr::planner::{ExprPlanner, RelationPlanner};
use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

/// A function of this crate: what runs it, and what there is to say about it.
#[derive(Debug, Clone)]
pub struct Function {
    /// What runs it.
    pub call: Call,
    /// What there is to say about it.
    pub doc: FunctionDoc,
}

/// What runs a function.
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
    /// The kind, as the reference names it.
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
    /// What it belongs to: intervals, nesting, stacks, statistics, names, json, format.
    pub area: &'static str,
    /// How it is called and what it returns: `f(a BIGINT, b BIGINT) → BIGINT`.
    pub signature: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Units, the rules in full, the source of a formula.
    pub detail: &'static str,
    /// What NULL gives.
    pub nulls: &'static str,
    /// What is refused, and with which message; "None." if nothing is.
    pub errors: &'static str,
    /// Statements with their answers; they are run by the tests.
    pub examples: &'static [Example],
}

/// A statement that runs without any table, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The statement.
    pub sql: &'static str,
    /// The answer: values of a row separated by ` | `, rows by line ends, NULL as `NULL`.
    pub answer: &'static str,
}

//! SQL functions for traces, usable from any DataFusion program.
//!
//! ```
//! # use datafusion::prelude::SessionContext;
//! let context = SessionContext::new();
//! tracesql_udfs::register(&context);
//! ```

pub mod chrome;
mod doc;
mod format;
mod intervals;
mod json;
pub mod names;
pub mod nest;
pub mod pprof;
pub mod stacks;
mod stats;
mod tree;
mod types;

use std::sync::Arc;

use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::prelude::SessionContext;

pub use doc::{Call, Example, Function, FunctionDoc};
use names::Rules;

/// All functions, area by area, with the rules for names that come with the crate.
pub fn functions() -> Vec<Function> {
    functions_with_rules(Rules::built_in())
}

/// All functions, area by area, with rules for names.
pub fn functions_with_rules(rules: Rules) -> Vec<Function> {
    [
        intervals::functions(),
        nest::functions(),
        stacks::functions(),
        pprof::functions(),
        names::functions(rules),
        stats::functions(),
        json::functions(),
        format::functions(),
        tree::functions(),
    ]
    .concat()
}

/// Registers all functions with a session.
pub fn register(context: &SessionContext) {
    register_with_rules(context, Rules::built_in());
}

/// Registers all functions with a session, with rules for names, for instance
/// `Rules::built_in().extend(…)`.
pub fn register_with_rules(context: &SessionContext, rules: Rules) {
    let mut operators: Vec<Arc<dyn ExprPlanner>> = Vec::new();
    for function in functions_with_rules(rules) {
        match function.call {
            Call::Scalar(f) => context.register_udf(f.as_ref().clone()),
            Call::Aggregate(f) => context.register_udaf(f.as_ref().clone()),
            Call::Window(f) => context.register_udwf(f.as_ref().clone()),
            Call::Relation(f) => {
                let _ = context.register_relation_planner(f);
            }
            // One planner can serve several operators.
            Call::Operator(f) if operators.iter().any(|known| Arc::ptr_eq(known, &f)) => {}
            Call::Operator(f) => operators.push(f),
        }
    }
    if let Some(state) = context.state_weak_ref().upgrade() {
        let mut state = state.write();
        for operator in operators {
            let _ = state.register_expr_planner(operator);
        }
        for rewrite in json::rewrites() {
            let _ = state.register_function_rewrite(rewrite);
        }
    }
}

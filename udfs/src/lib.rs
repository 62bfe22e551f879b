//! SQL functions for traces, usable from any DataFusion program.
//!
//! ```
//! # use datafusion::prelude::SessionContext;
//! let context = SessionContext::new();
//! tracesql_udfs::register(&context);
//! ```

mod doc;
mod format;
mod tree;

use datafusion::prelude::SessionContext;

pub use doc::{Call, Example, Function, FunctionDoc};

/// All functions, area by area.
pub fn functions() -> Vec<Function> {
    [format::functions(), tree::functions()].concat()
}

/// Registers all functions with a session.
pub fn register(context: &SessionContext) {
    for function in functions() {
        match function.call {
            Call::Scalar(f) => context.register_udf(f.as_ref().clone()),
            Call::Aggregate(f) => context.register_udaf(f.as_ref().clone()),
            Call::Window(f) => context.register_udwf(f.as_ref().clone()),
            Call::Relation(f) => {
                let _ = context.register_relation_planner(f);
            }
            Call::Operator(f) => {
                if let Some(state) = context.state_weak_ref().upgrade() {
                    let _ = datafusion::execution::FunctionRegistry::register_expr_planner(&mut *state.write(), f);
                }
            }
        }
    }
}

//! SQL functions for traces, usable from any DataFusion program.
//!
//! The functions cover intervals (`interval_union_len`, `interval_intersect`, …), nesting in time
//! (`nest_parent`, …), stacks (`stack`, `pprof`, …), names of kernels (`classify`, `demangle`, …),
//! statistics (`quantile`, `mann_whitney`, …), JSON, trees given by ids, clocks (`align_clocks`, …),
//! and graphs of events.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let mut context = SessionContext::new();
//! tracesql_udfs::register(&mut context)?;
//! for planner in tracesql_udfs::relation_planners() {
//!     context.register_relation_planner(planner)?;
//! }
//! let sql = "SELECT short_name('void at::native::fill<float>(float*)') AS name";
//! let rows = context.sql(sql).await?.collect().await?;
//! # assert_eq!(rows[0].num_rows(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! [`functions`] lists all functions with their documentation, which is data: signature, summary,
//! treatment of NULL, errors, and examples that the tests run.
//!
//! The crate depends only on the small crates of DataFusion, except for the functions on JSON: they
//! come from the crate `datafusion-functions-json`, which depends on the entire `datafusion` crate.

mod clocks;
mod doc;
mod error;
mod figures;
mod format;
mod graph;
mod intervals;
mod json;
pub mod lanes;
pub mod names;
pub mod nest;
mod pprof;
mod relation;
mod sequences;
mod stacks;
mod stats;
pub mod threads;
mod tree;
mod types;
mod units;
mod window;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::planner::{ExprPlanner, RelationPlanner};
use datafusion_expr::registry::FunctionRegistry;

pub use doc::{Call, Example, Function, FunctionDoc};
use names::Rules;

/// Returns all functions, area by area, with the built-in rules for names.
pub fn functions() -> Vec<Function> {
    functions_with_rules(Rules::built_in())
}

/// Returns all functions, area by area, with the given rules for names.
pub fn functions_with_rules(rules: Rules) -> Vec<Function> {
    [
        intervals::functions(),
        nest::functions(),
        lanes::functions(),
        stacks::functions(),
        pprof::functions(),
        names::functions(rules),
        stats::functions(),
        json::functions(),
        format::functions(),
        units::functions(),
        tree::functions(),
        sequences::functions(),
        graph::functions(),
        clocks::functions(),
        figures::functions(),
    ]
    .concat()
}

/// Registers all functions, for instance with a `SessionContext`. Functions that are called in
/// `FROM` are not included, because the registry does not support them: see [`relation_planners`].
///
/// # Errors
///
/// Fails if the registry refuses a function, an operator or a rewrite.
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    register_with_rules(registry, Rules::built_in())
}

/// Registers all functions as [`register`] does, with the given rules for names, for instance
/// `Rules::built_in().extend(…)`.
///
/// # Errors
///
/// Returns the errors of [`register`].
pub fn register_with_rules(registry: &mut dyn FunctionRegistry, rules: Rules) -> Result<()> {
    let mut operators: Vec<Arc<dyn ExprPlanner>> = Vec::new();
    for function in functions_with_rules(rules) {
        match function.call {
            Call::Scalar(f) => _ = registry.register_udf(f)?,
            Call::Aggregate(f) => _ = registry.register_udaf(f)?,
            Call::Window(f) => _ = registry.register_udwf(f)?,
            // One planner can implement several operators.
            Call::Operator(f) if operators.iter().any(|known| Arc::ptr_eq(known, &f)) => {}
            Call::Operator(f) => operators.push(f),
            Call::Relation(_) => {}
        }
    }
    for operator in operators {
        registry.register_expr_planner(operator)?;
    }
    for rewrite in json::rewrites() {
        registry.register_function_rewrite(rewrite)?;
    }
    Ok(())
}

/// Returns the planners of the functions that are called in `FROM`. They are passed to
/// `SessionContext::register_relation_planner`.
pub fn relation_planners() -> Vec<Arc<dyn RelationPlanner>> {
    let planner = |function: Function| match function.call {
        Call::Relation(planner) => Some(planner),
        _ => None,
    };
    [intervals::functions(), graph::functions()].concat().into_iter().filter_map(planner).collect()
}

//! All rules that change plans, in the order in which they run.
//!
//! DataFusion's traits give each rule a name, which `EXPLAIN VERBOSE` shows with the plan after it.
//!
//! 1. A statement, or the query of a view, is analyzed ([`naming`]): DataFusion's analyzer,
//!    [`repeated_queries`], [`union_branches`].
//! 2. A statement is about to be optimized ([`inlining`]): [`inline_views`], [`empty_tables`],
//!    [`constant_trace_id`].
//! 3. The statement, or a view that is computed on its own, is optimized ([`optimize`]):
//!    DataFusion's optimizer.
//! 4. It becomes a physical plan ([`physical`]): DataFusion's rules, [`keep_single_stream`],
//!    [`yielding_joins`], for large stores [`sequential_unions`] and [`text_buffers`], and for
//!    sessions of servers [`stoppable_joins`].
//!
//! The rules of the first two steps are not part of the session's own analyzer. DataFusion runs
//! that analyzer again for `EXPLAIN` and for plans that it makes itself. A branch that was named
//! after its readers were counted would not be planned with the others.
//!
//! Everything else that the engine does to a query is not a rule, because a rule sees only one plan
//! at a time and is applied to every plan:
//!
//! - [`super::planning`] counts the readers of a view in all statements that start together.
//! - [`super::planner_threads`] decides on which threads plans are made.
//! - [`super::utf8_results`] changes the types of the result alone, never of a view below it.
//! - [`super::memory_limit`] watches the process while the rows of a result are read.
//!
//! The file of each rule states why it exists, what it gained, and when it can be removed.

pub mod constant_trace_id;
pub mod empty_tables;
pub mod inline_views;
pub mod keep_single_stream;
pub mod repeated_queries;
pub mod sequential_unions;
pub mod stoppable_joins;
pub mod text_buffers;
pub mod union_branches;
pub mod yielding_joins;

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::display::{PlanType, ToStringifiedPlan};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::Analyzer;
use datafusion::physical_optimizer::PhysicalOptimizerRule;

use constant_trace_id::ConstantTraceId;
use empty_tables::EmptyTables;
use inline_views::InlineViews;
use keep_single_stream::KeepSingleStream;
use repeated_queries::RepeatedQueries;
use sequential_unions::SequentialUnions;
use stoppable_joins::StoppableJoins;
use text_buffers::TextBuffers;
use union_branches::UnionBranches;
use yielding_joins::YieldingJoins;

/// The analyzer for statements and for queries of views. After it, they name everything that can be
/// planned or computed separately.
pub fn naming(state: &SessionState) -> Analyzer {
    let mut analyzer = state.analyzer().clone();
    analyzer.rules.push(Arc::new(RepeatedQueries));
    analyzer.rules.push(Arc::new(UnionBranches));
    analyzer
}

/// The analyzer for statements whose views are counted. `trace_id` is given for a store with a
/// single trace.
pub fn inlining(views: Arc<InlineViews>, trace_id: Option<Arc<ConstantTraceId>>) -> Analyzer {
    let mut analyzer = Analyzer::with_rules(vec![views, Arc::new(EmptyTables)]);
    if let Some(trace_id) = trace_id {
        analyzer.rules.push(trace_id);
    }
    analyzer
}

/// The rules that follow DataFusion's own physical rules. `queries_only` is that of the session.
/// With `is_large`, plans are changed for large stores, which takes time for small ones.
pub fn physical(
    queries_only: bool,
    is_large: bool,
) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> =
        vec![Arc::new(KeepSingleStream), Arc::new(YieldingJoins)];
    if is_large {
        rules.push(Arc::new(SequentialUnions));
        rules.push(Arc::new(TextBuffers));
    }
    if queries_only {
        rules.push(Arc::new(StoppableJoins));
    }
    rules
}

/// Runs an analyzer over a plan. An `EXPLAIN` records the explained plan after each rule.
pub fn analyze(
    analyzer: &Analyzer,
    plan: LogicalPlan,
    options: &ConfigOptions,
) -> Result<LogicalPlan> {
    let LogicalPlan::Explain(mut explain) = plan else {
        return analyzer.execute_and_check(plan, options, |_, _| {});
    };
    let explained = Arc::unwrap_or_clone(explain.plan);
    let analyzed = analyzer.execute_and_check(explained, options, |plan, rule| {
        let analyzer_name = rule.name().to_owned();
        let after = plan.to_stringified(PlanType::AnalyzedLogicalPlan { analyzer_name });
        explain.stringified_plans.push(after);
    })?;
    explain.plan = Arc::new(analyzed);
    Ok(LogicalPlan::Explain(explain))
}

/// Optimizes an analyzed plan. `SessionState::optimize` would analyze it again, and does so for
/// `EXPLAIN`, which shows the steps.
pub fn optimize(plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Explain(_) => state.optimize(&plan),
        _ => state.optimizer().optimize(plan, state, |_, _| {}),
    }
}

//! The engine's own plan rules: `EXPLAIN VERBOSE` names them, and they do what they promise.

use tracesql::engine::Engine;

use crate::support::{TestStore, fixture, rows_of};

/// The rules of the engine in the order in which they run.
const RULES: [&str; 6] = [
    "logical_plan after repeated_queries",
    "logical_plan after union_branches",
    "logical_plan after inline_views",
    "logical_plan after constant_trace_id",
    "physical_plan after KeepSingleStream",
    "physical_plan after YieldingJoins",
];

fn store() -> TestStore {
    TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0
}

fn steps(engine: &Engine, sql: &str) -> Vec<String> {
    let rows = rows_of(engine, &format!("EXPLAIN VERBOSE {sql}")).expect("the query is planned");
    rows.into_iter().map(|mut row| row.swap_remove(0)).collect()
}

#[test]
fn explain_verbose_of_a_view_names_the_rules_of_the_engine_in_their_order() {
    let store = store();
    let steps = steps(&store.engine(), "SELECT * FROM operators");
    let ours: Vec<&str> =
        steps.iter().map(String::as_str).filter(|step| RULES.contains(step)).collect();
    assert_eq!(ours, RULES, "{steps:#?}");
    let at = |name: &str| {
        let found = steps.iter().position(|step| step == name);
        found.unwrap_or_else(|| panic!("no step {name}: {steps:#?}"))
    };
    assert_eq!(at("initial_logical_plan"), 0);
    // DataFusion resolves types before views are named, and checks its plan before joins are
    // changed.
    assert!(at("logical_plan after type_coercion") < at(RULES[0]));
    assert!(at(RULES[3]) < at("logical_plan after optimize_projections"));
    assert!(at("physical_plan after SanityCheckPlan") < at(RULES[4]));
}

#[test]
fn trace_ids_are_only_folded_in_a_store_of_one_trace() {
    let store = store();
    store.ingest(&fixture("resnet_cpu.pt.trace.json.gz")).expect("the trace is read");
    let steps = steps(&store.engine(), "SELECT * FROM operators");
    assert!(steps.iter().any(|step| step == RULES[2]), "{steps:#?}");
    assert!(!steps.iter().any(|step| step == RULES[3]), "{steps:#?}");
}

/// The operators of a plan from top to bottom.
fn operators(engine: &Engine, sql: &str) -> Vec<String> {
    let rows = rows_of(engine, &format!("EXPLAIN {sql}")).expect("the query is planned");
    let plan = rows.into_iter().find(|row| row[0] == "physical_plan").expect("a physical plan");
    let name = |line: &str| line.trim_start().split([':', ' ']).next().unwrap_or("").to_owned();
    plan[1].lines().map(name).collect()
}

#[test]
fn joins_of_each_type_yield() {
    let store = store();
    let cases = [
        ("HashJoinExec", "", "a.event_id = b.parent_id"),
        ("NestedLoopJoinExec", "", "a.ts_ns < b.ts_ns AND a.name <> b.name"),
        ("CrossJoinExec", "", "TRUE"),
        ("SortMergeJoinExec", "prefer_hash_join = false", "a.event_id = b.parent_id"),
        ("PiecewiseMergeJoin", "enable_piecewise_merge_join = true", "a.ts_ns < b.ts_ns"),
    ];
    for (join, option, condition) in cases {
        let engine = store.engine();
        if !option.is_empty() {
            rows_of(&engine, &format!("SET datafusion.optimizer.{option}")).expect("it is set");
        }
        let sql =
            format!("SELECT a.event_id, b.event_id FROM events a JOIN events b ON {condition}");
        let plan = operators(&engine, &sql);
        let at = plan.iter().position(|operator| operator.contains("Join"));
        let at = at.unwrap_or_else(|| panic!("no join for {condition}: {plan:#?}"));
        assert_eq!(plan[at], join, "{plan:#?}");
        assert_eq!(plan[at - 1], "CooperativeExec", "{plan:#?}");
    }
}

#[test]
fn traces_of_a_table_without_rows_are_not_counted() {
    let store = TestStore::with(&fixture("resnet_cpu.pt.trace.json.gz")).0;
    let count = |from: &str| {
        let sql = format!(
            "SELECT count(*) > 0, count(DISTINCT trace_id), count(DISTINCT trace_id) + 1, \
             count(trace_id) = count(*) FROM {from}"
        );
        rows_of(&store.engine(), &sql).expect("the query runs").swap_remove(0)
    };
    assert_eq!(count("kernels"), ["false", "0", "1", "true"]);
    assert_eq!(count("events WHERE name = 'no such name'"), ["false", "0", "1", "true"]);
    assert_eq!(count("events"), ["true", "1", "2", "true"]);
    assert_eq!(count("events WHERE cat = 'cpu_op'"), ["true", "1", "2", "true"]);
}

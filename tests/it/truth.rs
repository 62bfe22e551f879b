//! Checks the conditions that views state in their comments (`Holds:`, `Parts:` and `Range:`), and
//! the evidence of rules. They are checked on all fixtures and, if it is available, on every trace
//! of the corpus.
//!
//! These checks contain no expected figures. For any trace, a share is between 0 and 100, parts add
//! up to their whole, a duration is within its trace, and the evidence of a finding contains its
//! numerator and denominator.

mod evidence;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::{Column, Parts, Range, View};

use crate::support::{PIPELINE, TestStore, bottlenecks, fixture, needs, rows_of};

/// The number of views of an area that are examined in one statement.
const AT_ONCE: usize = 12;

/// A claim about the rows of a view: when a row violates it, and when a row tests it.
struct Claim {
    text: String,
    broken: String,
    tested: String,
}

/// The violations, and the claims that no row tested.
#[derive(Default)]
struct Outcome {
    broken: Vec<String>,
    untested: Vec<String>,
}

/// The number of nanoseconds in a unit of time.
fn nanoseconds(unit: &str) -> u64 {
    match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => 1,
    }
}

fn has(view: &View, column: &str) -> bool {
    view.columns.iter().any(|c| c.name == column)
}

/// The claim that follows from the range of a column, for a query in which `v` is the view, `t` the
/// trace and `b` the base of a comparison.
fn claim_of_range(view: &View, column: &Column) -> Option<Claim> {
    let range = view.range(column)?;
    let (name, unit) = (&column.name, nanoseconds(&column.unit));
    let trace = if name.starts_with("base_") && has(view, "base_trace_id") { "b" } else { "t" };
    // Times in other units are quotients. Their rounding does not violate a claim.
    let slack = if unit == 1 { 0 } else { 1 };
    let of_trace = has(view, "trace_id");
    let broken = match range {
        Range::Share => format!("NOT (v.{name} >= -0.000001 AND v.{name} <= 100.000001)"),
        Range::Sum => format!("v.{name} < 0"),
        Range::Length if of_trace => {
            format!("v.{name} < 0 OR v.{name} * {unit} > {trace}.duration_ns + {slack}")
        }
        Range::Length => format!("v.{name} < 0"),
        Range::Time if of_trace => format!(
            "v.{name} * {unit} < {trace}.start_ns - {slack} OR v.{name} * {unit} > {trace}.end_ns \
                + {slack}"
        ),
        Range::Time | Range::Any => return None,
    };
    Some(Claim {
        text: format!("{name} is {}", range.word()),
        broken,
        tested: format!("v.{name} IS NOT NULL"),
    })
}

/// All claims of a view about its own rows.
fn claims(view: &View) -> Vec<Claim> {
    let ranges = view.columns.iter().filter_map(|c| claim_of_range(view, c));
    let holds = view.truths.holds.iter().enumerate().map(|(i, text)| Claim {
        text: text.clone(),
        broken: format!("v.holds_{i} IS FALSE"),
        tested: format!("v.holds_{i} IS TRUE"),
    });
    ranges.chain(holds).collect()
}

/// The rows of a view with their trace, and whether its equations hold.
fn source(view: &View) -> String {
    let holds: Vec<String> = view
        .truths
        .holds
        .iter()
        .enumerate()
        .map(|(i, text)| format!(", ({text}) AS holds_{i}"))
        .collect();
    let mut from = format!("FROM (SELECT *{} FROM {}) v", holds.concat(), view.name);
    if has(view, "trace_id") {
        from.push_str(" LEFT JOIN traces t ON t.trace_id = v.trace_id");
    }
    if has(view, "base_trace_id") {
        from.push_str(" LEFT JOIN traces b ON b.trace_id = v.base_trace_id");
    }
    from
}

/// The numbers of rows that violate and that test each claim of a view, in turn.
fn counts_of_claims(claims: &[Claim]) -> Vec<String> {
    claims
        .iter()
        .flat_map(|c| [&c.broken, &c.tested])
        .map(|condition| format!("count(*) FILTER (WHERE {condition})"))
        .collect()
}

/// A query of two columns: `place`, and the counts of the claims of a view, separated by commas.
fn question_of_claims(view: &View, place: usize) -> Option<String> {
    let counts = counts_of_claims(&claims(view));
    (!counts.is_empty()).then(|| {
        let all = counts.join(", ");
        format!("SELECT {place} AS place, concat_ws(',', {all}) AS counts {}", source(view))
    })
}

/// The same for an equation of sums.
fn question_of_parts(view: &View, parts: &Parts, place: usize) -> String {
    format!(
        "SELECT {place} AS place, concat_ws(',', count(*) FILTER (WHERE parts <> whole), \
            count(*) FILTER (WHERE parts <> 0)) AS counts FROM ({})",
        both_sides(view, parts)
    )
}

/// Examines views in one statement, which computes what they share once. A view with a violation,
/// and all of them if the statement fails, is examined alone, which says where.
fn examine_together(engine: &Engine, views: &[&View], outcome: &mut Outcome) {
    let (mut questions, mut texts) = (Vec::new(), Vec::new());
    for view in views {
        if let Some(question) = question_of_claims(view, questions.len()) {
            questions.push(question);
            let of_view = |c: &Claim| format!("{}: {}", view.name, c.text);
            texts.push((view, claims(view).iter().map(of_view).collect()));
        }
        for parts in &view.truths.parts {
            questions.push(question_of_parts(view, parts, questions.len()));
            texts.push((view, vec![text_of_parts(view, parts)]));
        }
    }
    if questions.is_empty() {
        return;
    }
    let known = outcome.broken.len();
    let rows = match rows_of(engine, &questions.join(" UNION ALL ")) {
        Ok(rows) => rows,
        Err(e) => {
            views.iter().for_each(|view| examine(engine, view, outcome));
            if outcome.broken.len() == known {
                let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
                outcome.broken.push(format!("{} together: {}", names.join(", "), short(&e)));
            }
            return;
        }
    };
    assert_eq!(rows.len(), questions.len(), "one row of each question");
    let mut broken = BTreeSet::new();
    for row in rows {
        let (view, texts): &(&&View, Vec<String>) =
            &texts[row[0].parse::<usize>().expect("a place")];
        let counts: Vec<&str> = row[1].split(',').collect();
        assert_eq!(counts.len(), 2 * texts.len(), "{}: {}", view.name, row[1]);
        for (text, counts) in texts.iter().zip(counts.chunks(2)) {
            if counts[0] != "0" {
                broken.insert(view.name.as_str());
            } else if counts[1] == "0" {
                outcome.untested.push(text.clone());
            }
        }
    }
    for view in views.iter().filter(|view| broken.contains(view.name.as_str())) {
        let known = outcome.broken.len();
        examine(engine, view, outcome);
        if outcome.broken.len() == known {
            outcome.broken.push(format!("{}: broken only beside other views", view.name));
        }
    }
}

fn examine(engine: &Engine, view: &View, outcome: &mut Outcome) {
    let (claims, source) = (claims(view), source(view));
    if !claims.is_empty() {
        let counts: Vec<String> = counts_of_claims(&claims)
            .iter()
            .enumerate()
            .map(|(i, count)| format!("{count} AS count_{i}"))
            .collect();
        match rows_of(engine, &format!("SELECT {} {source}", counts.join(", "))) {
            Err(e) => outcome.broken.push(format!("{}: {}", view.name, short(&e))),
            Ok(rows) => {
                for (claim, counts) in claims.iter().zip(rows[0].chunks(2)) {
                    if counts[0] != "0" {
                        outcome.broken.push(format!(
                            "{}: {} does not hold in {} rows{}",
                            view.name,
                            claim.text,
                            counts[0],
                            places(engine, view, claim)
                        ));
                    }
                    if counts[1] == "0" {
                        outcome.untested.push(format!("{}: {}", view.name, claim.text));
                    }
                }
            }
        }
    }
    for parts in &view.truths.parts {
        add_up(engine, view, parts, outcome);
    }
}

/// The rows in which a claim does not hold.
fn places(engine: &Engine, view: &View, claim: &Claim) -> String {
    if !has(view, "trace_id") {
        return String::new();
    }
    let sql = format!(
        "SELECT t.path, count(*) AS broken {} WHERE {} GROUP BY t.path \
            ORDER BY broken DESC, t.path LIMIT 5",
        source(view),
        claim.broken
    );
    let rows = rows_of(engine, &sql).unwrap_or_default();
    rows.iter().map(|r| format!("\n    {} in {}", r[1], r[0])).collect()
}

/// Both sides of Parts by their keys. A key that only one side has counts as 0 on the other.
fn both_sides(view: &View, parts: &Parts) -> String {
    let (keys, first) = (parts.keys.join(", "), &parts.keys[0]);
    let side = |column: &str, from: &str| {
        format!("(SELECT {keys}, sum({column}) AS whole FROM {from} GROUP BY {keys})")
    };
    let on: Vec<String> =
        parts.keys.iter().map(|k| format!("(a.{k} IS NOT DISTINCT FROM b.{k})")).collect();
    format!(
        "SELECT coalesce(a.{first}, b.{first}) AS first_key, coalesce(a.whole, 0) AS parts, \
            coalesce(b.whole, 0) AS whole FROM {} a FULL JOIN {} b ON {}",
        side(&parts.column, &view.name),
        side(&parts.of, &parts.whole),
        on.join(" AND ")
    )
}

fn text_of_parts(view: &View, parts: &Parts) -> String {
    let keys = parts.keys.join(", ");
    format!("{}: the sum of {} by {keys} and {}.{}", view.name, parts.column, parts.whole, parts.of)
}

/// Compares both sides of Parts.
fn add_up(engine: &Engine, view: &View, parts: &Parts, outcome: &mut Outcome) {
    let (sql, text) = (both_sides(view, parts), text_of_parts(view, parts));
    match rows_of(engine, &sql) {
        Err(e) => outcome.broken.push(format!("{text}: {}", short(&e))),
        Ok(rows) => {
            let differ: Vec<&Vec<String>> = rows.iter().filter(|r| r[1] != r[2]).collect();
            if let Some(first) = differ.first() {
                outcome.broken.push(format!(
                    "{text} differ {} times, first in {}: {} and {}",
                    differ.len(),
                    first[0],
                    first[1],
                    first[2]
                ));
            }
            if !rows.iter().any(|r| r[1] != "0") {
                outcome.untested.push(text);
            }
        }
    }
}

fn short(e: &tracesql::Error) -> String {
    e.to_string().chars().take(400).collect()
}

fn examine_all(engine: &Engine, wanted: impl Fn(&View) -> bool) -> Outcome {
    let mut outcome = Outcome::default();
    let views: Vec<View> = engine.library().public_views().filter(|v| wanted(v)).cloned().collect();
    assert!(views.len() > 90, "only {} views", views.len());
    let mut areas: BTreeMap<&str, Vec<&View>> = BTreeMap::new();
    views.iter().for_each(|view| areas.entry(&view.area).or_default().push(view));
    for some in areas.values().flat_map(|of_area| of_area.chunks(AT_ONCE)) {
        examine_together(engine, some, &mut outcome);
    }
    outcome
}

/// All fixtures, including those that show bottlenecks, the training with experts, counters and a
/// pipeline, memory snapshots, execution traces and memory timelines.
fn all_fixtures() -> TestStore {
    let store = bottlenecks();
    for name in [
        "beside/execution/rank0.et.json",
        "beside/execution/rank0.pt.trace.json",
        "beside/timeline.json",
        "beside/timeline.raw.json.gz",
        "moe/moe_training.json.gz",
        "kernels/checkpointed.json.gz",
        "kernels/moving.json.gz",
        "kernels/profiler_ranges.json.gz",
        "protobufs/gpu.xplane.pb",
        "protobufs/rocprof.pftrace",
        "protobufs/tpu.xplane.pb",
        "snapshots/oom.pickle",
        "snapshots/steps.pickle",
    ] {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    for name in PIPELINE {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    store
}

#[test]
fn what_views_say_holds_in_all_fixtures() {
    let store = all_fixtures();
    let outcome = examine_all(&store.engine(), |_| true);
    assert!(outcome.broken.is_empty(), "{}", outcome.broken.join("\n"));
    // A range may refer to a column that no fixture fills. An equation that no row tests is
    // worthless.
    let idle: Vec<&String> = outcome.untested.iter().filter(|t| !t.contains(" is ")).collect();
    assert!(idle.is_empty(), "no fixture puts to the test:\n{idle:#?}");
}

/// A view whose comment contains every kind of error.
const WRONG: &str = "-- Steps.
--
-- Holds: one_ns + two_ns = all_ns
-- Parts: one_ns BY trace_id OF step_time.kernel_ns
-- Range: time two_ns
--
-- @column trace_id VARCHAR text The trace.
-- @column one_ns BIGINT ns Too long.
-- @column two_ns BIGINT ns No point in time.
-- @column all_ns BIGINT ns Not the sum.
-- @column part_pct DOUBLE pct Too much.
SELECT trace_id, duration_ns + 1 AS one_ns, start_ns - 1 AS two_ns, CAST(5 AS BIGINT) AS all_ns,
    CAST(101 AS DOUBLE) AS part_pct FROM traces
";

#[test]
fn what_does_not_hold_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("own")).expect("a folder");
    std::fs::write(folder.path().join("own/wrong.sql"), WRONG).expect("a view");
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let options = EngineOptions { sql: vec![folder.path().to_owned()], ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    assert_eq!(engine.library().problems(), []);
    let mut outcome = Outcome::default();
    let view = engine.library().view("wrong").expect("the view");
    examine_together(&engine, &[view], &mut outcome);
    let beginnings = [
        "wrong: one_ns is length",
        "wrong: two_ns is time",
        "wrong: part_pct is share",
        "wrong: one_ns + two_ns = all_ns",
        "wrong: the sum of one_ns",
    ];
    assert_eq!(outcome.broken.len(), beginnings.len(), "{:#?}", outcome.broken);
    for (broken, beginning) in outcome.broken.iter().zip(beginnings) {
        assert!(broken.starts_with(beginning), "{broken}");
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

/// A store with every trace of the corpus that can be read; `None` without the corpus.
fn all_traces() -> Option<TestStore> {
    let corpus = needs::corpus()?;
    let (store, mut paths) = (TestStore::new(), Vec::new());
    files(&corpus.join("public"), &mut paths);
    files(&corpus.join("made"), &mut paths);
    paths.sort();
    // Some files of the corpus are intentionally not traces.
    let read = paths.iter().filter(|p| store.ingest(p).is_ok()).count();
    assert!(read > 100, "only {read} traces were read");
    Some(store)
}

mod corpus {
    use super::*;

    /// Excludes pairs of all traces, and pairs of all events with their ancestors. They are many
    /// and test no more than those of fixtures.
    fn is_small(view: &View) -> bool {
        let compares = view.area == "compare" || has(view, "base_trace_id");
        !compares && !["ancestors", "descendants"].contains(&view.name.as_str())
    }

    #[test]
    fn what_views_say_holds_in_every_trace() {
        let Some(store) = all_traces() else { return };
        let outcome = examine_all(&store.engine(), is_small);
        assert!(outcome.broken.is_empty(), "{}", outcome.broken.join("\n"));
    }
}

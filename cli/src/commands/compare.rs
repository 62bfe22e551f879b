//! `tracesql compare`: compares two stores or traces.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tracesql::compare::{self, Comparison, Condition, Failure, Side, Style};
use tracesql::engine::Engine;
use tracesql::output::Target;
use tracesql::store::TraceStore;
use tracesql::{Error, Result, check};
use tracesql_ingest::IngestError;

use super::{locate_one, refuse_input, target, warn_of_problems, write_verdict};
use crate::global::Global;
use crate::output_names;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::{By, CompareFormat};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql compare runs/base runs/new
  tracesql compare base.json.gz new.json.gz --by op --limit 50
  tracesql compare runs/base runs/new --fail-on step:5% --fail-on op:20%:100us
  tracesql compare runs/base runs/new -o comparison.html
  tracesql compare runs/base runs/new --base-trace rank0 --trace rank0

Verdicts come from the times of single steps: slower and faster are more than
noise, by the test of Mann and Whitney.

--fail-on BY:PCT%[:MIN] fails on rows that are slower by more than PCT percent
and by at least MIN (such as 100us) a step, and on rows without a verdict whose
times differ by that much. BY:added and BY:removed fail on rows of one side.

Exit codes:
  0  success
  1  --fail-on found something
  2  a command or an option is wrong
  3  an input could not be read
  4  a query failed, or nothing can be compared")]
pub struct CompareArgs {
    /// The store or trace to compare with
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The store or trace that is compared
    #[arg(value_name = "CAND")]
    pub cand: String,
    /// Only this trace of CAND: its id, the beginning of its id, or the end of its path; may be
    /// given several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Only this trace of BASE; may be given several times
    #[arg(long = "base-trace", value_name = "TRACE")]
    pub base_traces: Vec<String>,
    /// What rows are about; may be given several times [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<By>,
    /// Exit with 1 if this holds: BY:PCT%, BY:PCT%:MIN, BY:added or BY:removed; may be given
    /// several times
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<Condition>,
    /// Rows of each table to show in text and Markdown; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Format of the comparison [default: text, or what the name of the output file says]
    #[arg(long, value_enum)]
    pub format: Option<CompareFormat>,
    /// File for the comparison instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Compares. The exit code is 1 if one of the user's conditions is met.
pub fn run(args: &CompareArgs, global: &Global) -> Result<ExitCode> {
    if let Some(output) = &args.output {
        refuse_input(output, [&args.base, &args.cand])?;
    }
    let style = output_names::format(
        args.format.map(Style::from),
        args.output.as_ref(),
        Style::of_file,
        ".html, .md, .json or .txt",
    )?
    .unwrap_or(Style::Text);
    let (base, cand) =
        (find(&args.base, &args.base_traces, global)?, find(&args.cand, &args.traces, global)?);
    let mut options = global.engine_options();
    options.settings.push(("compare_base".to_owned(), base.traces.join(";")));
    options.settings.push(("compare_candidate".to_owned(), cand.traces.join(";")));
    let engine = Engine::open_together(
        &[(&base.store, Some(&base.traces)), (&cand.store, Some(&cand.traces))],
        &options,
    )?;
    warn_of_problems(&engine);
    let by = if args.by.is_empty() {
        compare::By::ALL.to_vec()
    } else {
        args.by.iter().map(|by| (*by).into()).collect()
    };
    let comparison = block_on(global, compared(&engine, args, by, &base, &cand))?;
    let width = comfy_table::Table::new().width().map_or(100, usize::from).clamp(80, 160);
    let document = compare::write(&comparison, style, width, args.limit)?;
    let target = target(args.output.as_ref());
    write_verdict(document.as_bytes(), &target)?;
    if comparison.failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if matches!(target, Target::File(_)) || style != Style::Text {
        for failure in &comparison.failures {
            stderr::error(&format!("{}: {}", failure.condition, failure.message));
        }
    }
    Ok(ExitCode::from(1))
}

/// The traces of one side.
struct Traces {
    store: TraceStore,
    /// The names of the traces.
    traces: Vec<String>,
}

fn find(name: &str, chosen: &[String], global: &Global) -> Result<Traces> {
    let location = match locate_one(name, global) {
        Err(Error::Input(e @ IngestError::StoreVersion { .. })) => {
            return Err(Error::Query(format!("nothing compares: {e}")));
        }
        other => other?.choose(chosen)?,
    };
    let traces = location.traces()?;
    if traces.is_empty() {
        return Err(IngestError::Store {
            path: name.into(),
            reason: "the store holds no trace to compare".into(),
        }
        .into());
    }
    Ok(Traces { store: location.store().clone(), traces })
}

/// Sentences about ranks that exist on one side only. Two single ranks are compared even if they
/// differ; the ranks are then among the differences of the environments.
fn lost_ranks(sources: &[check::Source], base: &Traces, cand: &Traces) -> Vec<String> {
    let of = |side: &Traces| -> BTreeSet<&str> {
        let labels =
            sources.iter().filter(|s| side.traces.contains(&s.trace_id)).map(|s| s.label.as_str());
        labels.filter(|l| l.starts_with(check::RANK)).collect()
    };
    let (base, cand) = (of(base), of(cand));
    if base.is_empty() || cand.is_empty() || base.len().max(cand.len()) == 1 {
        return Vec::new();
    }
    let lost = |from: &BTreeSet<&str>, of: &BTreeSet<&str>, side| -> Vec<String> {
        from.difference(of).map(|rank| format!("the {side} has no trace of {rank}")).collect()
    };
    [lost(&base, &cand, "candidate"), lost(&cand, &base, "base")].concat()
}

async fn compared(
    engine: &Engine,
    args: &CompareArgs,
    by: Vec<compare::By>,
    base: &Traces,
    cand: &Traces,
) -> Result<Comparison> {
    let mut needed = by.clone();
    needed.extend(args.fail_on.iter().map(|c| c.by));
    needed.sort();
    needed.dedup();
    let rows = compare::rows(engine, &needed).await?;
    if rows.is_empty() {
        let names: Vec<&str> = needed.iter().map(|b| b.name()).collect();
        return Err(Error::Query(format!(
            "neither side has anything to compare by {}",
            names.join(", ")
        )));
    }
    if let Some(why) = compare::apart(engine, &rows).await? {
        return Err(Error::Query(format!("nothing compares: {why}")));
    }
    let mut failures = Vec::new();
    for condition in &args.fail_on {
        failures.extend(condition.failures(&rows)?);
    }
    let steps = compare::steps(engine).await?;
    let (differences, warnings) = compare::environments(engine).await?;
    let mut notes = Vec::new();
    let lost = lost_ranks(&check::sources(engine).await?, base, cand);
    if !args.fail_on.is_empty() {
        failures.extend(
            lost.iter()
                .map(|message| Failure { condition: "ranks".to_owned(), message: message.clone() }),
        );
    }
    notes.extend(lost);
    let ours = ["compare_base", "compare_candidate"];
    for (name, setting) in
        engine.settings().changed().into_iter().filter(|(name, _)| !ours.contains(&name.as_str()))
    {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
        notes.push(format!(
            "setting {name} is {}, by default {}",
            text(&setting.value),
            text(&setting.default)
        ));
    }
    if base.traces == cand.traces {
        notes.push("both sides have the same traces".to_owned());
    }
    let without: Vec<&str> = [("the base", steps.0), ("the candidate", steps.1)]
        .iter()
        .filter(|(_, n)| *n == 0)
        .map(|(side, _)| *side)
        .collect();
    if !without.is_empty() {
        let has = if without.len() == 1 { "has" } else { "have" };
        notes.push(format!(
            "{} {has} no steps, so no difference can be told from noise; call prof.step() at the \
            end of each step",
            without.join(" and ")
        ));
    }
    if by.contains(&compare::By::Step) {
        notes.extend(compare::utilization(engine).await?);
    }
    if !rows.iter().any(|r| r.is_on_both() && r.says_what()) {
        notes.push("no name is on both sides: all that is shown is added or removed".to_owned());
    }
    let absent: Vec<&str> =
        by.iter().filter(|b| !rows.iter().any(|r| r.by == **b)).map(|b| b.name()).collect();
    if !absent.is_empty() && !args.by.is_empty() {
        notes.push(format!("neither side has anything to compare by {}", absent.join(", ")));
    }
    let side = |name: &str, found: &Traces, steps| Side {
        name: name.to_owned(),
        traces: found.traces.clone(),
        steps,
    };
    Ok(Comparison {
        base: side(&args.base, base, steps.0),
        cand: side(&args.cand, cand, steps.1),
        by,
        rows,
        failures,
        differences,
        warnings,
        notes,
    })
}

//! `tracesql report`: writes a report about the traces of a store.

use std::path::PathBuf;

use clap::Args;
use tracesql::engine::{Engine, text};
use tracesql::open::Location;
use tracesql::output::units::plural;
use tracesql::output::write_document;
use tracesql::report::{self, Format, Report};
use tracesql::{Error, Result};
use tracesql_ingest::Manifest;

use super::{locate, refuse_input, target, warn_of_problems};
use crate::global::Global;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::ReportFormat;

/// The minimum width at which a table of the report has enough room.
const MIN_WIDTH: usize = 60;
/// The maximum width at which lines are easy to follow.
const MAX_WIDTH: usize = 120;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql report runs/base
  tracesql report runs/base -o report.html
  tracesql report rank*.pt.trace.json.gz -o report.md
  tracesql report runs/base --format json | jq '.sections.findings.rows[].message'")]
pub struct ReportArgs {
    /// A store, or traces
    #[arg(value_name = "STORE", required = true)]
    pub inputs: Vec<String>,
    /// Format [default: what the name of the file says, else text]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// File for the report; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only this trace: its name, or the end of its path; may be given several times
    #[arg(long = "trace", value_name = "NAME")]
    pub traces: Vec<String>,
    /// Most traces that the report is about; the others are named as left out
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub max_traces: usize,
    /// Say on standard error when the rows of each section were complete
    #[arg(long, hide = true)]
    pub timing: bool,
}

pub fn run(args: &ReportArgs, global: &Global) -> Result<()> {
    if let Some(output) = &args.output {
        refuse_input(output, &args.inputs)?;
    }
    let (engine, left_out) = chosen(locate(&args.inputs, false, global)?, args, global)?;
    warn_of_problems(&engine);
    let named = args.format.map(Format::from);
    let format = named.or_else(|| Format::of_file(args.output.as_ref()?)).unwrap_or_default();
    let report = block_on(global, report::collect(&engine, left_out, format))?;
    if args.timing {
        say_times(&report);
    }
    let target = target(args.output.as_ref());
    // The width of the terminal. Without a terminal, the width that the caller gives.
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let screen = comfy_table::Table::new()
        .width()
        .map(usize::from)
        .or(columns)
        .unwrap_or(100)
        .clamp(MIN_WIDTH, MAX_WIDTH);
    write_document(report.write(format, screen).as_bytes(), &target)?;
    if !report.left_out.is_empty() && !global.quiet {
        let left_out = report.left_out.len();
        let are = if left_out == 1 { "trace is" } else { "traces are" };
        stderr::warning(&format!(
            "{left_out} {are} left out; --trace NAME chooses, --max-traces N takes more"
        ));
    }
    let failures: Vec<String> =
        report.failures().map(|(name, why)| format!("section {name}: {why}")).collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Error::Query(format!(
            "the report was written, but not all of it:\n{}",
            failures.join("\n")
        )))
    }
}

/// The session over the traces that the user chose, and the names of the others.
fn chosen(location: Location, args: &ReportArgs, global: &Global) -> Result<(Engine, Vec<String>)> {
    let engine = location.engine(&global.engine_options())?;
    let all = engine.traces();
    for name in &args.traces {
        if !all.iter().any(|t| is_named(t, name)) {
            return Err(Error::Usage(format!(
                "there is no trace {name:?} here; `tracesql list STORE` shows their names"
            )));
        }
    }
    let is_wanted = |trace_id: &str| {
        args.traces.is_empty()
            || all
                .iter()
                .any(|t| t.trace_id == trace_id && args.traces.iter().any(|name| is_named(t, name)))
    };
    let ordered = by_rank(&engine, global)?;
    let shown: Vec<&(String, Option<String>)> =
        ordered.iter().filter(|(id, _)| is_wanted(id)).take(args.max_traces.max(1)).collect();
    if shown.len() == all.len() {
        return Ok((engine, Vec::new()));
    }
    let left_out = ordered
        .iter()
        .map(|(id, _)| id.clone())
        .filter(|id| !shown.iter().any(|(other, _)| other == id))
        .collect();
    // The other ranks of their jobs are opened too, because ranks are judged by comparison.
    let is_open = |(id, job): &&(String, Option<String>)| {
        shown.iter().any(|(other, its)| other == id || (job.is_some() && its == job))
    };
    let names: Vec<String> = ordered.iter().filter(is_open).map(|(id, _)| id.clone()).collect();
    Ok((location.with_only(names).engine(&global.engine_options())?, left_out))
}

/// The traces in the order of the report, each with its job.
fn by_rank(engine: &Engine, global: &Global) -> Result<Vec<(String, Option<String>)>> {
    let sql =
        "SELECT t.trace_id, j.job FROM traces t LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
               ORDER BY t.format, t.rank NULLS LAST, t.path, t.trace_id";
    let rows = block_on(global, engine.objects(sql))?;
    Ok(rows.iter().filter_map(|row| Some((text(row, "trace_id")?, text(row, "job")))).collect())
}

fn is_named(trace: &Manifest, name: &str) -> bool {
    trace.trace_id == name
        || trace.path == name
        || trace.path.strip_suffix(name).is_some_and(|p| p.ends_with('/'))
}

fn say_times(report: &Report) {
    stderr::line(&format!("{:>8.1} ms  planning", report.planning.as_secs_f64() * 1e3));
    let mut answers: Vec<_> = report.answers.iter().collect();
    answers.sort_by_key(|a| std::cmp::Reverse(a.elapsed));
    for answer in answers {
        stderr::line(&format!(
            "{:>8.1} ms  {} ({} {})",
            answer.elapsed.as_secs_f64() * 1e3,
            answer.section.key,
            answer.rows.len(),
            plural(answer.rows.len(), "row")
        ));
    }
}

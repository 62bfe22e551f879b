//! `tracesql report`: writes a report about the traces of a store.

use std::path::PathBuf;

use clap::Args;
use tracesql::engine::{Engine, text};
use tracesql::export;
use tracesql::open::Location;
use tracesql::output::units::plural;
use tracesql::output::write_document;
use tracesql::report::{self, Format, Report};
use tracesql::{Error, Result};

use super::{locate, refuse_input, target, warn_of_problems};
use crate::global::Global;
use crate::output_names;
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
  tracesql report runs/base --trace rank0 -o rank0.html
  tracesql report runs/base --format json | jq .sections.findings")]
pub struct ReportArgs {
    /// A store, or traces
    #[arg(value_name = "STORE", required = true)]
    pub inputs: Vec<String>,
    /// Format [default: by the ending of the output file, else text]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// File for the report; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Only traces of this rank
    #[arg(long, value_name = "N")]
    pub rank: Option<i64>,
    /// Most traces that the report is about; the report lists the others as left out
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub max_traces: usize,
    /// Report on standard error when the rows of each section were complete
    #[arg(long, hide = true)]
    pub timing: bool,
}

pub fn run(args: &ReportArgs, global: &Global) -> Result<()> {
    if let Some(output) = &args.output {
        refuse_input(output, &args.inputs)?;
    }
    let format = output_names::format(
        args.format.map(Format::from),
        args.output.as_ref(),
        Format::of_file,
        ".html, .md, .json or .txt",
    )?
    .unwrap_or_default();
    let location = locate(&args.inputs, false, global)?;
    let engine = location.engine(&global.engine_options())?;
    let mut named = location.clone().choose(&args.traces)?.traces()?;
    if let Some(rank) = args.rank {
        let of_rank = export::of_rank(&block_on(global, export::traces(&engine))?, rank)?;
        named.retain(|id| of_rank.contains(id));
        if named.is_empty() {
            return Err(Error::Usage(format!("no trace of --trace has rank {rank}")));
        }
    }
    let (engine, left_out) = chosen(engine, location, &named, args.max_traces, global)?;
    warn_of_problems(&engine);
    let mut report = block_on(global, report::collect(&engine, left_out, format))?;
    // Traces that the user did not choose are not worth a mention.
    report.left_out.retain(|id| named.contains(id));
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
            "{left_out} {are} left out; --trace NAME chooses some, --max-traces N takes more"
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

/// The session over the first of the named traces, at most `max_traces`, and the ids of the others.
fn chosen(
    engine: Engine,
    location: Location,
    named: &[String],
    max_traces: usize,
    global: &Global,
) -> Result<(Engine, Vec<String>)> {
    let ordered = by_rank(&engine, global)?;
    let shown: Vec<&(String, Option<String>)> =
        ordered.iter().filter(|(id, _)| named.contains(id)).take(max_traces.max(1)).collect();
    if shown.len() == engine.traces().len() {
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

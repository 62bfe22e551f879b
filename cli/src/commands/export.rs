//! `tracesql export`: writes traces and views for other tools.

use std::path::PathBuf;

use clap::Args;
use tracesql::engine::Engine;
use tracesql::export::{
    self, ChromeRequest, Extras, PerfRequest, Selection, TablesRequest, TraceFacts, Written,
};
use tracesql::output::units::{many, plural};
use tracesql::output::{Target, safe, write_document};
use tracesql::stacks::{self, Request};
use tracesql::{Error, Result};

use super::samples::{refuse_terminal, warn};
use super::{locate_one, refuse_input, target, warn_of_problems};
use crate::global::Global;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::ExportFormat;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql export store -o cleaned.json.gz        open it at ui.perfetto.dev
  tracesql export store --trace rank0 --step 3 -o step3.json.gz
  tracesql export store --where \"cat = 'kernel'\" -o kernels.json
  tracesql export store --findings --counters -o all_ranks.json.gz
  tracesql export store --critical-path -o path.json.gz
  tracesql export store --format parquet -o folder    all tables
  tracesql export store --format csv --view operators --view steps -o folder
  tracesql export store --view operators -o operators.csv
  tracesql export store -c \"SELECT * FROM steps\" -o steps.ndjson
  tracesql export perf.json --format perf-json -o again.json

Several traces are put on one clock. A Chrome trace of one trace is read back as
the same rows, and so is a perf.json; docs/export.md states what is kept.")]
pub struct ExportArgs {
    /// A store, or one trace
    #[arg(value_name = "STORE")]
    pub store: String,
    /// Format [default: by the ending of the output file]
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// File, or folder for several tables; `-` for standard output
    #[arg(short = 'o', long, value_name = "PATH")]
    pub output: PathBuf,
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Only traces of this rank
    #[arg(long, value_name = "N")]
    pub rank: Option<i64>,
    /// Only this step, or the steps from A to B
    #[arg(long, value_name = "N|A..B", value_parser = steps, allow_hyphen_values = true)]
    pub step: Option<(i64, i64)>,
    /// Only rows for which this holds: of events for chrome and perf-json, else of what is exported
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// A table or view to export; may be given several times [default: all tables]
    #[arg(long, value_name = "NAME", conflicts_with = "query")]
    pub view: Vec<String>,
    /// A query to export; for chrome and perf-json one whose trace_id and event_id name the events;
    /// for stacks one that gives samples
    #[arg(short = 'c', long = "command", value_name = "SQL", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// (chrome) Add findings as instant events on a track of their own
    #[arg(long)]
    pub findings: bool,
    /// (chrome) Add GPU utilization, memory, launch queues and copy bandwidth as counters
    #[arg(long)]
    pub counters: bool,
    /// (chrome) Add the critical path of the trace and of each step as tracks
    #[arg(long)]
    pub critical_path: bool,
}

fn steps(text: &str) -> Result<(i64, i64), String> {
    let number = |text: &str| {
        text.trim()
            .parse::<i64>()
            .map_err(|_| format!("{text:?} is not a step; write a number, or two as 3..5"))
    };
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if last < first {
        Err(format!("step {last} comes before step {first}"))
    } else {
        Ok((first, last))
    }
}

pub fn run(args: &ExportArgs, global: &Global) -> Result<()> {
    let format = match args.format.or_else(|| ExportFormat::of_file(&args.output)) {
        Some(format) => format,
        None => {
            return Err(Error::Usage(format!(
                "{}: the name states no format that can be exported; give --format, or end it in \
                 .json, .json.gz, .csv, .tsv, .ndjson, .parquet, .arrow, .folded or .pb.gz",
                args.output.display()
            )));
        }
    };
    check(args, format)?;
    refuse_input(&args.output, [&args.store])?;
    let (engine, traces) = open(args, global)?;
    warn_of_problems(&engine);
    let target = target(Some(&args.output));
    if matches!(format, ExportFormat::Parquet | ExportFormat::Arrow | ExportFormat::Pprof) {
        refuse_terminal(&target, "this format")?;
    }
    let selection =
        Selection { condition: args.filter.clone(), steps: args.step, query: args.query.clone() };
    match format.table() {
        Some((format, ending)) => {
            let request = TablesRequest { views: args.view.clone(), selection, format, ending };
            let files = block_on(global, export::tables(&engine, &request, &target))?;
            report(
                global,
                files.iter().map(|(name, rows)| format!("{name}: {}", many(*rows as i64, "row"))),
            );
            Ok(())
        }
        None if format == ExportFormat::Chrome => {
            chrome(args, global, &engine, traces, selection, &target)
        }
        None if format == ExportFormat::PerfJson => {
            perf(args, global, &engine, &traces, selection, &target)
        }
        None => profile(format, global, &engine, selection, &target),
    }
}

/// Refuses options that the format ignores, so that the user does not believe they were applied.
fn check(args: &ExportArgs, format: ExportFormat) -> Result<()> {
    let is_table = format.table().is_some();
    if !args.view.is_empty() && !is_table {
        return Err(Error::Usage(
            "--view is for csv, tsv, ndjson, parquet and arrow; select events with --where or -c"
                .into(),
        ));
    }
    if args.step.is_some() && format == ExportFormat::PerfJson {
        return Err(Error::Usage(
            "a perf.json has no steps; choose blobs with --where or -c".into(),
        ));
    }
    if (args.findings || args.counters || args.critical_path) && format != ExportFormat::Chrome {
        return Err(Error::Usage(
            "--findings, --counters and --critical-path are for --format chrome; \
             as tables they are views: findings, memory_curve, critical_path"
                .into(),
        ));
    }
    Ok(())
}

/// A session over the traces that the user asked for, and their properties.
fn open(args: &ExportArgs, global: &Global) -> Result<(Engine, Vec<TraceFacts>)> {
    let options = global.engine_options();
    let location = locate_one(&args.store, global)?.choose(&args.traces)?;
    let engine = location.engine(&options)?;
    let mut traces = block_on(global, export::traces(&engine))?;
    let Some(rank) = args.rank else { return Ok((engine, traces)) };
    let chosen = export::of_rank(&traces, rank)?;
    traces.retain(|t| chosen.contains(&t.trace_id));
    Ok((location.with_only(chosen).engine(&options)?, traces))
}

fn chrome(
    args: &ExportArgs,
    global: &Global,
    engine: &Engine,
    traces: Vec<TraceFacts>,
    selection: Selection,
    target: &Target,
) -> Result<()> {
    let request = ChromeRequest {
        traces,
        selection,
        extras: Extras {
            findings: args.findings,
            counters: args.counters,
            critical_path: args.critical_path,
        },
        gzip: args.output.extension().is_some_and(|e| e == "gz"),
        memory: global.memory_limit.unwrap_or(0),
        from_start: false,
    };
    let written = block_on(global, export::chrome(engine, &request, target))?;
    say_written(&written, request.traces.len(), args, global);
    Ok(())
}

fn perf(
    args: &ExportArgs,
    global: &Global,
    engine: &Engine,
    traces: &[TraceFacts],
    selection: Selection,
    target: &Target,
) -> Result<()> {
    let [trace] = traces else {
        let names: Vec<&str> = traces.iter().map(|t| t.trace_id.as_str()).collect();
        return Err(Error::Usage(format!(
            "a perf.json holds one trace; choose one with --trace: {}",
            names.join(", ")
        )));
    };
    let gzip = args.output.extension().is_some_and(|e| e == "gz");
    let request = PerfRequest { trace: trace.clone(), selection, gzip };
    let written = block_on(global, export::perf(engine, &request, target))?;
    say_written(&written, 1, args, global);
    Ok(())
}

fn say_written(written: &Written, traces: usize, args: &ExportArgs, global: &Global) {
    if !global.quiet {
        written.notes.iter().for_each(|note| stderr::warning(note));
        if written.skipped > 0 {
            stderr::warning(&format!(
                "{} {} of the inputs could not be read and were left out (see ingest_issues)",
                written.skipped,
                plural(written.skipped, "element")
            ));
        }
    }
    let added =
        if written.added > 0 { format!(", {} added", written.added) } else { String::new() };
    let of = format!("{traces} {}", plural(traces, "trace"));
    report(
        global,
        [format!(
            "{}: {} {} of {of}{added}",
            args.output.display(),
            written.elements,
            plural(written.elements, "element")
        )],
    );
}

fn profile(
    format: ExportFormat,
    global: &Global,
    engine: &Engine,
    selection: Selection,
    target: &Target,
) -> Result<()> {
    let filter = selection.conditions();
    let request = Request { sql: selection.query, filter, ..Request::default() };
    let samples = block_on(global, stacks::collect(engine, None, &request))?;
    let bytes = match format {
        ExportFormat::Folded => stacks::folded(&samples.profile, None, false)?.into_bytes(),
        _ => stacks::pprof(&samples.profile, &samples.header)?,
    };
    write_document(&bytes, target)?;
    warn(&samples, global);
    Ok(())
}

/// Reports which files were written.
fn report(global: &Global, lines: impl IntoIterator<Item = String>) {
    if !global.quiet {
        lines.into_iter().for_each(|text| stderr::line(&safe(&text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_one_or_a_range() {
        assert_eq!(steps("3"), Ok((3, 3)));
        assert_eq!(steps("3..5"), Ok((3, 5)));
        assert!(steps("5..3").is_err());
        assert!(steps("a").is_err());
    }
}

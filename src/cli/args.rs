//! Arguments of all commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use super::check::CheckArgs;
use super::compare::CompareArgs;
use super::doctor::DoctorArgs;
use super::export::ExportArgs;
use super::manual::{CompletionsArgs, ManArgs};
use super::report::ReportArgs;
use super::stacks::{FlamegraphArgs, FoldedArgs, PprofArgs, SpeedscopeArgs};
use crate::docs::Style;
use crate::output::Format;
use crate::size::bytes;

/// SQL over machine-learning profiler traces.
///
/// Reads PyTorch/Kineto and Chrome traces (.json, .gz, .zst, .zip, .tar) and MLLM perf.json
/// exactly, stores them as Parquet and answers SQL.
#[derive(Debug, Parser)]
#[command(
    name = "tracesql",
    version,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  tracesql trace.json.gz -c \"SELECT name, sum(dur_ns) FROM events GROUP BY 1 ORDER BY 2 DESC LIMIT 5\"
  tracesql ingest rank*.json.gz -o runs/base
  tracesql query runs/base -c \"SELECT * FROM ingest_issues\"
  tracesql query runs/base -f report.sql --format csv -o report.csv -p step=3

Exit codes: 0 ok, 1 a check failed, 2 usage, 3 an input could not be read, 4 a query failed."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub global: Global,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Number of threads [default: all cores]
    #[arg(long, global = true, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub threads: usize,
    /// Memory to stay within, for example 1GiB; reading traces takes 400MB at least [default: half
    /// of the machine's for reading traces, none for queries]
    #[arg(long, global = true, value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: Option<usize>,
    /// Stop a query that takes longer, for example 30s or 5m; each statement has this time
    /// [default: no limit]
    #[arg(long, global = true, value_parser = duration, value_name = "DURATION")]
    pub timeout: Option<Duration>,
    /// Let statements read files outside the store (CREATE EXTERNAL TABLE)
    #[arg(long, global = true)]
    pub allow_files: bool,
    /// Take what is given as SQL only: commands such as \\o FILE are refused
    #[arg(long, global = true)]
    pub no_commands: bool,
    /// Say nothing but errors on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Folder with views of your own, laid out as AREA/NAME.sql; may be given several times
    #[arg(long, global = true, value_name = "DIR")]
    pub sql: Vec<PathBuf>,
    /// Folder with rules of your own, as rule_NAME.sql or rules/rule_NAME.sql; may be given several
    /// times
    #[arg(long, global = true, value_name = "DIR")]
    pub rules: Vec<PathBuf>,
    /// Change a setting, for example a threshold; `tracesql docs` lists them
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = parameter)]
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read traces into a store
    ///
    /// A store is a folder of Parquet files that any tool can read. Bytes that it holds already are
    /// not read again; of what is damaged, whole elements are kept and the rest is counted in the
    /// table ingest_issues.
    Ingest(IngestArgs),
    /// Run SQL over a store
    ///
    /// Without -c or -f, a shell on a terminal, else the SQL of standard input. `tracesql docs`
    /// says which tables, views and functions there are.
    Query(QueryArgs),
    /// Run rules, assertions and comparisons with a baseline; for pipelines
    Check(CheckArgs),
    /// Compare two stores or traces by step, operator, kernel or module
    Compare(CompareArgs),
    /// Write a report: text, Markdown, JSON or an HTML page
    Report(ReportArgs),
    /// Write stacks with host time, device time and memory as a profile for pprof
    Pprof(PprofArgs),
    /// Write folded stacks, one line each
    Folded(FoldedArgs),
    /// Draw a flame graph as SVG
    Flamegraph(FlamegraphArgs),
    /// Write stacks as a profile for speedscope
    Speedscope(SpeedscopeArgs),
    /// Write traces and views for other tools: Chrome JSON, CSV, Parquet, …
    Export(ExportArgs),
    /// Read a whole store and say whether it is sound
    Doctor(DoctorArgs),
    /// List the traces of a store
    List(StoreArgs),
    /// Remove traces from a store
    Remove(RemoveArgs),
    /// Show the reference of tables, views, functions and settings
    Docs(DocsArgs),
    /// Print what makes a shell complete commands and options
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Traces (files, folders, globs, `-` for standard input), or one store
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,
    #[command(flatten)]
    pub sql: SqlArgs,
    /// Refuse inputs that are not clean
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct SqlArgs {
    /// SQL to run; statements are separated by `;`
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        conflicts_with = "file",
        allow_hyphen_values = true
    )]
    pub command: Option<String>,
    /// File with SQL to run, `-` for standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Format of results [default: table, or what the name of the output file says]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// File for the result instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Value of `$name` in the SQL: a number, true, false, null, or text
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql ingest trace.json.gz -o store
  tracesql ingest 'runs/*/rank*.json.gz' -o store
  gzip -dc trace.json.gz | tracesql ingest - -o store
  tracesql ingest big.json -o store --memory-limit 1GiB

The names of the traces in the store are printed, one a line; the summary goes to standard error.")]
pub struct IngestArgs {
    /// Files, folders, globs; `-` for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<String>,
    /// The store; it is made if it does not exist
    #[arg(short = 'o', long = "output", value_name = "STORE")]
    pub store: PathBuf,
    /// Refuse an input unless it is clean
    #[arg(long)]
    pub strict: bool,
    /// Read inputs again that the store holds already
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql query store -c \"SELECT name, sum(dur_ns) FROM kernels GROUP BY 1 ORDER BY 2 DESC LIMIT 5\"
  tracesql query store -c \"SELECT * FROM steps WHERE step = \\$step\" -p step=3
  tracesql query store -f report.sql --format csv -o report.csv -p step=3
  echo \"SELECT count(*) FROM events\" | tracesql query store --format json")]
pub struct QueryArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    #[command(flatten)]
    pub sql: SqlArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql list store
  tracesql list store --format csv
  tracesql list ~/.cache/tracesql/traces-v4    what was opened without a store")]
pub struct StoreArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql remove store trace-0123456789ab
  tracesql list store --format csv | tail -n +2 | cut -d, -f1 | xargs tracesql remove store")]
pub struct RemoveArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Names of traces, as `tracesql list` shows them
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql docs
  tracesql docs kernel_launches
  tracesql docs rules
  tracesql docs kernel_classification
  tracesql docs --format markdown > reference.md")]
pub struct DocsArgs {
    /// A table, view, function, setting, an area of them, or a topic [default: an overview, with
    /// topics at its end]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Form of the text
    #[arg(long, value_enum, default_value = "text")]
    pub format: Style,
}

fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 =
        text[..at].parse().map_err(|_| format!("{text:?} is not a time; write for example 30s"))?;
    let seconds = match text[at..].trim() {
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        unit => return Err(format!("{unit:?} is not a unit of time; use ms, s, m or h")),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a time above zero is needed".to_owned()),
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(
            duration("0").is_err() && duration("soon").is_err() && duration("1 fortnight").is_err()
        );
    }
}

//! The whole command line: its commands, and the arguments of a call without a command.

use clap::{Parser, Subcommand};

use crate::commands::check::CheckArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::docs::DocsArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::export::ExportArgs;
use crate::commands::flamegraph::FlamegraphArgs;
use crate::commands::folded::FoldedArgs;
use crate::commands::ingest::IngestArgs;
use crate::commands::list::ListArgs;
use crate::commands::man::ManArgs;
use crate::commands::open::OpenArgs;
use crate::commands::pprof::PprofArgs;
use crate::commands::query::QueryArgs;
use crate::commands::remove::RemoveArgs;
use crate::commands::report::ReportArgs;
use crate::commands::speedscope::SpeedscopeArgs;
use crate::global::Global;

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
  tracesql trace.json.gz -c \"SELECT name, sum(dur_ns) FROM events GROUP BY 1 ORDER BY 2 DESC \
     LIMIT 5\"
  tracesql ingest rank*.json.gz -o runs/base
  tracesql query runs/base -c \"SELECT * FROM ingest_issues\"
  tracesql query runs/base -f report.sql --format csv -o report.csv -p step=3

Exit codes: 0 ok, 1 a check failed, 2 usage, 3 an input could not be read, 4 a query failed."
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub global: Global,
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
    List(ListArgs),
    /// Remove traces from a store
    Remove(RemoveArgs),
    /// Show the reference of tables, views, functions and settings
    Docs(DocsArgs),
    /// Print what makes a shell complete commands and options
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_hold_together() {
        CommandLine::command().debug_assert();
    }
}

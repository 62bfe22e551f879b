//! The whole command line: its commands, and the arguments of a call without a command.

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::cache::CacheArgs;
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
use crate::commands::mcp::McpArgs;
use crate::commands::open::OpenArgs;
use crate::commands::pprof::PprofArgs;
use crate::commands::query::QueryArgs;
use crate::commands::remove::RemoveArgs;
use crate::commands::report::ReportArgs;
use crate::commands::speedscope::SpeedscopeArgs;
use crate::commands::ui::UiArgs;
use crate::global::{self, Global};

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
  tracesql report trace.json.gz -o report.html
  tracesql trace.json.gz -c \"SELECT * FROM operators LIMIT 5\"
  tracesql ingest rank*.json.gz -o runs/base
  tracesql query runs/base -f report.sql -o report.csv -p step=3

Exit codes:
  0  success
  1  a check failed
  2  a command or an option is wrong
  3  an input or a store could not be read
  4  a query failed, or a result could not be written"
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
    /// Without -c or -f, it starts a shell on a terminal, and otherwise runs the SQL of standard
    /// input. `tracesql docs` lists all tables, views and functions.
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
    /// Show traces in the browser: timeline, SQL, stacks, report
    ///
    /// Read-only and for this machine only: the pages come from 127.0.0.1, need the token of the
    /// printed address, and send nothing elsewhere. A query may take 60 s (--timeout), and half of
    /// the machine's memory is used at most (--memory-limit).
    Ui(UiArgs),
    /// Answer coding assistants (Model Context Protocol) on standard input and output
    ///
    /// Read-only and bounded: two queries run at once, each for at most 30 s (--timeout), and half
    /// of the machine's memory is used at most (--memory-limit).
    Mcp(McpArgs),
    /// Read a whole store and report whether it is sound
    Doctor(DoctorArgs),
    /// List the traces of a store
    List(ListArgs),
    /// Remove traces from a store
    Remove(RemoveArgs),
    /// List or remove the traces that were opened without a store
    Cache(CacheArgs),
    /// Show the reference of tables, views, functions and settings
    Docs(DocsArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
}

/// The description of the whole command line.
pub fn command() -> clap::Command {
    global::hide_unused(CommandLine::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of columns in which texts after the options are shown as they are.
    const MAX_COLUMNS: usize = 80;

    #[test]
    fn examples_fit_a_terminal() {
        let mut all = command();
        all.build();
        for command in all.get_subcommands().chain([&all]) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long: Vec<&str> =
                text.lines().filter(|l| l.chars().count() > MAX_COLUMNS).collect();
            assert!(long.is_empty(), "{}:\n{}", command.get_name(), long.join("\n"));
        }
    }

    #[test]
    fn arguments_hold_together() {
        command().debug_assert();
    }
}

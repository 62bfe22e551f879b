//! `tracesql ingest`: reads traces into a store.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracesql::open::{Choose, Opener};
use tracesql::{Error, Result};
use tracesql_ingest::{IngestOptions, StepPattern};

use crate::global::Global;
use crate::output_names::refuse_file;
use crate::terminal::{Messages, Terminal};

#[derive(Debug, Args)]
#[command(after_help = r"Examples:
  tracesql ingest trace.json.gz -o store
  tracesql ingest 'runs/*/rank*.json.gz' -o store
  gzip -dc trace.json.gz | tracesql ingest - -o store
  tracesql ingest big.json -o store --memory-limit 1GiB
  tracesql ingest trace.json.gz -o store --steps-from 'iteration \d+'

The ids of the traces in the store go to standard output, one a line. Progress
and statistics go to standard error.")]
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
    /// Take ranges (NVTX, roctx, annotations) whose whole name matches for steps, in place of
    /// ProfilerStep#N; the first group, else the last digits, are the number
    #[arg(long, value_name = "REGEX")]
    pub steps_from: Option<StepPattern>,
}

pub fn run(args: &IngestArgs, global: &Global) -> Result<()> {
    run_part(args, global, None)
}

/// Reads a part of the inputs that the names stand for.
pub fn run_part(args: &IngestArgs, global: &Global, choose: Option<&Choose<'_>>) -> Result<()> {
    refuse_file(&args.store, "a store")?;
    let terminal = Terminal::new(Messages::of(global));
    let options = IngestOptions {
        steps_from: args.steps_from.clone(),
        ..global.ingest_options(args.strict, args.replace)
    };
    let mut opener = Opener::new(options, &terminal);
    if let Some(choose) = choose {
        opener = opener.choosing(choose);
    }
    opener
        .ingest(&args.store, &args.inputs, |outcome| print_name(&outcome.manifest.trace_id))
        .map(drop)
}

/// Prints the name of a trace, for scripts. If the reader of standard output has closed it, the
/// other inputs are still read.
fn print_name(trace_id: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{trace_id}") {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Output("standard output".to_owned(), e))
        }
        _ => Ok(()),
    }
}

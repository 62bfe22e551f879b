//! `tracesql mcp`: answers coding assistants on standard input and output.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tracesql::mcp::{self, Config, OpenMore};
use tracesql::requests::Limits;
use tracesql::{Error, Result};
use tracesql_ingest::physical_memory;

use super::{locate, locate_one};
use crate::global::Global;

/// The longest time of a query that `--timeout` can allow.
const MAX_TIME: Duration = Duration::from_secs(3_600);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql mcp runs/base
  tracesql mcp rank*.pt.trace.json.gz --timeout 10s
  tracesql mcp runs/base --allow-open traces

It speaks the Model Context Protocol (revisions 2024-11-05 to 2026-07-28), one
JSON object a line, until its input ends. Clients start it themselves.")]
pub struct McpArgs {
    /// Traces (files, folders, globs), or one store
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<String>,
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Let clients open more traces of this folder
    #[arg(long, value_name = "DIR")]
    pub allow_open: Option<PathBuf>,
}

pub fn run(args: &McpArgs, global: &Global) -> Result<()> {
    if let Some(folder) = args.allow_open.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Error::Usage(format!("--allow-open {}: not a folder", folder.display())));
    }
    let mut options = global.engine_options();
    // Nobody watches the machine while an assistant asks.
    options.memory_limit = global.memory_limit.unwrap_or_else(|| physical_memory() / 2);
    let time = global.timeout.unwrap_or(Limits::default().time).min(MAX_TIME);
    let limits = Limits { time, ..Limits::default() };
    let (inputs, traces, quiet) = (args.inputs.clone(), args.traces.clone(), global.clone());
    let open = move || locate(&inputs, false, &quiet)?.choose(&traces);
    let open_more = args.allow_open.clone().map(|folder| (folder, opener(global)));
    let config = Config { open: Box::new(open), open_more, engine: options, limits };
    mcp::serve(config, BufReader::new(io::stdin()), io::stdout())
}

/// Opens traces through the cache, so that the user's store stays as it is.
fn opener(global: &Global) -> Arc<OpenMore> {
    let global = global.clone();
    Arc::new(move |path: &str| locate_one(path, &global))
}

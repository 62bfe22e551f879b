//! `tracesql mcp`: answers coding assistants on standard input and output.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tracesql::mcp::{self, Config, OpenMore};
use tracesql::open::{Location, Opener};
use tracesql::requests::Limits;
use tracesql::{Error, Result};
use tracesql_ingest::physical_memory;

use super::locate;
use crate::global::Global;
use crate::terminal::{Messages, Terminal};

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
    let mut limits = Limits::default();
    limits.time = global.timeout.unwrap_or(limits.time).min(Duration::from_secs(3_600));
    let (inputs, traces, quiet) = (args.inputs.clone(), args.traces.clone(), global.clone());
    let open = move || locate(&inputs, false, &quiet)?.choose(&traces);
    let open_more = args.allow_open.clone().map(|folder| (folder, opener(global)));
    let config = Config { open: Box::new(open), open_more, engine: options, limits };
    mcp::serve(config, BufReader::new(io::stdin()), io::stdout())
}

/// Opens a trace next to those that are open.
fn opener(global: &Global) -> Arc<OpenMore> {
    let global = global.clone();
    Arc::new(move |open: &Location, path: &str| {
        let terminal = Terminal::new(Messages::of(&global));
        Opener::new(global.ingest_options(false, false), &terminal).add(open, &[path.to_owned()])
    })
}

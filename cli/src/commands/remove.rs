//! `tracesql remove`: removes traces from a store.

use std::path::PathBuf;

use clap::Args;
use tracesql::Result;
use tracesql::output::safe;
use tracesql_ingest::Store;

use crate::global::Global;
use crate::stderr;

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

pub fn run(args: &RemoveArgs, global: &Global) -> Result<()> {
    let store = Store::open(&args.store)?;
    for trace in &args.traces {
        store.remove(trace)?;
        if !global.quiet {
            stderr::line(&format!("removed {}", safe(trace)));
        }
    }
    Ok(())
}

//! `tracesql remove`: removes traces from a store.

use std::path::PathBuf;

use clap::Args;
use tracesql::Result;
use tracesql::open::{named_trace, open_store};
use tracesql::output::safe;
use tracesql::store::TraceStore;

use crate::global::Global;
use crate::stderr;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql remove store trace-0123456789ab
  tracesql remove store rank0 rank1.json.gz")]
pub struct RemoveArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Traces: the id, the beginning of the id, the end of the path, or the content hash of each
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<String>,
}

pub fn run(args: &RemoveArgs, global: &Global) -> Result<()> {
    let store = open_store(&args.store)?;
    // All names are resolved first, so that a misspelled one leaves the store as it is.
    let traces = args.traces.iter().map(|name| id(&store, name)).collect::<Result<Vec<_>>>()?;
    for (at, trace) in traces.iter().enumerate() {
        if traces[..at].contains(trace) {
            continue;
        }
        store.remove(trace)?;
        if !global.quiet {
            stderr::line(&format!("removed {}", safe(trace)));
        }
    }
    Ok(())
}

/// The id of a trace. A whole id needs no look at the manifests, so that a trace whose manifest is
/// damaged can be removed.
fn id(store: &TraceStore, name: &str) -> Result<String> {
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
    let folder = store.folder().map(|root| root.join(name));
    if is_plain && folder.is_some_and(|folder| folder.join("manifest.json").is_file()) {
        return Ok(name.to_owned());
    }
    let readable = store.readable()?;
    if let Some(trace) = readable.traces.iter().find(|trace| trace.content_hash == name) {
        return Ok(trace.trace_id.clone());
    }
    // A store on object storage removes a damaged manifest by its key.
    let is_hash = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
    if readable.damage.is_some() && is_hash {
        return Ok(name.to_owned());
    }
    readable.or_damage(|all| Ok(named_trace(name, all)?.trace_id.clone()))
}

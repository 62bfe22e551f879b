//! `tracesql-full copy`: copies traces from one store to another, wherever the stores are.

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use tracesql::open::{named_traces, not_a_store};
use tracesql::output::{Target, safe, write_document};
use tracesql::store::{RemoteStore, is_remote};
use tracesql::{Error, Result};
use tracesql_ingest::{Manifest, Store};
use tracesql_remote::{ObjectTraces, copy_file, copy_to_folder};

/// Copy traces from one store to another
///
/// Each store is a folder or a URL. The target is made if it does not exist. Traces that it
/// contains already are not copied again. On object storage, small tables of a trace are parts of
/// one object, unless --separate is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql-full copy runs/base s3://bucket/base
  tracesql-full copy s3://bucket/base runs/base --trace rank0
  tracesql-full copy runs/base s3://bucket/tables --separate")]
struct CopyArgs {
    /// The store to copy from
    #[arg(value_name = "SOURCE")]
    source: String,
    /// The store to copy to
    #[arg(value_name = "TARGET")]
    target: String,
    /// Only these traces
    #[arg(long, value_name = "TRACE")]
    trace: Vec<String>,
    /// Replace traces that the target contains already
    #[arg(long)]
    replace: bool,
    /// Write each table as an object of its own, which other programs can read; it costs requests
    #[arg(long)]
    separate: bool,
}

enum Source {
    Folder(Store),
    Objects(Box<ObjectTraces>),
}

enum Destination {
    Folder(Store),
    Objects(Box<ObjectTraces>),
}

/// The description of the command.
pub fn command() -> Command {
    CopyArgs::augment_args(Command::new("copy"))
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let args = CopyArgs::from_arg_matches(matches).map_err(|e| Error::Usage(e.to_string()))?;
    let (source, mut all) = source(&args.source, &args.trace)?;
    if !args.trace.is_empty() {
        let chosen = named_traces(&args.trace, &all)?;
        all.retain(|manifest| chosen.contains(&manifest.trace_id));
    }
    let target = target(&args.target, args.separate)?;
    for manifest in &all {
        let (kept, was_there) = copy(&source, &target, manifest, args.replace)?;
        let what = if was_there { "was there" } else { "copied" };
        let line = safe(&format!("{} {what}", kept.trace_id)) + "\n";
        write_document(line.as_bytes(), &Target::Stdout)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The source, and its traces. If only some are copied, damaged manifests of others do not matter.
fn source(name: &str, only: &[String]) -> Result<(Source, Vec<Manifest>)> {
    if is_remote(name) {
        let store = ObjectTraces::open(name, false)?;
        let mut readable = store.readable()?;
        if only.is_empty()
            && let Some(damage) = readable.damage.take()
        {
            return Err(damage);
        }
        let all = readable.traces.clone();
        readable.or_damage(|all| named_traces(only, all))?;
        return Ok((Source::Objects(Box::new(store)), all));
    }
    let path = Path::new(name);
    if !Store::is_store(path) {
        return Err(not_a_store(path));
    }
    let store = Store::open(path)?;
    let all = store.traces()?;
    Ok((Source::Folder(store), all))
}

fn target(name: &str, separate: bool) -> Result<Destination> {
    if is_remote(name) {
        let store = ObjectTraces::open(name, true)?;
        let store = if separate { store.separate() } else { store };
        return Ok(Destination::Objects(Box::new(store)));
    }
    if separate {
        return Err(Error::Usage(format!(
            "--separate is for targets on object storage; in the folder {name} each table is a \
             file of its own anyway"
        )));
    }
    Ok(Destination::Folder(Store::open_or_create(Path::new(name))?))
}

fn copy(
    source: &Source,
    target: &Destination,
    manifest: &Manifest,
    replace: bool,
) -> Result<(Manifest, bool)> {
    let id = &manifest.trace_id;
    match (source, target) {
        (Source::Folder(from), Destination::Objects(to)) => {
            to.publish(&from.trace_folder(id), manifest, replace)
        }
        (Source::Folder(from), Destination::Folder(to)) => to.add(manifest, replace, |folder| {
            for (table, facts) in &manifest.tables {
                copy_file(&from.trace_folder(id), folder, table, facts)?;
            }
            Ok::<(), Error>(())
        }),
        (Source::Objects(from), Destination::Folder(to)) => {
            to.add(manifest, replace, |folder| copy_to_folder(from, id, folder).map(|_| ()))
        }
        (Source::Objects(from), Destination::Objects(to)) => {
            if !replace && let Some(kept) = to.find(&manifest.content_hash)? {
                return Ok((kept, true));
            }
            let scratch = tempfile::tempdir()
                .map_err(|source| Error::Start { what: "a folder for a copy", source })?;
            copy_to_folder(from, id, scratch.path())?;
            to.publish(scratch.path(), manifest, replace)
        }
    }
}

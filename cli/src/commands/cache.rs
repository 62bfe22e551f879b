//! `tracesql cache`: lists and removes the traces that were opened without a store.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::temporal_conversions::timestamp_s_to_datetime;
use clap::{Args, Subcommand};
use indicatif::HumanBytes;
use tracesql::open::{CachedTrace, cache_folder, cached_traces, clear_cache};
use tracesql::output::units::many;
use tracesql::output::{self, Target, write_document};
use tracesql::{Error, Result};

use super::list::print;
use crate::global::{Global, duration};
use crate::stderr;
use crate::values::Format;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql cache list
  tracesql cache clear --older-than 30d
  tracesql cache path

`tracesql TRACE` keeps what it reads in $TRACESQL_CACHE, or in tracesql in the
user's folder for caches, so that a trace is read only once. The cache is never
cleaned up automatically. Traces that were removed are read again when needed.")]
pub struct CacheArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the traces in the cache with their sizes and dates
    List {
        /// Format of the list
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
    /// Remove traces from the cache, and report how much was freed
    Clear {
        /// Only traces that were read longer ago than this, for example 30d or 12h
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        older_than: Option<Duration>,
    },
    /// Print the folder of the cache
    Path,
}

pub fn run(args: &CacheArgs, global: &Global) -> Result<()> {
    match &args.action {
        Action::List { format } => list(*format, global),
        Action::Clear { older_than } => clear(*older_than, global),
        Action::Path => {
            let folder = cache_folder().ok_or_else(|| {
                Error::Usage("there is no folder for caches; set TRACESQL_CACHE".into())
            })?;
            write_document(format!("{}\n", folder.display()).as_bytes(), &Target::Stdout)
        }
    }
}

fn list(format: Option<Format>, global: &Global) -> Result<()> {
    let traces = cached_traces();
    let text = |f: fn(&CachedTrace) -> Option<String>| {
        Arc::new(traces.iter().map(f).collect::<StringArray>()) as ArrayRef
    };
    let is_for_people = matches!(format, None | Some(Format::Table));
    let sizes: ArrayRef = if is_for_people {
        text(|t| Some(HumanBytes(t.bytes).to_string()))
    } else {
        Arc::new(traces.iter().map(|t| i64::try_from(t.bytes).ok()).collect::<Int64Array>())
    };
    let batch = RecordBatch::try_from_iter([
        ("trace", text(|t| Some(t.trace_id.clone()))),
        (if is_for_people { "size" } else { "bytes" }, sizes),
        ("read", text(|t| date(t.read))),
        ("usable", text(|t| Some(if t.is_current() { "yes" } else { "no" }.to_owned()))),
        ("path", text(|t| t.path.clone())),
    ])
    .map_err(|e| Error::Query(e.to_string()))?;
    print(batch, format.map_or(output::Format::Table, Into::into), global)?;
    if !global.quiet && is_for_people {
        stderr::line(&summary(&traces));
        let old: Vec<CachedTrace> = traces.into_iter().filter(|t| !t.is_current()).collect();
        if !old.is_empty() {
            stderr::line(&format!(
                "{} of another version of tracesql, which this one cannot use; `tracesql cache \
                 clear` removes them too",
                summary(&old)
            ));
        }
    }
    Ok(())
}

fn clear(older_than: Option<Duration>, global: &Global) -> Result<()> {
    let removed = clear_cache(older_than)?;
    if !global.quiet {
        stderr::line(&format!("removed {}", summary(&removed)));
    }
    Ok(())
}

fn summary(traces: &[CachedTrace]) -> String {
    let bytes = traces.iter().map(|t| t.bytes).sum();
    format!("{}, {}", many(traces.len() as i64, "trace"), HumanBytes(bytes))
}

/// A time as a date and time of day (UTC).
fn date(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let date = timestamp_s_to_datetime(i64::try_from(seconds).ok()?)?;
    Some(date.format("%Y-%m-%d %H:%M").to_string())
}

//! `tracesql list`: lists the traces of a store.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use clap::Args;
use datafusion::prelude::SessionContext;
use tracesql::output::{self, Target};
use tracesql::{Error, Result};
use tracesql_ingest::{Manifest, Store};

use crate::global::Global;
use crate::time_limit::block_on;
use crate::values::Format;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql list store
  tracesql list store --format csv
  tracesql list ~/.cache/tracesql/traces-v4    what was opened without a store")]
pub struct ListArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
}

pub fn run(args: &ListArgs, global: &Global) -> Result<()> {
    let traces = Store::open(&args.store)?.traces()?;
    let text = |f: fn(&Manifest) -> String| {
        Arc::new(traces.iter().map(|t| Some(f(t))).collect::<StringArray>()) as ArrayRef
    };
    let int = |f: fn(&Manifest) -> u64| {
        Arc::new(traces.iter().map(|t| Some(f(t) as i64)).collect::<Int64Array>()) as ArrayRef
    };
    let batch = RecordBatch::try_from_iter([
        ("trace_id", text(|t| t.trace_id.clone())),
        ("path", text(|t| t.path.clone())),
        ("events", int(|t| t.rows("events"))),
        ("kernels", int(|t| t.rows("kernels"))),
        ("input_bytes", int(|t| t.input_bytes)),
        ("store_bytes", int(Manifest::bytes)),
    ])
    .map_err(|e| Error::Query(e.to_string()))?;
    block_on(global, async {
        let result = SessionContext::new().read_batch(batch)?.execute_stream().await?;
        output::write(result, args.format.into(), &Target::Stdout).await?;
        Ok(())
    })
}

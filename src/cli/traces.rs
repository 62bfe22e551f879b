//! `tracesql list` and `tracesql remove`: the traces of a store.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::prelude::SessionContext;
use tracesql_ingest::{Manifest, Store};

use super::args::{Global, RemoveArgs, StoreArgs};
use super::block_on;
use crate::error::{Error, Result};
use crate::messages::say_line;
use crate::output::{self, Target, safe};

pub fn list(args: &StoreArgs, global: &Global) -> Result<()> {
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
        output::write(result, args.format, &Target::Stdout).await?;
        Ok(())
    })
}

pub fn remove(args: &RemoveArgs, global: &Global) -> Result<()> {
    let store = Store::open(&args.store)?;
    for trace in &args.traces {
        store.remove(trace)?;
        if !global.quiet {
            say_line(&format!("removed {}", safe(trace)));
        }
    }
    Ok(())
}

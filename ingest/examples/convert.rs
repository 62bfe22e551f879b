//! Converts traces to a store of Parquet files and prints the tables and issues of each:
//! `cargo run --release -p tracesql-ingest --example convert -- TRACE… STORE`

#![allow(clippy::print_stdout, reason = "an example prints its results")]

use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let root = names.pop().filter(|_| !names.is_empty()).ok_or("usage: convert TRACE… STORE")?;
    let store = Store::open_or_create(root.as_ref())?;
    for input in expand(&names)? {
        let done = ingest(&input, &store, &IngestOptions::default(), &Progress::default())?;
        let folder = store.trace_folder(&done.manifest.trace_id);
        println!("{} -> {}", input.name(), folder.display());
        for (table, facts) in &done.manifest.tables {
            println!("  {table}.parquet: {} rows, {} bytes", facts.rows, facts.bytes);
        }
        for (code, issue) in done.issues.iter() {
            println!("  {} {} x {}", code.severity().as_str(), issue.count, code.as_str());
        }
    }
    Ok(())
}

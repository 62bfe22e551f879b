//! Ingests files into a store and prints the time of each phase:
//! `cargo run --release -p tracesql-ingest --example ingest -- STORE FILE…`

#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let mut args = std::env::args().skip(1);
    let store = Store::open_or_create(args.next().ok_or("usage: ingest STORE FILE…")?.as_ref())?;
    for input in expand(&args.collect::<Vec<_>>())? {
        let start = Instant::now();
        match ingest(&input, &store, &IngestOptions::default(), &Progress::default()) {
            Ok(done) => {
                let seconds = start.elapsed().as_secs_f64();
                let m = done.manifest;
                println!(
                    "{}: {} events, {} MB/s, store {} KB of {} KB input",
                    m.trace_id,
                    m.rows("events"),
                    m.text_bytes as f64 / 1e6 / seconds,
                    m.bytes() / 1000,
                    m.input_bytes / 1000
                );
                println!("  {:?}", done.phases);
                for (table, facts) in &m.tables {
                    println!("  {table}: {} rows, {} bytes", facts.rows, facts.bytes);
                }
                for (code, issue) in done.issues.iter() {
                    println!(
                        "  {} × {} at {:?}",
                        issue.count,
                        code.as_str(),
                        issue.first_byte_offset
                    );
                }
            }
            Err(e) => println!("error: {e}"),
        }
    }
    Ok(())
}

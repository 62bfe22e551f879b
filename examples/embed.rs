//! Uses the library in another program: reads traces into a store, runs SQL over it, and writes the
//! result as CSV. Run it with `cargo run --release --example embed -- STORE SQL TRACE…`

use std::error::Error;
use std::path::Path;

use tracesql::engine::{Engine, EngineOptions};
use tracesql::output::{Format, Target, write};
use tracesql::runtime;
use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(store), Some(sql)) = (arguments.next(), arguments.next()) else {
        return Err("usage: embed STORE SQL TRACE…".into());
    };

    // A store may contain any number of traces. A trace that it already contains is not read again.
    let store = Store::open_or_create(Path::new(&store))?;
    for input in expand(&arguments.collect::<Vec<_>>())? {
        ingest(&input, &store, &IngestOptions::default(), &Progress::default())?;
    }

    // The engine contains tables, views and functions. Its queries run on the threads of a runtime.
    let engine = Engine::open(&store, None, &EngineOptions::default())?;
    runtime::with_threads(0)?.block_on(async {
        for statement in engine.parse(&sql)? {
            let rows = engine.run(statement, &[]).await?;
            write(rows, Format::Csv, &Target::Stdout).await?;
        }
        Ok::<_, tracesql::Error>(())
    })?;
    Ok(())
}

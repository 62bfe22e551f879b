//! Writes one small profile in each format of stacks:
//! `cargo run --release -p tracesql-formats --example profile -- FOLDER`

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use tracesql_formats::pprof::{Collector, Header, gzipped};
use tracesql_formats::{Direction, flamegraph, folded, speedscope};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let batch = samples()?;
    // The list is the stack, whole numbers are values, and text is a label. A name such as `cpu_ns`
    // carries the unit.
    let mut collector = Collector::new(&batch.schema())?;
    collector.add(&batch, false)?;
    let profile = collector.finish();

    let header = Header { source: "example".to_owned(), ..Header::default() };
    std::fs::write(folder.join("example.pb.gz"), gzipped(&profile, &header)?)?;
    std::fs::write(folder.join("example.folded"), folded(&profile, None, false)?)?;
    let svg = flamegraph(&profile, Some("cpu"), "example", Direction::Icicle, false)?;
    std::fs::write(folder.join("example.svg"), svg)?;
    std::fs::write(folder.join("example.speedscope.json"), speedscope(&profile, "example")?)?;
    Ok(())
}

/// Three samples as a query would give them.
fn samples() -> Result<RecordBatch, Box<dyn Error>> {
    let mut stacks = ListBuilder::new(StringBuilder::new());
    for stack in [vec!["main", "forward", "mm"], vec!["main", "forward"], vec!["main", "backward"]]
    {
        stack.iter().for_each(|frame| stacks.values().append_value(frame));
        stacks.append(true);
    }
    let columns: [(&str, ArrayRef); 3] = [
        ("stack", Arc::new(stacks.finish())),
        ("cpu_ns", Arc::new(Int64Array::from(vec![700_000, 50_000, 250_000]))),
        ("thread", Arc::new(StringArray::from(vec!["python", "python", "autograd"]))),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

//! Reads all values of all tables of an SQLite database and prints the rate:
//! `cargo run --release -p tracesql-ingest --example database -- FILE…`

#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let start = Instant::now();
        let (rows, values) = tracesql_ingest::internals::database_values(file.as_ref())?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{file}: {rows} rows, {values} values, {:.0} ns a row",
            seconds * 1e9 / rows as f64
        );
    }
    Ok(())
}

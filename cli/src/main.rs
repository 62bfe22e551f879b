//! The program `tracesql`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tracesql_cli::run(&tracesql_cli::Plain)
}

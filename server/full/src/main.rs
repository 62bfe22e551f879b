//! The program `tracesql-full`: all of `tracesql`, with object storage, a cluster and servers.

use std::process::ExitCode;

use tracesql_cli::Extension;

#[derive(Debug)]
struct Full;

impl Extension for Full {}

fn main() -> ExitCode {
    tracesql_remote::register();
    tracesql_cli::run(&Full)
}

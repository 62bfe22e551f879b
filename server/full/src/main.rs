//! The program `tracesql-full`: all of `tracesql`, with object storage, a cluster and servers.

mod ingest_shares;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use tracesql_cli::Extension;

#[derive(Debug)]
struct Full;

impl Extension for Full {
    fn describe(&self, command_line: Command) -> Command {
        ingest_shares::describe(command_line)
    }

    fn run(&self, matches: &ArgMatches) -> Option<tracesql::Result<ExitCode>> {
        ingest_shares::run(matches)
    }
}

fn main() -> ExitCode {
    tracesql_remote::register();
    tracesql_cli::run(&Full)
}

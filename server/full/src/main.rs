//! The program `tracesql-full`: all of `tracesql`, with object storage, a cluster and servers.

mod serve;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use tracesql_cli::Extension;

#[derive(Debug)]
struct Full;

impl Extension for Full {
    fn describe(&self, command_line: Command) -> Command {
        serve::describe(command_line)
    }

    fn run(&self, matches: &ArgMatches) -> Option<tracesql::Result<ExitCode>> {
        serve::run(matches)
    }
}

fn main() -> ExitCode {
    tracesql_cli::run(&Full)
}

//! The program `tracesql-full`: all of `tracesql`, with object storage, a cluster and servers.

mod cluster;
mod copy;
mod gc;
mod ingest_shares;
mod requests;
mod serve;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use tracesql_cli::Extension;

#[derive(Debug)]
struct Full;

impl Extension for Full {
    fn describe(&self, command_line: Command) -> Command {
        let command_line = command_line.subcommand(copy::command()).subcommand(gc::command());
        cluster::describe(serve::describe(ingest_shares::describe(command_line)))
    }

    fn run(&self, matches: &ArgMatches) -> Option<tracesql::Result<ExitCode>> {
        requests::listen(matches);
        match matches.subcommand() {
            Some(("copy", matches)) => Some(copy::run(matches)),
            Some(("gc", matches)) => Some(gc::run(matches)),
            Some(("ingest", _)) => ingest_shares::run(matches),
            _ => cluster::run(matches).or_else(|| serve::run(matches)),
        }
    }
}

fn main() -> ExitCode {
    tracesql_remote::register();
    let code = tracesql_cli::run(&Full);
    requests::report();
    code
}

//! What another program adds to the command line.

use std::process::ExitCode;

use clap::{ArgMatches, Command};

/// Commands and options of another program.
pub trait Extension {
    /// Adds to the description of the command line.
    fn describe(&self, command_line: Command) -> Command {
        command_line
    }

    /// Runs a command that this extension added; `None` for all other commands, which then run as
    /// usual. It is also the place to look at options before other commands run.
    fn run(&self, _matches: &ArgMatches) -> Option<tracesql::Result<ExitCode>> {
        None
    }
}

/// The program `tracesql` without additions.
#[derive(Debug)]
pub struct Plain;

impl Extension for Plain {}

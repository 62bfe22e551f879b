//! The command line and the shell of tracesql. The program `tracesql` is only a call of [`run`];
//! another program can add commands and options by an [`Extension`].
//!
//! `command_line` describes the arguments, `commands` has one file per command with its own
//! arguments, and `shell` runs SQL that people write. The work itself is done in the library. This
//! package contains the code that prints, reads arguments, listens for Ctrl-C and ends the process.

mod command_line;
mod commands;
mod elsewhere;
mod extension;
mod first_contact;
mod global;
mod output_names;
mod progress;
mod shell;
mod stderr;
mod terminal;
mod time_limit;
mod traces_done;
mod values;

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};
use tracesql::open::Found;

use command_line::{Command, CommandLine};
pub use extension::{Extension, Plain};
pub use global::{Global, duration, use_cluster};
pub use time_limit::block_on;
pub use traces_done::set_traces_done;

/// Runs the program with the arguments of the process.
pub fn run(extension: &dyn Extension) -> ExitCode {
    // The kernel zeroes huge pages 2 MiB at a time, and short-lived buffers never use most of that.
    // This would cost a tenth of the time and memory of an ingest.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let described = extension.describe(command_line::command());
    let parsed = described.clone().try_get_matches();
    if let Ok(matches) = &parsed
        && let Some(outcome) = extension.run(matches)
    {
        return exit_code(outcome);
    }
    let parsed = parsed.and_then(|matches| {
        let arguments = CommandLine::from_arg_matches(&matches)?;
        Ok((matches, arguments))
    });
    let (matches, arguments) = match parsed {
        Ok(parsed) => parsed,
        Err(e) => {
            if let Some(text) = elsewhere::option(&e, &described) {
                return exit_code(Err(tracesql::Error::Usage(text)));
            }
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    let describe = |command| extension.describe(command);
    exit_code(global::refuse_unused(&matches).and_then(|()| commands::run(arguments, &describe)))
}

/// Runs `ingest` as the user called it, on a part of its inputs. `choose` returns this part, and a
/// line about it for standard error.
pub fn ingest_part(
    matches: &ArgMatches,
    choose: impl Fn(Vec<Found>) -> tracesql::Result<(Vec<Found>, String)>,
) -> tracesql::Result<ExitCode> {
    global::refuse_unused(matches)?;
    let usage = |e: clap::Error| tracesql::Error::Usage(e.to_string());
    let arguments = CommandLine::from_arg_matches(matches).map_err(usage)?;
    let Some(Command::Ingest(args)) = arguments.command else {
        return Err(tracesql::Error::Usage("only `ingest` reads a part of its inputs".to_owned()));
    };
    let choose = |found: Vec<Found>| {
        let (chosen, line) = choose(found)?;
        if !arguments.global.quiet {
            stderr::line(&line);
        }
        Ok(chosen)
    };
    commands::ingest::run_part(&args, &arguments.global, Some(&choose))?;
    Ok(ExitCode::SUCCESS)
}

fn exit_code(outcome: tracesql::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            stderr::error(&e.to_string());
            ExitCode::from(e.exit_code())
        }
    }
}

//! One file per command, with its arguments and its calls to the library.

pub mod cache;
pub mod check;
pub mod compare;
pub mod completions;
pub mod docs;
pub mod doctor;
pub mod export;
pub mod flamegraph;
pub mod folded;
pub mod ingest;
pub mod list;
pub mod man;
pub mod mcp;
pub mod open;
pub mod pprof;
pub mod query;
pub mod remove;
pub mod report;
mod samples;
pub mod speedscope;
pub mod ui;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tracesql::engine::Engine;
use tracesql::open::{Location, Opener};
use tracesql::output::{Target, write_document};
use tracesql::{Error, Result};

use crate::command_line::{self, Command, CommandLine};
use crate::first_contact;
use crate::global::Global;
use crate::stderr;
use crate::terminal::{Messages, Terminal};

/// Runs the command that the user gave. `describe` adds what an extension adds to the command line.
pub fn run(
    arguments: CommandLine,
    describe: &dyn Fn(clap::Command) -> clap::Command,
) -> Result<ExitCode> {
    let global = arguments.global;
    if arguments.command.is_some() && !arguments.open.inputs.is_empty() {
        let input = &arguments.open.inputs[0];
        return Err(Error::Usage(format!(
            "{input:?} comes before the name of a command; inputs come after it"
        )));
    }
    let done = match arguments.command {
        Some(Command::Check(args)) => return check::run(&args, &global),
        Some(Command::Compare(args)) => return compare::run(&args, &global),
        Some(Command::Ingest(args)) => ingest::run(&args, &global),
        Some(Command::Query(args)) => query::run(&args, &global),
        Some(Command::Report(args)) => report::run(&args, &global),
        Some(Command::Pprof(args)) => pprof::run(&args, &global),
        Some(Command::Folded(args)) => folded::run(&args, &global),
        Some(Command::Flamegraph(args)) => flamegraph::run(&args, &global),
        Some(Command::Speedscope(args)) => speedscope::run(&args, &global),
        Some(Command::Export(args)) => export::run(&args, &global),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::List(args)) => list::run(&args, &global),
        Some(Command::Remove(args)) => remove::run(&args, &global),
        Some(Command::Cache(args)) => cache::run(&args, &global),
        Some(Command::Mcp(args)) => mcp::run(&args, &global),
        Some(Command::Ui(args)) => ui::run(&args, &global),
        Some(Command::Docs(args)) => docs::run(&args, &global),
        Some(Command::Completions(args)) => {
            completions::run(&args, describe(command_line::command()))
        }
        Some(Command::Man(args)) => man::run(&args, describe(command_line::command())),
        None if arguments.open.inputs.is_empty() => Err(Error::Usage(
            "name a trace or a store, for example `tracesql report trace.json.gz -o report.html` \
             or `tracesql trace.json.gz -c \"SELECT count(*) FROM events\"`; `tracesql --help` \
             lists all commands"
                .into(),
        )),
        None => {
            first_contact::refuse(&arguments.open.inputs)?;
            open::run(&arguments.open, &global)
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Opens the traces that names stand for, and shows on standard error how they are read.
fn locate(names: &[String], strict: bool, global: &Global) -> Result<Location> {
    let terminal = Terminal::new(Messages::of(global));
    Opener::new(global.ingest_options(strict, false), &terminal).open(names)
}

/// Opens the traces that one name stands for.
fn locate_one(name: &str, global: &Global) -> Result<Location> {
    locate(&[name.to_owned()], false, global)
}

/// The target of the option `-o`. A `-` or a missing option stands for standard output.
fn target(output: Option<&PathBuf>) -> Target {
    match output {
        Some(path) if path.as_os_str() != "-" => Target::File(path.clone()),
        _ => Target::Stdout,
    }
}

/// Writes the outcome of a check. The verdict is the exit code, so a reader that closed its end
/// does not change it.
fn write_verdict(bytes: &[u8], target: &Target) -> Result<()> {
    match write_document(bytes, target) {
        Err(e) if e.is_broken_pipe() => Ok(()),
        done => done,
    }
}

/// Refuses to overwrite a file that the command reads.
fn refuse_input<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a String>) -> Result<()> {
    let Ok(place) = output.canonicalize() else { return Ok(()) };
    let is_input = |name: &&String| {
        Path::new(name).is_file()
            && Path::new(name).canonicalize().is_ok_and(|input| input == place)
    };
    match inputs.into_iter().find(is_input) {
        Some(name) => Err(Error::Usage(format!(
            "{} would be written over {name}, which is read; name another file",
            output.display()
        ))),
        None => Ok(()),
    }
}

/// Warns about the user's views and rules that were left out.
fn warn_of_problems(engine: &Engine) {
    for problem in engine.library().problems() {
        stderr::warning(&format!("left out: {problem}"));
    }
}

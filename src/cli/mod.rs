//! The command line: one file per command.

mod args;
mod cache;
mod check;
mod compare;
mod docs;
mod doctor;
mod export;
mod ingest;
mod manual;
mod open;
mod progress;
mod query;
mod report;
mod stacks;
mod traces;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::error::{Error, Result};
use crate::messages::{error as say_error, warning as say_warning};
use crate::output::{Target, write_document};
use args::{Cli, Command, Global};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    match run(cli) {
        Ok(code) => code,
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            say_error(&e.to_string());
            ExitCode::from(e.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    let global = cli.global;
    if cli.command.is_some() && !cli.open.inputs.is_empty() {
        let input = &cli.open.inputs[0];
        return Err(Error::Usage(format!(
            "{input:?} stands before the name of a command; inputs come after it"
        )));
    }
    let done = match cli.command {
        Some(Command::Check(args)) => return check::run(&args, &global),
        Some(Command::Compare(args)) => return compare::run(&args, &global),
        Some(Command::Ingest(args)) => ingest::run(&args, &global),
        Some(Command::Query(args)) => query::run(&args, &global),
        Some(Command::Report(args)) => report::run(&args, &global),
        Some(Command::Pprof(args)) => stacks::pprof(&args, &global),
        Some(Command::Folded(args)) => stacks::folded(&args, &global),
        Some(Command::Flamegraph(args)) => stacks::flamegraph(&args, &global),
        Some(Command::Speedscope(args)) => stacks::speedscope(&args, &global),
        Some(Command::Export(args)) => export::run(&args, &global),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::List(args)) => traces::list(&args, &global),
        Some(Command::Remove(args)) => traces::remove(&args, &global),
        Some(Command::Docs(args)) => docs::run(&args, &global),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::man(&args),
        None if cli.open.inputs.is_empty() => Err(Error::Usage(
            "name a trace or a store, for example `tracesql trace.json.gz -c \"SELECT count(*) FROM events\"`; `tracesql --help` shows more".into(),
        )),
        None => open::run(&cli.open, &global),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Writes the outcome of a check. A reader that went away takes nothing from the verdict, which is
/// the exit code.
fn write_verdict(bytes: &[u8], target: &Target) -> Result<()> {
    match write_document(bytes, target) {
        Err(e) if e.is_broken_pipe() => Ok(()),
        done => done,
    }
}

/// Refuses to write over a file that is to be read.
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

impl Global {
    fn engine_options(&self) -> crate::engine::EngineOptions {
        crate::engine::EngineOptions {
            threads: self.threads,
            memory_limit: self.memory_limit.unwrap_or(0),
            sql: self.sql.clone(),
            rules: self.rules.clone(),
            settings: self.set.clone(),
            allow_files: self.allow_files,
            ..crate::engine::EngineOptions::default()
        }
    }

    fn ingest_options(&self, strict: bool, replace: bool) -> tracesql_ingest::IngestOptions {
        tracesql_ingest::IngestOptions {
            threads: self.threads,
            memory_limit: self.memory_limit.unwrap_or(0),
            strict,
            replace,
        }
    }
}

/// Says which files of the user's library were left out.
fn warn_of_problems(engine: &crate::engine::Engine) {
    for problem in engine.library().problems() {
        say_warning(&format!("left out: {problem}"));
    }
}

/// Runs something that waits, with the threads that were asked for, for as long as it may take.
fn block_on<T>(global: &Global, work: impl Future<Output = Result<T>>) -> Result<T> {
    crate::repl::within(&crate::repl::runtime(global.threads)?, global.timeout, work)
}

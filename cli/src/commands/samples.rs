//! The common options of the commands for stacks: the selected samples and the output file.

use std::path::PathBuf;

use clap::Args;
use tracesql::explain::{Audience, explained_within};
use tracesql::output::Target;
use tracesql::stacks::{Request, Samples, collect};
use tracesql::{Error, Result};

use super::{locate_one, refuse_input, target};
use crate::global::Global;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::Rule;

/// Which samples a command takes.
#[derive(Debug, Args)]
pub struct SamplesArgs {
    /// A store, or one trace
    #[arg(value_name = "STORE")]
    pub store: String,
    /// File for the result; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Samples from a query: a list of texts is the stack, whole numbers are values (a name with
    /// _ns or _bytes says the unit), texts and rank, step, pid, tid, device, stream are labels
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        allow_hyphen_values = true,
        conflicts_with = "rule"
    )]
    pub query: Option<String>,
    /// What is counted
    #[arg(long, value_enum, default_value = "linked")]
    pub rule: Rule,
    /// Only samples for which this holds, for example "thread LIKE 'main%'"
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Only this step
    #[arg(long, value_name = "N")]
    pub step: Option<i64>,
    /// Only this rank
    #[arg(long, value_name = "N")]
    pub rank: Option<i64>,
    /// Begin each stack with its thread
    #[arg(long)]
    pub by_thread: bool,
    /// Take the difference to another store (or trace)
    #[arg(long, value_name = "STORE")]
    pub base: Option<String>,
}

impl SamplesArgs {
    /// Collects the samples, with warnings about them on standard error.
    pub fn collect(&self, global: &Global) -> Result<Samples> {
        let request = Request {
            rule: self.rule.into(),
            sql: self.query.clone(),
            filter: self.filter.clone(),
            step: self.step,
            rank: self.rank,
            by_thread: self.by_thread,
        };
        if let Some(output) = &self.output {
            refuse_input(output, [&self.store].into_iter().chain(&self.base))?;
        }
        let engine = |name: &String| locate_one(name, global)?.engine(&global.engine_options());
        let candidate = engine(&self.store)?;
        let base = self.base.as_ref().map(engine).transpose()?;
        let samples =
            block_on(global, collect(&candidate, base.as_ref(), &request)).map_err(|e| {
                let (sql, part) = request.statement();
                explained_within(e, &sql, part, &candidate, Audience::Shell)
            })?;
        warn(&samples, global);
        Ok(samples)
    }

    /// The target of the result.
    pub fn target(&self) -> Target {
        target(self.output.as_ref())
    }
}

/// Prints warnings about properties of the samples that may surprise.
pub fn warn(samples: &Samples, global: &Global) {
    if !global.quiet {
        samples.notes.iter().for_each(|note| stderr::warning(note));
        if samples.profile.is_empty() {
            stderr::warning("there are no samples");
        }
    }
}

/// The error for binary output to a terminal.
pub fn refuse_terminal(target: &Target, what: &str) -> Result<()> {
    use std::io::IsTerminal;
    if matches!(target, Target::Stdout) && std::io::stdout().is_terminal() {
        return Err(Error::Usage(format!("{what} is a binary format; name a file with -o")));
    }
    Ok(())
}

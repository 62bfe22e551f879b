//! The common options of the commands for stacks: the selected samples and the output file.

use std::path::PathBuf;

use clap::Args;
use tracesql::explain::{Audience, explained_within};
use tracesql::output::units::many;
use tracesql::output::{Target, write_document};
use tracesql::stacks::{Request, Samples, collect};
use tracesql::{Error, Result};

use super::{locate_one, refuse_input, target};
use crate::global::Global;
use crate::output_names::refuse_other;
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
    /// Samples from a query: a list of texts is the stack, whole numbers are values (_ns or _bytes
    /// in a name is the unit), texts and rank, step, pid, tid, device, stream are labels
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
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Only this step
    #[arg(long, value_name = "N")]
    pub step: Option<i64>,
    /// Only this rank
    #[arg(long, value_name = "N")]
    pub rank: Option<i64>,
    /// Begin each stack with its thread
    #[arg(long)]
    pub by_thread: bool,
    /// Use one frame for all steps, ProfilerStep* [default, except for --rule inclusive and flat]
    #[arg(long, overrides_with = "no_merge_steps")]
    pub merge_steps: bool,
    /// Use one frame for each step
    #[arg(long, overrides_with = "merge_steps")]
    pub no_merge_steps: bool,
    /// Use the full names of kernels, not the short ones
    #[arg(long)]
    pub full_names: bool,
    /// Take the difference to another store (or trace)
    #[arg(long, value_name = "STORE")]
    pub base: Option<String>,
    /// Only this trace of the other store; may be given several times
    #[arg(long = "base-trace", value_name = "TRACE", requires = "base")]
    pub base_traces: Vec<String>,
}

impl SamplesArgs {
    /// Collects the samples and writes the document that `make` makes of them. Warnings come last,
    /// so that none comes before an error.
    pub fn write(
        &self,
        global: &Global,
        classes: bool,
        make: impl FnOnce(&Samples) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let samples = self.collect(global, classes)?;
        write_document(&make(&samples)?, &self.target())?;
        warn(&samples, global);
        Ok(())
    }

    fn collect(&self, global: &Global, classes: bool) -> Result<Samples> {
        let request = Request {
            rule: self.rule.into(),
            sql: self.query.clone(),
            filter: self.filter.clone(),
            step: self.step,
            rank: self.rank,
            by_thread: self.by_thread,
            merge_steps: (self.merge_steps || self.no_merge_steps).then_some(self.merge_steps),
            full_names: self.full_names,
            classes,
        };
        if let Some(output) = &self.output {
            refuse_input(output, [&self.store].into_iter().chain(&self.base))?;
        }
        let engine = |name: &String, traces: &[String]| {
            locate_one(name, global)?.choose(traces)?.engine(&global.engine_options())
        };
        let candidate = engine(&self.store, &self.traces)?;
        let base = self.base.as_ref().map(|base| engine(base, &self.base_traces)).transpose()?;
        block_on(global, collect(&candidate, base.as_ref(), &request)).map_err(|e| {
            let (sql, part) = request.statement();
            explained_within(e, &sql, part, &candidate, Audience::Shell)
        })
    }

    /// Refuses a file whose name states another format than the command writes.
    pub fn refuse_other_formats(&self, what: &str, endings: &[&str]) -> Result<()> {
        refuse_other(self.output.as_ref(), what, endings)
    }

    /// The target of the result.
    pub fn target(&self) -> Target {
        target(self.output.as_ref())
    }
}

/// Prints warnings about properties of the samples that may surprise.
pub fn warn(samples: &Samples, global: &Global) {
    if !global.quiet {
        match &samples.notes[..] {
            [first, more @ ..] if !more.is_empty() && !global.verbose => {
                let notes = many(more.len() as i64, "more note");
                stderr::warning(&format!("{first} ({notes}; -v shows them)"));
            }
            notes => notes.iter().for_each(|note| stderr::warning(note)),
        }
        if samples.profile.is_empty() {
            stderr::warning("there are no samples");
        }
    }
}

/// The error for binary output to a terminal.
pub fn refuse_terminal(target: &Target, what: &str) -> Result<()> {
    use std::io::IsTerminal;
    if matches!(target, Target::Stdout) && std::io::stdout().is_terminal() {
        return Err(Error::Usage(format!("{what} is binary; use -o FILE")));
    }
    Ok(())
}

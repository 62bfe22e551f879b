//! `tracesql pprof`, `folded`, `flamegraph` and `speedscope`: stacks for other tools.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use tracesql_ingest::Store;

use super::args::Global;
use super::cache::Cache;
use super::{block_on, ingest, refuse_input, say_warning};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Target, write_document};
use crate::stacks::{self, Request, Rule, Samples};

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

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql pprof store -o run.pb.gz && go tool pprof -top run.pb.gz
  tracesql pprof store --step 3 -o step3.pb.gz && go tool pprof -sample_index=gpu -http=: step3.pb.gz
  tracesql pprof candidate --base baseline -o diff.pb.gz
  tracesql pprof store -c \"SELECT stack, bytes AS alloc_space_bytes FROM alloc_stacks\" -o memory.pb.gz")]
pub struct PprofArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql folded store | sort -t' ' -k2 | tail
  tracesql folded store --measure gpu -o gpu.folded
With --base each line has two values, that of the base first.")]
pub struct FoldedArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
    /// Which measure: cpu, gpu, alloc_space, alloc_objects, samples, kernels [default: the first in
    /// nanoseconds]
    #[arg(long, value_name = "NAME")]
    pub measure: Option<String>,
}

/// The directions of a flame graph, by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Direction {
    /// Down, the root at the top.
    Icicle,
    /// Up, the root at the bottom.
    Flame,
}

impl From<Direction> for stacks::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Icicle => Self::Icicle,
            Direction::Flame => Self::Flame,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql flamegraph store -o cpu.svg
  tracesql flamegraph store --measure gpu -o gpu.svg
  tracesql flamegraph candidate --base baseline -o diff.svg")]
pub struct FlamegraphArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
    /// Which measure: cpu, gpu, alloc_space, alloc_objects, samples, kernels [default: the first in
    /// nanoseconds]
    #[arg(long, value_name = "NAME")]
    pub measure: Option<String>,
    /// Title [default: the trace's name]
    #[arg(long)]
    pub title: Option<String>,
    /// Which way stacks grow
    #[arg(long, value_enum, default_value = "icicle")]
    pub direction: Direction,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql speedscope store -o run.speedscope.json    open it at a copy of speedscope")]
pub struct SpeedscopeArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
}

pub fn pprof(args: &PprofArgs, global: &Global) -> Result<()> {
    let Samples { profile, header, .. } = collect(&args.samples, global)?;
    write_binary(&stacks::pprof(&profile, &header)?, &args.samples)
}

pub fn folded(args: &FoldedArgs, global: &Global) -> Result<()> {
    let samples = collect(&args.samples, global)?;
    let lines =
        stacks::folded(&samples.profile, args.measure.as_deref(), args.samples.base.is_some())?;
    write_document(lines.as_bytes(), &target(&args.samples))
}

pub fn flamegraph(args: &FlamegraphArgs, global: &Global) -> Result<()> {
    let samples = collect(&args.samples, global)?;
    let title = args.title.as_deref().unwrap_or(&samples.header.source);
    let svg = stacks::flamegraph(
        &samples.profile,
        args.measure.as_deref(),
        title,
        args.direction.into(),
        args.samples.base.is_some(),
    )?;
    write_document(&svg, &target(&args.samples))
}

pub fn speedscope(args: &SpeedscopeArgs, global: &Global) -> Result<()> {
    if args.samples.base.is_some() {
        return Err(Error::Usage(
            "speedscope shows no differences; use flamegraph or pprof with --base".into(),
        ));
    }
    let samples = collect(&args.samples, global)?;
    write_document(
        &stacks::speedscope(&samples.profile, &samples.header.source)?,
        &target(&args.samples),
    )
}

fn collect(args: &SamplesArgs, global: &Global) -> Result<Samples> {
    let request = Request {
        rule: args.rule,
        sql: args.query.clone(),
        filter: args.filter.clone(),
        step: args.step,
        rank: args.rank,
        by_thread: args.by_thread,
    };
    if let Some(output) = &args.output {
        refuse_input(output, [&args.store].into_iter().chain(&args.base))?;
    }
    let engine = engine(&args.store, global)?;
    let base = args.base.as_ref().map(|base| self::engine(base, global)).transpose()?;
    let samples = block_on(global, stacks::collect(&engine, base.as_ref(), &request))?;
    if !global.quiet {
        samples.notes.iter().for_each(|note| say_warning(note));
        if samples.profile.is_empty() {
            say_warning("there are no samples");
        }
    }
    Ok(samples)
}

/// A store, or a trace by way of the cache.
fn engine(name: &str, global: &Global) -> Result<Engine> {
    if Store::is_store(Path::new(name)) {
        return Engine::open(&Store::open(Path::new(name))?, None, &global.engine_options());
    }
    let cache = Cache::open()?;
    let names = [name.to_owned()];
    let traces =
        ingest::all(ingest::inputs(&names), &names, |input| cache.trace(input, false, global))?;
    Engine::open(cache.store(), Some(&traces), &global.engine_options())
}

fn target(args: &SamplesArgs) -> Target {
    match &args.output {
        Some(path) if path.as_os_str() != "-" => Target::File(path.clone()),
        _ => Target::Stdout,
    }
}

fn write_binary(bytes: &[u8], args: &SamplesArgs) -> Result<()> {
    let target = target(args);
    if matches!(target, Target::Stdout) && std::io::stdout().is_terminal() {
        return Err(Error::Usage("a profile is no text; name a file with -o".into()));
    }
    write_document(bytes, &target)
}

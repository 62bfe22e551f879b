//! `tracesql flamegraph`: draws a flame graph as SVG.

use clap::Args;
use tracesql::Result;
use tracesql::output::write_document;
use tracesql::stacks::flamegraph;

use super::samples::SamplesArgs;
use crate::global::Global;
use crate::values::Direction;

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

pub fn run(args: &FlamegraphArgs, global: &Global) -> Result<()> {
    let samples = args.samples.collect(global)?;
    let title = args.title.as_deref().unwrap_or(&samples.header.source);
    let svg = flamegraph(
        &samples.profile,
        args.measure.as_deref(),
        title,
        args.direction.into(),
        args.samples.base.is_some(),
    )?;
    write_document(&svg, &args.samples.target())
}

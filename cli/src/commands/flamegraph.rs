//! `tracesql flamegraph`: draws a flame graph as SVG.

use clap::Args;
use tracesql::Result;
use tracesql::stacks::flamegraph;

use super::samples::SamplesArgs;
use crate::global::Global;
use crate::values::Direction;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql flamegraph store -o cpu.svg
  tracesql flamegraph store --measure gpu -o gpu.svg
  tracesql flamegraph candidate --base baseline -o diff.svg  # red is more time")]
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
    args.samples.refuse_other_formats("SVG", &["svg"])?;
    let is_compared = args.samples.base.is_some();
    args.samples.write(global, !is_compared, |samples| {
        let title = args.title.clone().unwrap_or_else(|| match &samples.base_source {
            Some(base) => format!("{} compared with {base}", samples.header.source),
            None => samples.header.source.clone(),
        });
        let measure = args.measure.as_deref();
        let direction = args.direction.into();
        Ok(flamegraph(&samples.profile, measure, &title, direction, is_compared)?)
    })
}

//! `tracesql folded`: writes folded stacks, one line each.

use clap::Args;
use tracesql::Result;
use tracesql::stacks::folded;

use super::samples::SamplesArgs;
use crate::global::Global;

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

pub fn run(args: &FoldedArgs, global: &Global) -> Result<()> {
    let has_base = args.samples.base.is_some();
    args.samples.write(global, false, |samples| {
        Ok(folded(&samples.profile, args.measure.as_deref(), has_base)?.into_bytes())
    })
}

//! `tracesql pprof`: writes stacks as a profile for pprof.

use clap::Args;
use tracesql::Result;
use tracesql::stacks::pprof;

use super::samples::{SamplesArgs, refuse_terminal};
use crate::global::Global;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql pprof store -o run.pb.gz && go tool pprof -top run.pb.gz
  tracesql pprof store --trace rank0 --step 3 -o step3.pb.gz
  tracesql pprof candidate --base baseline -o diff.pb.gz
  tracesql pprof store -c \"SELECT stack, cpu_ns FROM stack_samples\" -o cpu.pb.gz")]
pub struct PprofArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
}

pub fn run(args: &PprofArgs, global: &Global) -> Result<()> {
    args.samples.refuse_other_formats("pprof profiles", &["pb.gz", "gz", "pb", "pprof"])?;
    refuse_terminal(&args.samples.target(), "a pprof profile")?;
    args.samples.write(global, false, |samples| Ok(pprof(&samples.profile, &samples.header)?))
}

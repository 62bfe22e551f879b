//! `tracesql pprof`: writes stacks as a profile for pprof.

use clap::Args;
use tracesql::Result;
use tracesql::stacks::pprof;

use super::samples::{SamplesArgs, refuse_terminal};
use crate::global::Global;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql pprof store -o run.pb.gz && go tool pprof -top run.pb.gz
  tracesql pprof store --step 3 -o step3.pb.gz && go tool pprof -sample_index=gpu -http=: step3.pb.gz
  tracesql pprof candidate --base baseline -o diff.pb.gz
  tracesql pprof store -c \"SELECT stack, bytes AS alloc_space_bytes FROM alloc_stacks\" -o \
     memory.pb.gz")]
pub struct PprofArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
}

pub fn run(args: &PprofArgs, global: &Global) -> Result<()> {
    refuse_terminal(&args.samples.target(), "a pprof profile")?;
    args.samples.write(global, false, |samples| Ok(pprof(&samples.profile, &samples.header)?))
}

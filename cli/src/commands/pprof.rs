//! `tracesql pprof`: writes stacks as a profile for pprof.

use clap::Args;
use tracesql::Result;
use tracesql::output::write_document;
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
    let samples = args.samples.collect(global)?;
    let profile = pprof(&samples.profile, &samples.header)?;
    let target = args.samples.target();
    refuse_terminal(&target, "a profile")?;
    write_document(&profile, &target)
}

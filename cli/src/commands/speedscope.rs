//! `tracesql speedscope`: writes stacks as a profile for speedscope.

use clap::Args;
use tracesql::stacks::speedscope;
use tracesql::{Error, Result};

use super::samples::SamplesArgs;
use crate::global::Global;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql speedscope store -o run.speedscope.json    open it at a copy of speedscope")]
pub struct SpeedscopeArgs {
    #[command(flatten)]
    pub samples: SamplesArgs,
}

pub fn run(args: &SpeedscopeArgs, global: &Global) -> Result<()> {
    if args.samples.base.is_some() {
        return Err(Error::Usage(
            "speedscope shows no differences; use flamegraph or pprof with --base".into(),
        ));
    }
    args.samples
        .write(global, false, |samples| Ok(speedscope(&samples.profile, &samples.header.source)?))
}

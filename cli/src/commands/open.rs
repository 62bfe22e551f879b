//! `tracesql INPUT…`: opens traces or a store and runs SQL over them.

use clap::Args;
use tracesql::Result;

use super::query::{SqlArgs, run_sql};
use super::{locate, refuse_input};
use crate::global::Global;

#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Traces (files, folders, globs, `-` for standard input), or one store
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,
    #[command(flatten)]
    pub sql: SqlArgs,
    /// Refuse inputs that are not clean
    #[arg(long)]
    pub strict: bool,
}

pub fn run(args: &OpenArgs, global: &Global) -> Result<()> {
    if let Some(output) = &args.sql.output {
        refuse_input(output, &args.inputs)?;
    }
    run_sql(locate(&args.inputs, args.strict, global)?, &args.sql, global)
}

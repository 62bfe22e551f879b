//! `tracesql docs`: shows the reference of tables, views, functions and settings.

use std::io::Write;

use clap::Args;
use tracesql::docs::Reference;
use tracesql::engine::Engine;
use tracesql::{Error, Result};

use super::warn_of_problems;
use crate::global::Global;
use crate::values::DocsFormat;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql docs
  tracesql docs kernel_launches
  tracesql docs rules
  tracesql docs kernel_classification
  tracesql docs --format markdown > reference.md")]
pub struct DocsArgs {
    /// A table, view, function, setting, an area of them, or a topic [default: an overview, with
    /// topics at its end]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Form of the text
    #[arg(long, value_enum, default_value = "text")]
    pub format: DocsFormat,
}

pub fn run(args: &DocsArgs, global: &Global) -> Result<()> {
    let engine = Engine::without_store(&global.engine_options())?;
    warn_of_problems(&engine);
    let mut reference = Reference::of(&engine);
    if let Some(name) = &args.name {
        reference = reference.named(name)?;
    }
    let text = reference.write(args.format.into(), args.name.is_none());
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Error::Output("standard output".into(), e))
}

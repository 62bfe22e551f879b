//! `tracesql docs`: shows the reference of tables, views, functions and settings.

use std::io::Write;

use clap::Args;
use tracesql::docs::{Reference, hits_text};
use tracesql::engine::Engine;
use tracesql::{Error, Result};

use super::warn_of_problems;
use crate::global::Global;
use crate::values::DocsFormat;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql docs
  tracesql docs kernel_launches
  tracesql docs --search gpu idle
  tracesql docs rules
  tracesql docs kernel_classification
  tracesql docs --format markdown > reference.md")]
pub struct DocsArgs {
    /// A table, view, function, setting, an area of them, or a topic [default: a map of all]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Search everything for these words, best matches first
    #[arg(
        long,
        value_name = "WORDS",
        num_args = 1..,
        conflicts_with_all = ["name", "format", "all"]
    )]
    pub search: Vec<String>,
    /// List everything with its summary, functions and settings too
    #[arg(long, conflicts_with_all = ["name", "format"])]
    pub all: bool,
    /// Form of the text
    #[arg(long, value_enum, default_value = "text")]
    pub format: DocsFormat,
}

/// The width of lines if standard output is not a terminal.
const WIDTH: usize = 100;

pub fn run(args: &DocsArgs, global: &Global) -> Result<()> {
    let engine = Engine::without_store(&global.engine_options())?;
    warn_of_problems(&engine);
    let mut reference = Reference::of(&engine);
    if let Some(name) = &args.name {
        reference = reference.named(name)?;
    }
    let text = if args.all {
        reference.list()
    } else if args.search.is_empty() {
        reference.write(args.format.into(), args.name.is_none())
    } else {
        search(&reference, &args.search.join(" "))?
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Error::Output("standard output".into(), e))
}

/// The entries that contain the words, as text.
fn search(reference: &Reference, words: &str) -> Result<String> {
    let hits = reference.search(words);
    if hits.is_empty() {
        return Err(Error::Usage(format!(
            "nothing contains {words:?}; `tracesql docs` is a map of everything"
        )));
    }
    let width = comfy_table::Table::new().width().map_or(WIDTH, usize::from);
    Ok(format!("{}\n`tracesql docs NAME` shows all of an entry.\n", hits_text(&hits, width)))
}

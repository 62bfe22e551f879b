//! `tracesql docs`: the reference of tables, views, functions and settings.

use std::io::Write;

use super::args::{DocsArgs, Global};
use super::warn_of_problems;
use crate::docs::Reference;
use crate::engine::Engine;
use crate::error::{Error, Result};

pub fn run(args: &DocsArgs, global: &Global) -> Result<()> {
    let engine = Engine::without_store(&global.engine_options())?;
    warn_of_problems(&engine);
    let mut reference = Reference::of(&engine);
    if let Some(name) = &args.name {
        reference = reference.named(name)?;
    }
    let text = reference.write(args.format, args.name.is_none());
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Error::Output("standard output".into(), e))
}

//! `tracesql query`: SQL over a store.

use std::io::{IsTerminal, Read};

use tracesql_ingest::Store;

use super::args::{Global, QueryArgs, SqlArgs};
use super::open::{CommandLine, open_store};
use super::{cache, warn_of_problems};
use crate::error::{Error, Result};
use crate::repl::{Opened, Session, scalar, shell};

pub fn run(args: &QueryArgs, global: &Global) -> Result<()> {
    run_sql(open_store(Store::open(&args.store)?, global)?, &args.sql, global)
}

/// Runs the SQL that was given; without any, a shell on a terminal, else what standard input holds.
pub fn run_sql(opened: Opened, args: &SqlArgs, global: &Global) -> Result<()> {
    warn_of_problems(&opened.engine);
    let is_shell = args.command.is_none() && args.file.is_none() && std::io::stdin().is_terminal();
    let mut session =
        Session::new(opened, Box::new(CommandLine::new(global)), global.threads, is_shell)?;
    let parameters =
        args.parameters.iter().map(|(name, value)| (name.clone(), scalar(value))).collect();
    session.set_limits(global.timeout, !global.no_commands);
    session.set_options(parameters, args.format, args.output.clone());
    if is_shell {
        let history = cache::folder().map(|d| d.join("history"));
        return shell(session, history.as_deref(), global.quiet);
    }
    // The width of standard output, if it is a terminal.
    session.set_width(comfy_table::Table::new().width().map(usize::from));
    match (&args.command, &args.file) {
        (Some(sql), _) => session.script(sql, None),
        (None, Some(path)) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("{name}: {e}")))?;
            session.script(&text, Some(&name))
        }
        (None, _) => session.script(&from_stdin()?, None),
    }
}

fn from_stdin() -> Result<String> {
    let mut sql = String::new();
    std::io::stdin()
        .read_to_string(&mut sql)
        .map_err(|e| Error::Usage(format!("standard input: {e}")))?;
    Ok(sql)
}

//! `tracesql man`: prints or writes manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use tracesql::output::{Target, write_document};
use tracesql::{Error, Result};

use crate::command_line::CommandLine;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql man -o man1
  tracesql man ingest > tracesql-ingest.1
  tracesql man > tracesql.1 && man -l tracesql.1

`man` finds them in ~/.local/share/man/man1.")]
pub struct ManArgs {
    /// Page of this command [default: that of tracesql itself]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Option<String>,
    /// Folder for the pages of all commands; it is made if it does not exist
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &ManArgs) -> Result<()> {
    if let Some(folder) = &args.output {
        let cannot = |e| Error::Output(folder.display().to_string(), e);
        std::fs::create_dir_all(folder).map_err(cannot)?;
        return clap_mangen::generate_to(CommandLine::command(), folder).map_err(cannot);
    }
    let mut all = CommandLine::command();
    all.build();
    let page = match &args.command {
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone().display_name(format!("tracesql-{name}")),
            None => {
                return Err(Error::Usage(format!(
                    "there is no command {name:?}; `tracesql --help` lists all"
                )));
            }
        },
        None => all,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|e| Error::Output("the page".into(), e))?;
    write_document(&text, &Target::Stdout)
}

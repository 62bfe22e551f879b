//! `tracesql man`: prints or writes manual pages.

use std::path::PathBuf;

use clap::{Args, Command};
use tracesql::output::{Target, write_document};
use tracesql::{Error, Result};

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

/// Prints or writes pages of `command_line`, the description of the whole command line.
pub fn run(args: &ManArgs, mut command_line: Command) -> Result<()> {
    if let Some(folder) = &args.output {
        let cannot = |e| Error::Output(folder.display().to_string(), e);
        std::fs::create_dir_all(folder).map_err(cannot)?;
        return clap_mangen::generate_to(command_line, folder).map_err(cannot);
    }
    command_line.build();
    let page = match &args.command {
        Some(name) => match command_line.find_subcommand(name) {
            Some(command) => command.clone().display_name(format!("tracesql-{name}")),
            None => {
                return Err(Error::Usage(format!(
                    "there is no command {name:?}; `tracesql --help` lists all"
                )));
            }
        },
        None => command_line,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|e| Error::Output("the page".into(), e))?;
    write_document(&text, &Target::Stdout)
}

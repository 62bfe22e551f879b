//! `tracesql completions` and `tracesql man`: the command line, as shells and `man` want it described.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::args::Cli;
use crate::error::{Error, Result};
use crate::output::{Target, write_document};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql completions bash > tracesql.bash
  tracesql completions zsh > _tracesql
  tracesql completions fish > tracesql.fish

Where they go: ~/.local/share/bash-completion/completions/tracesql for bash, a folder of $fpath for zsh,
~/.config/fish/completions/tracesql.fish for fish.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

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

pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tracesql", &mut script);
    write_document(&script, &Target::Stdout)
}

pub fn man(args: &ManArgs) -> Result<()> {
    if let Some(folder) = &args.output {
        let cannot = |e| Error::Output(folder.display().to_string(), e);
        std::fs::create_dir_all(folder).map_err(cannot)?;
        return clap_mangen::generate_to(Cli::command(), folder).map_err(cannot);
    }
    let mut all = Cli::command();
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

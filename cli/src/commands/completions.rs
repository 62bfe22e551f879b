//! `tracesql completions`: prints a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;
use tracesql::Result;
use tracesql::output::{Target, write_document};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql completions bash > tracesql.bash
  tracesql completions zsh > _tracesql
  tracesql completions fish > tracesql.fish

Where the scripts go:
  bash  ~/.local/share/bash-completion/completions/tracesql
  zsh   _tracesql in a folder of $fpath
  fish  ~/.config/fish/completions/tracesql.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script for `command_line`, the description of the whole command line.
pub fn run(args: &CompletionsArgs, mut command_line: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line, "tracesql", &mut script);
    write_document(&script, &Target::Stdout)
}

//! `tracesql completions`: prints a completion script for a shell.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use tracesql::Result;
use tracesql::engine::{Engine, EngineOptions, documented};
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
pub fn run(args: &CompletionsArgs, command_line: Command) -> Result<()> {
    let mut command_line = with_names(command_line)?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line, "tracesql", &mut script);
    write_document(&script, &Target::Stdout)
}

/// Adds the names of rules, views and settings to the options that take them. A call accepts more
/// than these, such as views of the user.
fn with_names(command_line: Command) -> Result<Command> {
    let engine = Engine::without_store(&EngineOptions::default())?;
    let known = documented(engine.library());
    // clap takes names that live as long as the program, which ends when the script is printed.
    let lasting = |name: String| -> &'static str { name.leak() };
    let views: Vec<_> = known.into_iter().map(|(_, view)| lasting(view.name)).collect();
    let rules: Vec<_> = views.iter().filter_map(|name| name.strip_prefix("rule_")).collect();
    let settings: Vec<_> =
        engine.settings().all().into_keys().map(|name| lasting(format!("{name}="))).collect();
    let with = |command: Command, options: &[&'static str], names: &[&'static str]| {
        options.iter().fold(command, |command, option| {
            let names = PossibleValuesParser::new(names.iter().copied());
            command.mut_arg(*option, |arg| arg.value_parser(names).hide_possible_values(true))
        })
    };
    Ok(with(command_line, &["set"], &settings)
        .mut_subcommand("check", |c| with(c, &["only", "skip", "require"], &rules))
        .mut_subcommand("export", |c| with(c, &["view"], &views))
        .mut_subcommand("docs", |c| with(c, &["name"], &views)))
}

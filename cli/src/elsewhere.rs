//! Names the program that has a command or an option which this one lacks: `tracesql-full` has
//! object storage, a cluster and servers.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands of `tracesql-full`, and the page about each.
const COMMANDS: [(&str, &str); 4] = [
    ("copy", "docs/object-storage.md"),
    ("gc", "docs/object-storage.md"),
    ("cluster", "docs/many-machines.md"),
    ("serve", "docs/many-machines.md"),
];
/// Options of `tracesql-full`, and the page about each.
const OPTIONS: [(&str, &str); 2] =
    [("--cluster", "docs/many-machines.md"), ("--share", "docs/many-machines.md")];

/// The error about a word that is a command of `tracesql-full`.
pub fn command(word: &str) -> Option<String> {
    let (name, page) = COMMANDS.iter().find(|(name, _)| *name == word)?;
    Some(format!("`{name}` is a command of the program tracesql-full; see {page}"))
}

/// The error about an option that is one of `tracesql-full`, unless a command of `described` has
/// it.
pub fn option(error: &clap::Error, described: &clap::Command) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let (name, page) = OPTIONS.iter().find(|(name, _)| word.split('=').next() == Some(*name))?;
    let has = |command: &clap::Command| {
        command.get_arguments().any(|argument| argument.get_long() == name.strip_prefix("--"))
    };
    if has(described) || described.get_subcommands().any(has) {
        return None;
    }
    Some(format!("{name} is an option of the program tracesql-full; see {page}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &[&str]) -> Option<String> {
        let described = crate::command_line::command();
        let error = described.clone().try_get_matches_from(arguments).expect_err("refused");
        option(&error, &described)
    }

    #[test]
    fn options_of_the_other_program_name_it() {
        for arguments in [
            &["tracesql", "query", "x", "--cluster", "h:1", "-c", "SELECT 1"][..],
            &["tracesql", "x", "--cluster=h:1"],
            &["tracesql", "ingest", "x", "-o", "y", "--share", "0/2"],
        ] {
            let text = error(arguments).expect("named");
            assert!(text.contains("option of the program tracesql-full"), "{text}");
        }
        assert_eq!(error(&["tracesql", "query", "x", "--clusterx"]), None);
    }

    #[test]
    fn options_that_a_command_of_this_program_has_keep_their_error() {
        let described = crate::command_line::command()
            .mut_subcommand("query", |c| c.arg(clap::Arg::new("cluster").long("cluster")));
        let arguments = ["tracesql", "list", "x", "--cluster", "h:1"];
        let error = described.clone().try_get_matches_from(arguments).expect_err("refused");
        assert_eq!(option(&error, &described), None);
    }
}

//! Options that every command takes.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use tracesql::byte_size::bytes;
use tracesql::engine::{Cluster, EngineOptions};
use tracesql::{Error, Result};
use tracesql_ingest::IngestOptions;

/// The cluster that computes the queries of this process.
static CLUSTER: OnceLock<Arc<dyn Cluster>> = OnceLock::new();

/// Lets a cluster compute the queries of this process. The first call decides.
pub fn use_cluster(cluster: Arc<dyn Cluster>) {
    let _ = CLUSTER.set(cluster);
}

/// The heading of options about time and memory.
const LIMITS: &str = "Limits";
/// The heading of options about SQL.
const SQL: &str = "SQL, views and rules";
/// The heading of options about messages.
const MESSAGES: &str = "Messages";

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Number of threads [default: all cores]
    #[arg(
        long,
        global = true,
        default_value_t = 0,
        hide_default_value = true,
        value_name = "N",
        help_heading = LIMITS
    )]
    pub threads: usize,
    /// Memory to stay within, for example 1GiB; reading traces takes 400MB at least [default: half
    /// of the machine's for reading traces, none for queries]
    #[arg(long, global = true, value_parser = bytes, value_name = "SIZE", help_heading = LIMITS)]
    pub memory_limit: Option<usize>,
    /// Stop a query that takes longer, for example 30s or 5m; each statement has this time
    /// [default: no limit]
    #[arg(
        long,
        global = true,
        value_parser = duration,
        value_name = "DURATION",
        help_heading = LIMITS
    )]
    pub timeout: Option<Duration>,
    /// Let statements read files outside the store (CREATE EXTERNAL TABLE)
    #[arg(long, global = true, help_heading = SQL)]
    pub allow_files: bool,
    /// Accept SQL only, and refuse commands such as \o FILE
    #[arg(long, global = true, help_heading = SQL)]
    pub no_commands: bool,
    /// Folder with views of your own, laid out as AREA/NAME.sql; may be given several times
    #[arg(long, global = true, value_name = "DIR", help_heading = SQL)]
    pub sql: Vec<PathBuf>,
    /// Folder with rules of your own, as rule_NAME.sql or rules/rule_NAME.sql; may be given several
    /// times
    #[arg(long, global = true, value_name = "DIR", help_heading = SQL)]
    pub rules: Vec<PathBuf>,
    /// Change a setting, for example a threshold; `tracesql docs` lists them
    #[arg(
        long,
        global = true,
        value_name = "NAME=VALUE",
        value_parser = parameter,
        help_heading = SQL
    )]
    pub set: Vec<(String, String)>,
    /// Write nothing but errors to standard error
    #[arg(long, short, global = true, help_heading = MESSAGES, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Write all statistics and notes to standard error, not only a summary of them
    #[arg(long, short, global = true, help_heading = MESSAGES)]
    pub verbose: bool,
}

/// The options that commands use, except those about messages, which all commands take.
const ALL: [&str; 8] =
    ["threads", "memory_limit", "timeout", "allow_files", "no_commands", "sql", "rules", "set"];

/// Whether a command uses an option of [`Global`].
fn is_used(command: &str, option: &str) -> bool {
    match (command, option) {
        (_, "quiet" | "verbose") | ("query", _) => true,
        ("compare" | "report" | "mcp", option) => !matches!(option, "no_commands" | "allow_files"),
        ("check" | "export" | "pprof" | "folded" | "flamegraph" | "speedscope", option) => {
            option != "no_commands"
        }
        ("ingest", option) => matches!(option, "threads" | "memory_limit"),
        ("docs", option) => matches!(option, "sql" | "rules" | "set"),
        _ => false,
    }
}

/// Hides the options that a command does not use from its help, manual page and completions.
pub fn hide_unused(mut command_line: Command) -> Command {
    let names: Vec<String> =
        command_line.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    for name in names {
        for option in ALL.iter().filter(|option| !is_used(&name, option)) {
            let Some(arg) = command_line.get_arguments().find(|a| a.get_id() == option) else {
                continue;
            };
            // clap keeps an option of the command where a global one has the same name.
            let hidden = arg.clone().global(false).hide(true);
            command_line = command_line.mut_subcommand(&name, |c| c.arg(hidden));
        }
    }
    command_line
}

/// Refuses options that the user gave to a command that does not use them, and `--threads 0`.
pub fn refuse_unused(matches: &ArgMatches) -> Result<()> {
    let is_given = |matches: &ArgMatches, option: &str| {
        matches.value_source(option) == Some(ValueSource::CommandLine)
    };
    let given = |option: &str| {
        is_given(matches, option)
            || matches.subcommand().is_some_and(|(_, sub)| is_given(sub, option))
    };
    if let Some((name, _)) = matches.subcommand()
        && let Some(option) = ALL.iter().find(|option| !is_used(name, option) && given(option))
    {
        return Err(Error::Usage(format!(
            "--{} means nothing to `tracesql {name}`; leave it out (`tracesql {name} --help` shows \
             its options)",
            option.replace('_', "-")
        )));
    }
    let threads = matches.subcommand().map_or(matches, |(_, sub)| sub).get_one::<usize>("threads");
    if given("threads") && threads == Some(&0) {
        return Err(Error::Usage(
            "--threads 0: give 1 or more, or leave the option out for all cores".into(),
        ));
    }
    Ok(())
}

impl Global {
    /// The options with which engines are opened.
    pub fn engine_options(&self) -> EngineOptions {
        EngineOptions {
            threads: self.threads,
            memory_limit: self.memory_limit.unwrap_or(0),
            sql: self.sql.clone(),
            rules: self.rules.clone(),
            settings: self.set.clone(),
            allow_files: self.allow_files,
            cluster: CLUSTER.get().cloned(),
            ..EngineOptions::default()
        }
    }

    /// The options with which inputs are read.
    pub fn ingest_options(&self, strict: bool, replace: bool) -> IngestOptions {
        IngestOptions {
            threads: self.threads,
            memory_limit: self.memory_limit.unwrap_or(0),
            strict,
            replace,
            steps_from: None,
        }
    }
}

/// Parses a time such as `30s`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 =
        text[..at].parse().map_err(|_| format!("{text:?} is not a time; write for example 30s"))?;
    let seconds = match text[at..].trim() {
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        unit => return Err(format!("{unit:?} is not a unit of time; use ms, s, m, h or d")),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a time above zero is needed".to_owned()),
    }
}

/// Parses `name=value`.
pub fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(
            duration("0").is_err() && duration("soon").is_err() && duration("1 fortnight").is_err()
        );
    }
}

//! Options that every command takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tracesql::byte_size::bytes;
use tracesql::engine::EngineOptions;
use tracesql_ingest::IngestOptions;

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Number of threads [default: all cores]
    #[arg(long, global = true, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub threads: usize,
    /// Memory to stay within, for example 1GiB; reading traces takes 400MB at least [default: half
    /// of the machine's for reading traces, none for queries]
    #[arg(long, global = true, value_parser = bytes, value_name = "SIZE")]
    pub memory_limit: Option<usize>,
    /// Stop a query that takes longer, for example 30s or 5m; each statement has this time
    /// [default: no limit]
    #[arg(long, global = true, value_parser = duration, value_name = "DURATION")]
    pub timeout: Option<Duration>,
    /// Let statements read files outside the store (CREATE EXTERNAL TABLE)
    #[arg(long, global = true)]
    pub allow_files: bool,
    /// Take what is given as SQL only: commands such as \\o FILE are refused
    #[arg(long, global = true)]
    pub no_commands: bool,
    /// Say nothing but errors on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Folder with views of your own, laid out as AREA/NAME.sql; may be given several times
    #[arg(long, global = true, value_name = "DIR")]
    pub sql: Vec<PathBuf>,
    /// Folder with rules of your own, as rule_NAME.sql or rules/rule_NAME.sql; may be given several
    /// times
    #[arg(long, global = true, value_name = "DIR")]
    pub rules: Vec<PathBuf>,
    /// Change a setting, for example a threshold; `tracesql docs` lists them
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = parameter)]
    pub set: Vec<(String, String)>,
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
        }
    }
}

/// Parses a time such as `30s`.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 =
        text[..at].parse().map_err(|_| format!("{text:?} is not a time; write for example 30s"))?;
    let seconds = match text[at..].trim() {
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        unit => return Err(format!("{unit:?} is not a unit of time; use ms, s, m or h")),
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

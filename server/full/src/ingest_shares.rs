//! `ingest --share I/N`: each of N workers reads a part of the inputs. No worker knows of another,
//! because all of them compute the same parts.

mod share;
mod workers;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use tracesql::open::Found;
use tracesql::{Error, Result};

use share::{Share, deal};

const LONG_HELP: &str = "Read one of N equal parts of the inputs, for N workers at once

I counts from 0, so the parts of 64 workers are 0/64 to 63/64. All workers name the same inputs; \
the largest input goes to the part with the fewest bytes so far, then the next one. An archive is \
not divided. A worker that failed is started again with the same I/N. When all are done, the same \
command without --share reads the inputs that are missing.

`auto` takes I and N from the environment:
  Kubernetes indexed job    JOB_COMPLETION_INDEX, and TRACESQL_SHARES for N
  Slurm                     SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP, _COUNT;
                            SLURM_PROCID, SLURM_NTASKS; or both together
  PBS array                 PBS_ARRAY_INDEX, and TRACESQL_SHARES for N
  torchrun and others       RANK, WORLD_SIZE. The workers of torchrun use only these";

/// Adds the option to `ingest`.
pub fn describe(command_line: Command) -> Command {
    let share = Arg::new("share")
        .long("share")
        .value_name("I/N|auto")
        .help("Read part I (from 0) of N parts of the inputs, or the part of this worker of a job")
        .long_help(LONG_HELP);
    command_line.mut_subcommand("ingest", |command| command.arg(share))
}

/// Runs `ingest` with this option; `None` for all other calls.
pub fn run(matches: &ArgMatches) -> Option<Result<ExitCode>> {
    let (name, ingest) = matches.subcommand()?;
    if name != "ingest" {
        return None;
    }
    let text = ingest.get_one::<String>("share")?;
    Some(part(text).and_then(|(share, from)| {
        tracesql_cli::ingest_part(matches, |found| choose(found, share, &from))
    }))
}

/// The share that the user named, and where it comes from.
fn part(text: &str) -> Result<(Share, String)> {
    let outcome = match text {
        "auto" => workers::share(|name| std::env::var(name).ok()),
        _ => text.parse().map(|share| (share, String::new())),
    };
    outcome.map_err(|reason| Error::Usage(format!("--share {text}: {reason}")))
}

/// The inputs of a share, and a line about it.
fn choose(found: Vec<Found>, share: Share, from: &str) -> Result<(Vec<Found>, String)> {
    // The members of an archive stay together, and an input that two names stand for counts once.
    let mut containers: BTreeMap<String, (u64, Vec<Found>)> = BTreeMap::new();
    let mut seen = std::collections::HashSet::new();
    for input in found {
        let name = input.container();
        let Some(bytes) = input.bytes() else {
            return Err(Error::Usage(format!(
                "{name}: --share needs files or objects, whose sizes are known before they are \
                 read; leave the option out"
            )));
        };
        let is_new = match &input {
            Found::Here(input) => seen.insert(input.name()),
            Found::Elsewhere(input) => seen.insert(input.url.clone()),
        };
        if is_new {
            let entry = containers.entry(name).or_insert_with(|| (bytes, Vec::new()));
            entry.1.push(input);
        }
    }
    let sizes: Vec<u64> = containers.values().map(|(bytes, _)| *bytes).collect();
    let parts = deal(&sizes, share.of);
    let mine = containers.into_values().zip(parts).filter(|(_, part)| *part == share.index);
    let mine: Vec<(u64, Vec<Found>)> = mine.map(|(container, _)| container).collect();
    let line = format!(
        "share {share}{from}: {} of {}, {} of {}",
        mine.len(),
        inputs(sizes.len()),
        megabytes(mine.iter().map(|(bytes, _)| bytes).sum()),
        megabytes(sizes.iter().sum()),
    );
    Ok((mine.into_iter().flat_map(|(_, found)| found).collect(), line))
}

fn inputs(count: usize) -> String {
    if count == 1 { "1 input".to_owned() } else { format!("{count} inputs") }
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

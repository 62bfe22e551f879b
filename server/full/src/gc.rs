//! `tracesql-full gc`: removes files on object storage that no trace uses.

use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use tracesql::Error;
use tracesql::output::units::many;
use tracesql::output::{Target, safe, write_document};
use tracesql_remote::{ObjectTraces, Place, gc};

/// Remove files on object storage that no trace uses
///
/// They are left when a trace is replaced, and when a process that publishes a trace dies. Files
/// younger than the given age stay, because a trace that is being published looks the same until
/// its manifest is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql-full gc s3://bucket/run
  tracesql-full gc s3://bucket/run --older-than 2d --dry-run")]
struct GcArgs {
    /// The URL of the store
    #[arg(value_name = "URL")]
    store: String,
    /// The time since which no trace uses the files; it must be longer than any upload takes
    #[arg(long, value_name = "DURATION", default_value = "24h",
          value_parser = age)]
    older_than: Duration,
    /// Only list the files
    #[arg(long)]
    dry_run: bool,
}

/// An age, which may be zero while no process writes to the store.
fn age(text: &str) -> Result<Duration, String> {
    match text.trim() {
        "0" | "0s" => Ok(Duration::ZERO),
        text => tracesql_cli::duration(text),
    }
}

/// The description of the command.
pub fn command() -> Command {
    GcArgs::augment_args(Command::new("gc"))
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> tracesql::Result<ExitCode> {
    let args = GcArgs::from_arg_matches(matches).map_err(|e| Error::Usage(e.to_string()))?;
    if !Place::takes(&args.store) {
        return Err(Error::Usage(format!(
            "{}: this command is for stores on object storage, such as s3://bucket/run; a store in \
             a folder removes unfinished files by itself",
            args.store
        )));
    }
    let store = ObjectTraces::open(&args.store, false)?;
    let found = gc(&store, args.older_than, args.dry_run)?;
    let mut text = String::new();
    for leftover in &found {
        let count = many(leftover.files() as i64, "file");
        text += &safe(&format!("{}: {count}, {} bytes", leftover.name, leftover.bytes));
        text.push('\n');
    }
    let files: usize = found.iter().map(|leftover| leftover.files()).sum();
    let bytes: u64 = found.iter().map(|leftover| leftover.bytes).sum();
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    text += &format!("{} with {bytes} bytes {verb}\n", many(files as i64, "file"));
    write_document(text.as_bytes(), &Target::Stdout)?;
    Ok(ExitCode::SUCCESS)
}

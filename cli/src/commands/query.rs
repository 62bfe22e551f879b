//! `tracesql query`: runs SQL over a store.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use clap::Args;
use tracesql::open::{Location, cache_folder, open_store};
use tracesql::output;
use tracesql::{Error, Result};

use super::warn_of_problems;
use crate::global::{Global, parameter};
use crate::output_names;
use crate::shell::{Options, Session, interactive, scalar};
use crate::values::Format;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql query store -c \"SELECT * FROM kernels_by_name LIMIT 5\"
  tracesql query store -c \"SELECT * FROM steps WHERE step = \\$step\" -p step=3
  tracesql query store -f report.sql -o report.csv -p step=3
  echo \"SELECT count(*) FROM events\" | tracesql query store --format json")]
pub struct QueryArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    #[command(flatten)]
    pub sql: SqlArgs,
}

/// Endings of files for results.
const ENDINGS: &str = ".csv, .tsv, .json, .ndjson, .md, .parquet, .arrow or .txt";

#[derive(Debug, Args)]
pub struct SqlArgs {
    /// SQL to run; statements are separated by `;`
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        conflicts_with = "file",
        allow_hyphen_values = true
    )]
    pub command: Option<String>,
    /// File with SQL to run, `-` for standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Format of results [default: by the ending of the output file, else table]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// File for the result instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// Value of `$name` in the SQL: a number, true, false, null, or text
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
}

pub fn run(args: &QueryArgs, global: &Global) -> Result<()> {
    run_sql(Location::of_store(open_store(&args.store)?), &args.sql, global)
}

/// Runs the SQL that the user gave. Without any, it starts a shell on a terminal, or else reads
/// standard input.
pub fn run_sql(location: Location, args: &SqlArgs, global: &Global) -> Result<()> {
    let location = location.choose(&args.traces)?;
    let format = output_names::format(
        args.format.map(output::Format::from),
        args.output.as_ref(),
        output::Format::of_file,
        ENDINGS,
    )?;
    let engine = location.engine(&global.engine_options())?;
    warn_of_problems(&engine);
    let is_shell = args.command.is_none() && args.file.is_none() && std::io::stdin().is_terminal();
    let parameters =
        args.parameters.iter().map(|(name, value)| (name.clone(), scalar(value))).collect();
    let options = Options { parameters, format, output: args.output.clone(), in_shell: is_shell };
    let mut session = Session::new(engine, location, global, options)?;
    if is_shell {
        let history = cache_folder().map(|folder| folder.join("history"));
        return interactive::run(session, history.as_deref(), global.quiet);
    }
    // The width of standard output, if this is a terminal.
    session.set_width(comfy_table::Table::new().width().map(usize::from));
    match (&args.command, &args.file) {
        (Some(sql), _) => session.script(sql, None),
        (None, Some(path)) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("{name}: {e}")))?;
            session.script(&text, Some(&name))
        }
        (None, _) => session.script(&from_stdin()?, None),
    }
}

fn from_stdin() -> Result<String> {
    let mut sql = String::new();
    std::io::stdin()
        .read_to_string(&mut sql)
        .map_err(|e| Error::Usage(format!("standard input: {e}")))?;
    Ok(sql)
}

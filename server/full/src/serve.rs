//! `tracesql-full serve`: answers clients of PostgreSQL and of Flight SQL. `tracesql-full user`
//! keeps the file of its users.

use std::io::{BufRead, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use tracesql::engine::{Engine, EngineOptions};
use tracesql::open::open_store;
use tracesql::{Error, Result};
use tracesql_cli::Global;
use tracesql_serve::{Addresses, Config, Limits, Tls, Users};

const SERVE: &str = "serve";
const USER: &str = "user";
/// The address of the server for PostgreSQL, if none is given for either protocol.
const PG: &str = "127.0.0.1:5432";

/// Adds the commands to the command line.
pub fn describe(command_line: Command) -> Command {
    let serve = ServeArgs::augment_args(Command::new(SERVE))
        .about("Answer clients of PostgreSQL (psql, Grafana, DBeaver, pandas) and of Flight SQL");
    let user = UserCommand::augment_subcommands(Command::new(USER))
        .about("Keep the file of users of a server")
        .subcommand_required(true)
        .arg_required_else_help(true);
    command_line.subcommand(serve).subcommand(user)
}

/// Runs a command of this module; `None` for others.
pub fn run(matches: &ArgMatches) -> Option<Result<ExitCode>> {
    let usage = |e: clap::Error| Error::Usage(e.to_string());
    let (name, matches) = matches.subcommand()?;
    let done = match name {
        SERVE => ServeArgs::from_arg_matches(matches)
            .and_then(|args| Ok((args, Global::from_arg_matches(matches)?)))
            .map_err(usage)
            .and_then(|(args, global)| serve(&args, &global)),
        USER => UserCommand::from_arg_matches(matches).map_err(usage).and_then(|c| user(&c)),
        _ => return None,
    };
    Some(done.map(|()| ExitCode::SUCCESS))
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql-full serve runs/base
  tracesql-full user add grafana users
  tracesql-full serve runs/base --pg 0.0.0.0:5432 --users users \\
    --tls-cert server.crt --tls-key server.key
  psql 'host=127.0.0.1 user=me dbname=tracesql' -c 'SELECT count(*) FROM events'")]
struct ServeArgs {
    /// The store: a folder or a URL
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Address for clients of PostgreSQL [default: 127.0.0.1:5432, unless --flight is given]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pg: Option<SocketAddr>,
    /// Address for clients of Flight SQL, for example 127.0.0.1:32010
    #[arg(long, value_name = "ADDRESS:PORT")]
    flight: Option<SocketAddr>,
    /// File of users; without it, any client that reaches the server may read the store
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Certificate of the server as PEM, with those that signed it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = one_or_more)]
    max_connections: usize,
    /// Statements that run at a time; others wait
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = one_or_more)]
    max_queries: usize,
    /// Hours after which a client of Flight SQL must log in again
    #[arg(long, value_name = "HOURS", default_value_t = 8, value_parser = one_or_more)]
    token_hours: usize,
    /// Listen on addresses of the network without users or without TLS
    #[arg(long)]
    insecure: bool,
}

fn one_or_more(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number from 1 on is needed".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn serve(args: &ServeArgs, global: &Global) -> Result<()> {
    if global.allow_files {
        return Err(Error::Usage("--allow-files means nothing to a server; leave it out".into()));
    }
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificates), Some(key)) => Some(Tls::load(certificates, key)?),
        _ => None,
    };
    let users = args.users.as_deref().map(Users::load).transpose()?.map(Arc::new);
    let store = open_store(&args.store)?;
    // Each statement that runs has an equal share of the memory, so that one cannot take it all.
    let limit = global.memory_limit.unwrap_or(0);
    let options = EngineOptions {
        allow_files: false,
        queries_and_views_only: true,
        memory_limit: limit / args.max_queries,
        process_memory_limit: limit,
        ..global.engine_options()
    };
    let defaults = Limits::default();
    let config = Config {
        open: Arc::new(move || Engine::open(&store, None, &options)),
        users,
        tls,
        limits: Limits {
            timeout: global.timeout.unwrap_or(defaults.timeout),
            max_connections: args.max_connections,
            max_queries: args.max_queries,
            token: Duration::from_secs(3_600 * args.token_hours as u64),
            ..defaults
        },
        insecure: args.insecure,
        threads: global.threads,
    };
    let default_pg = || args.flight.is_none().then(|| PG.parse().ok()).flatten();
    let addresses = Addresses { pg: args.pg.or_else(default_pg), flight: args.flight };
    tracesql_serve::run(config, addresses)
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    /// Add a user to a file, or change a password; the password is read from standard input
    Add {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
        /// File of users, which is made if it does not exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

fn user(command: &UserCommand) -> Result<()> {
    let UserCommand::Add { name, file } = command;
    let password = password(name)?;
    Users::add(file, name, &password)
}

/// Reads a password from standard input. A terminal does not show it.
fn password(name: &str) -> Result<String> {
    let failed = |e: std::io::Error| Error::Usage(format!("standard input: {e}"));
    let is_terminal = std::io::stdin().is_terminal();
    if is_terminal {
        let _ = write!(std::io::stderr(), "Password of {name}: ");
        echo(false);
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    if is_terminal {
        echo(true);
        let _ = writeln!(std::io::stderr());
    }
    read.map_err(failed)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

fn echo(on: bool) {
    let _ = Process::new("stty").arg(if on { "echo" } else { "-echo" }).status();
}

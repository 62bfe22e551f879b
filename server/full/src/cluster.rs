//! `tracesql-full cluster`, and the option `--cluster` of commands that run queries.

use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use parking_lot::Mutex;
use tracesql::byte_size::bytes;
use tracesql::{Error, Result, runtime};
use tracesql_cli::duration;
use tracesql_cluster::{
    Cluster, ExecutorOptions, Limits, Progress, SchedulerOptions, logger, run_executor,
    run_scheduler,
};

/// The commands that can compute on a cluster.
const COMMANDS: [&str; 6] = ["query", "report", "check", "compare", "export", "serve"];

/// The option with the address of the scheduler.
const OPTION: &str = "cluster";

/// The heading of the option.
const HEADING: &str = "Cluster";

/// A query that takes less time shows no progress.
const FIRST: Duration = Duration::from_secs(1);

/// Computes queries on many machines
///
/// A cluster is one scheduler and any number of executors. Give `--cluster HOST:PORT` to query,
/// report, check, compare, export or serve to use it.
#[derive(Debug, Args)]
struct ClusterArgs {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Run the scheduler, which hands out traces to executors
    Scheduler(SchedulerArgs),
    /// Run an executor, which computes queries over traces
    Executor(ExecutorArgs),
}

#[derive(Debug, Args)]
struct SchedulerArgs {
    /// Address and port to listen at
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
    /// Time after which a silent executor counts as lost, and its traces go to others
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    executor_timeout: Duration,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Address to listen at
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Port where rows are fetched; tasks arrive at the next port [default: two free ports]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(..u16::MAX as i64)
    )]
    port: u16,
    /// Name or address under which the scheduler and clients reach this executor [default: the
    /// address to listen at]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Traces to compute at once [default: cores / threads]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    slots: usize,
    /// Folder of this executor for rows that wait to be fetched; it is emptied
    #[arg(long, value_name = "DIR")]
    work_dir: PathBuf,
    /// Memory of all slots together, for example 120GiB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,
    /// Time that one trace may take, for example 90s or 10m [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    task_timeout: Option<Duration>,
    /// Time between two signs of life, in whole seconds
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration)]
    heartbeat: Duration,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Common {
    /// Listen at other addresses than loopback. Everyone who reaches the ports can run queries and
    /// read all rows: there is no encryption and no login
    #[arg(long)]
    trust_network: bool,
    /// Write what the parts of Ballista do to the log too
    #[arg(long)]
    log_all: bool,
}

/// Adds the command and the option.
pub fn describe(command_line: Command) -> Command {
    let option =
        || {
            Arg::new(OPTION).long(OPTION).value_name("HOST:PORT").help_heading(HEADING).help(
                "Compute on the cluster of this scheduler; see `tracesql-full cluster --help`",
            )
        };
    let roles = ClusterArgs::augment_args(Command::new(OPTION));
    let mut command_line = command_line.arg(option()).subcommand(roles);
    for name in COMMANDS {
        command_line = command_line.mut_subcommand(name, |command| command.arg(option()));
    }
    command_line
}

/// Runs a scheduler or an executor. For other commands it looks at the option.
pub fn run(matches: &ArgMatches) -> Option<Result<ExitCode>> {
    let first = matches.get_one::<String>(OPTION);
    let is_server = matches.subcommand_name() == Some("serve");
    let (matches, address) = match matches.subcommand() {
        Some((OPTION, matches)) => return Some(serve(matches)),
        Some((name, matches)) if COMMANDS.contains(&name) => {
            (matches, matches.get_one::<String>(OPTION).or(first)?)
        }
        Some((name, _)) => {
            let given = first?;
            return Some(Err(Error::Usage(format!(
                "--cluster {given} means nothing to `tracesql-full {name}`; these commands compute \
                 on a cluster: {}",
                COMMANDS.join(", ")
            ))));
        }
        // A store or a trace without a command.
        None => (matches, first?),
    };
    if let Err(e) = host_and_port("--cluster", address) {
        return Some(Err(e));
    }
    let shows = !is_server && !matches.get_flag("quiet") && std::io::stderr().is_terminal();
    let progress = shows.then(progress);
    tracesql_cli::use_cluster(Arc::new(Cluster::new(address, progress)));
    None
}

fn serve(matches: &ArgMatches) -> Result<ExitCode> {
    let args = ClusterArgs::from_arg_matches(matches).map_err(|e| Error::Usage(e.to_string()))?;
    match args.role {
        Role::Scheduler(args) => scheduler(&args)?,
        Role::Executor(args) => executor(&args, matches)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn scheduler(args: &SchedulerArgs) -> Result<()> {
    refuse_untrusted(args.listen.ip(), &args.common)?;
    logger::start(args.common.log_all);
    let options = SchedulerOptions { listen: args.listen, executor_timeout: args.executor_timeout };
    let ready = |address| {
        let _ = writeln!(std::io::stderr(), "the scheduler listens at {address}");
    };
    runtime::with_threads(0)?.block_on(run_scheduler(&options, ready))
}

fn executor(args: &ExecutorArgs, matches: &ArgMatches) -> Result<()> {
    refuse_untrusted(args.listen, &args.common)?;
    let (scheduler_host, scheduler_port) = host_and_port("--scheduler", &args.scheduler)?;
    let host = match &args.host {
        Some(host) => host.parse().map_or_else(|_| host.clone(), url_host),
        None if args.listen.is_unspecified() => {
            return Err(Error::Usage(format!(
                "--listen {}: give --host NAME too, the name under which clients reach this \
                 machine",
                args.listen
            )));
        }
        None => url_host(args.listen),
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let given = matches.subcommand().and_then(|(_, m)| m.get_one::<usize>("threads")).copied();
    let threads =
        given.filter(|&n| n > 0).unwrap_or_else(|| (cores / args.slots.max(1)).clamp(1, 2));
    let slots = if args.slots == 0 { (cores / threads).max(1) } else { args.slots };
    logger::start(args.common.log_all);
    let options = ExecutorOptions {
        scheduler_host,
        scheduler_port,
        host: args.listen,
        port: args.port,
        advertise: host,
        work_dir: args.work_dir.clone(),
        heartbeat: args.heartbeat,
        limits: Limits {
            slots,
            threads,
            memory: args.memory.unwrap_or(0),
            time: args.task_timeout,
        },
    };
    let _ = writeln!(
        std::io::stderr(),
        "the executor computes {slots} traces at once with {threads} threads each"
    );
    // The network needs threads of its own while queries use theirs.
    let runtime = runtime::with_threads(slots * threads + 2)?;
    let ended = runtime.block_on(run_executor(&options));
    // Tasks that are left over end with the process.
    runtime.shutdown_background();
    ended
}

fn refuse_untrusted(address: IpAddr, common: &Common) -> Result<()> {
    if address.is_loopback() || common.trust_network {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--listen {address}: everyone who reaches this address can run queries and read all rows, \
         because a cluster has no encryption and no users; give --trust-network if only machines \
         that you trust reach it"
    )))
}

/// An address as the host of a URL.
fn url_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The host, as in a URL, and the port of a scheduler.
fn host_and_port(option: &str, text: &str) -> Result<(String, u16)> {
    let wrong = || {
        Error::Usage(format!(
            "{option} {text}: write the host and the port of the scheduler, for example \
             127.0.0.1:50050 or [::1]:50050"
        ))
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || (host.contains(':') && !is_bracketed) {
        return Err(wrong());
    }
    Ok((host.to_owned(), port))
}

/// Shows on standard error how many traces are computed, unless the shell does.
fn progress() -> Progress {
    let began: Mutex<Option<(Instant, bool)>> = Mutex::new(None);
    Arc::new(move |state| {
        if tracesql_cli::set_traces_done(state) {
            return;
        }
        let mut began = began.lock();
        let mut stderr = std::io::stderr();
        match state {
            Some((done, total)) => {
                let (start, is_shown) = began.get_or_insert_with(|| (Instant::now(), false));
                if *is_shown || start.elapsed() > FIRST {
                    *is_shown = true;
                    let seconds = start.elapsed().as_secs();
                    let _ = write!(stderr, "\r\x1b[K{done} of {total} traces, {seconds} s");
                }
            }
            None => {
                if let Some((_, true)) = began.take() {
                    let _ = write!(stderr, "\r\x1b[K");
                }
            }
        }
    })
}

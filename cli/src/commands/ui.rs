//! `tracesql ui`: pages over traces in the browser.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use clap::Args;
use tracesql::open::{InputReader, Opener};
use tracesql::requests::Limits;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Store, physical_memory};
use tracesql_ui::{Address, Config, Progress, QUERY_TIME, Reading, origin, serve};

use crate::global::Global;
use crate::progress;
use crate::terminal::{Messages, Terminal};

/// The longest time that `--timeout` can allow.
const MAX_TIME: Duration = Duration::from_secs(3_600);
/// The time between two reports of how far reading is.
const REPORTS: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql ui trace.json.gz
  tracesql ui base.json.gz new.json.gz --no-open
  tracesql ui runs/base --port 8080

The address carries a token, and anyone on this machine who has it can query
the traces. The server listens on 127.0.0.1 only. From another machine:
ssh -L 7117:127.0.0.1:7117 HOST")]
pub struct UiArgs {
    /// Traces (files, folders, globs), or one store
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<String>,
    /// Only this trace: its id, the beginning of its id, or the end of its path; may be given
    /// several times
    #[arg(long = "trace", value_name = "TRACE")]
    pub traces: Vec<String>,
    /// The port of 127.0.0.1 [default: the first free one from 7117]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Do not open the browser
    #[arg(long)]
    pub no_open: bool,
    /// End after this number of minutes without a request
    #[arg(long, value_name = "MINUTES")]
    pub idle: Option<u32>,
    /// Also answer under this name, such as that of a forwarder (HOST or HOST:PORT)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// Let pages of this origin show the pages in a frame
    #[arg(long, value_name = "ORIGIN")]
    pub embed: Option<String>,
}

pub fn run(args: &UiArgs, global: &Global) -> Result<()> {
    let embed = args.embed.clone().map(origin).transpose()?;
    let mut options = global.engine_options();
    // A page must not take the machine from its user.
    options.memory_limit = global.memory_limit.unwrap_or_else(|| physical_memory() / 2);
    let saved: Vec<PathBuf> = options.sql.clone();
    let time = global.timeout.unwrap_or(QUERY_TIME).min(MAX_TIME);
    let (inputs, traces, of_opening) = (args.inputs.clone(), args.traces.clone(), global.clone());
    let config = Config {
        open: Box::new(move |progress| {
            let terminal = Terminal::new(Messages::of(&of_opening));
            let reader = Followed { terminal, progress, reading: Mutex::default() };
            let options = of_opening.ingest_options(false, false);
            Opener::new(options, &reader).open(&inputs)?.choose(&traces)
        }),
        engine: options,
        limits: Limits { time, ..Limits::default() },
        port: args.port,
        allow_hosts: args.allow_hosts.clone(),
        embed,
        idle: args.idle.map(|minutes| Duration::from_secs(u64::from(minutes) * 60)),
        saved,
    };
    let is_opened = !args.no_open;
    serve(config, |address| started(address, is_opened), interrupted())
}

/// Reads inputs as every command does, and tells the pages how far it is.
struct Followed<'a> {
    terminal: Terminal,
    progress: &'a Progress,
    reading: Mutex<Reading>,
}

impl Followed<'_> {
    fn tell(&self, change: impl FnOnce(&mut Reading)) {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut reading);
        self.progress.set(reading.clone());
    }
}

impl InputReader for Followed<'_> {
    fn begin(&self, inputs: usize) {
        self.tell(|reading| reading.inputs = inputs);
        self.terminal.begin(inputs);
    }

    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        let (counters, expected) = (self.terminal.progress(), progress::expected_text(input));
        self.tell(|reading| {
            reading.name = input.name();
            reading.read_pct = None;
        });
        let (ended, end) = mpsc::channel::<()>();
        let outcome = thread::scope(|scope| {
            scope.spawn(move || {
                while end.recv_timeout(REPORTS) == Err(mpsc::RecvTimeoutError::Timeout) {
                    let share = expected.map(|bytes| progress::share(&counters, bytes));
                    self.tell(|reading| reading.read_pct = share.map(|s| (s * 100.0) as u32));
                }
            });
            let outcome = self.terminal.read(input, store, options);
            drop(ended);
            outcome
        });
        self.tell(|reading| {
            reading.read_pct = None;
            reading.done += 1;
        });
        outcome
    }

    fn read_small(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        self.terminal.read_small(input, store, options)
    }

    fn was_read(&self, input: &Input, outcome: &Outcome, seconds: f64) {
        self.tell(|reading| {
            reading.name = input.name();
            reading.read_pct = None;
            reading.done += 1;
        });
        self.terminal.was_read(input, outcome, seconds);
    }

    fn begin_small(&self, inputs: usize) {
        self.tell(|reading| reading.read_pct = None);
        self.terminal.begin_small(inputs);
    }

    fn end_small(&self) {
        self.terminal.end_small();
    }

    fn known(&self, name: &str, outcome: &Outcome) {
        self.tell(|reading| reading.done += 1);
        self.terminal.known(name, outcome);
    }

    fn left_out(&self, why: &IngestError) {
        self.terminal.left_out(why);
    }

    fn failed(&self, why: &Error) {
        self.terminal.failed(why);
    }

    fn end(&self) {
        self.terminal.end();
    }
}

/// Ends at Ctrl-C, and when the process is asked to end.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut ends) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = ends.recv() => {}
    }
}

fn started(address: &Address, is_opened: bool) {
    let url = address.url();
    let mut text = format!("{url}\n");
    if std::env::var_os("SSH_CONNECTION").is_some() {
        text.push_str(&format!(
            "On your own machine: ssh -L {port}:127.0.0.1:{port} HOST, then open the address\n",
            port = address.port
        ));
    }
    // The caller waits for the address, even through a pipe.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if is_opened && std::env::var_os("SSH_CONNECTION").is_none() {
        open(&url);
    }
}

/// Opens an address in the user's browser. Without one, the printed address is enough.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let _ = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}

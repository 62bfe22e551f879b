//! `tracesql ui`: local pages over traces in the browser.
//!
//! A server on the loopback interface answers one user's browser. The pages are plain ES modules
//! without dependencies; everything they know comes from the engine through the addresses below
//! `/api`, whose contract is in `ui/README.md`. Nothing leaves the machine.
//!
//! Other users and other pages of the same machine are kept out: the address that the program
//! prints carries a random token, every request for data must present it, and requests of other
//! pages and under other names are refused (`guard`). The engine only queries.

mod address;
mod api;
mod assets;
mod failure;
mod findings;
mod guard;
mod modules;
mod open;
mod server;
mod timeline;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tracesql::engine::{Engine, EngineOptions};
use tracesql::requests::{Limits, Requests};
use tracesql::{Error, Result, runtime};

pub use address::Address;
pub use open::{Open, Progress, Reading};

/// The first port that is tried. Browsers keep what a page remembers by port.
pub const FIRST_PORT: u16 = 7_117;
/// Ports that are tried after the first one.
pub const MORE_PORTS: u16 = 20;

/// The time of a query unless the user allows another one.
pub const QUERY_TIME: Duration = Duration::from_secs(60);

/// The time in which stores open, and names that stand for nothing are refused.
const SETTLING: Duration = Duration::from_millis(250);

/// What a server shows, and how.
pub struct Config {
    /// Opens the traces on a thread of its own, while pages already show its progress.
    pub open: Open,
    /// Options of the engine. `queries_only` is always set.
    pub engine: EngineOptions,
    /// Limits of queries.
    pub limits: Limits,
    /// The port; `None` for the first free one from [`FIRST_PORT`].
    pub port: Option<u16>,
    /// Names under which a forwarder may ask for the pages, besides `localhost` and addresses of
    /// the loopback interface.
    pub allow_hosts: Vec<String>,
    /// The origin of a page that may show these pages in a frame, such as that of a notebook.
    pub embed: Option<String>,
    /// The time without any request after which the server ends; `None` for never.
    pub idle: Option<Duration>,
    /// Folders whose `.sql` files the console lists.
    pub saved: Vec<PathBuf>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("port", &self.port).finish_non_exhaustive()
    }
}

/// Checks that a text is the origin of a page, such as `http://localhost:8888`.
pub fn origin(text: String) -> Result<String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_host = |host: &str| {
        let mut bytes = host.bytes();
        !host.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    };
    if rest.is_some_and(is_host) {
        return Ok(text);
    }
    Err(Error::Usage(format!(
        "embed: {text} is not an origin; give one such as http://localhost:8888"
    )))
}

/// Serves pages until `stop` ends or the time without requests is up. `ready` gets the address as
/// soon as it answers. Fails if no port is free, or if the traces could not be opened.
pub fn serve(
    config: Config,
    ready: impl FnOnce(&Address),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let options = EngineOptions { queries_only: true, allow_files: false, ..config.engine };
    let documents = Engine::without_store(&options)?;
    let queries = runtime::with_threads(options.threads)?;
    let requests = Requests::new(config.limits, queries.handle().clone());
    let network = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("network")
        .enable_all()
        .build()
        .map_err(|source| Error::Start { what: "the event loop", source })?;
    let (listener, address) = network.block_on(address::bind(config.port)).map_err(in_use)?;
    let state = Arc::new(open::State::new(documents, options, requests, config.saved));
    let guard = guard::Guard::new(&address, config.allow_hosts, config.embed);
    let opening = {
        let (state, open) = (state.clone(), config.open);
        std::thread::spawn(move || state.open(open))
    };
    // A store is open, and a wrong name is refused, before anybody opens a page.
    let mut traces = state.changes();
    let is_settled = traces.wait_for(|traces| !matches!(traces, open::Traces::AreRead));
    let _ = network.block_on(async { tokio::time::timeout(SETTLING, is_settled).await });
    if matches!(*traces.borrow(), open::Traces::Failed(_)) {
        return opening.join().unwrap_or(Ok(()));
    }
    ready(&address);
    network.block_on(server::run(listener, state, guard, config.idle, stop));
    // Queries that do not yield end with the process, and so does a trace that is still read.
    network.shutdown_timeout(runtime::ENDING);
    queries.shutdown_timeout(runtime::ENDING);
    if opening.is_finished() { opening.join().unwrap_or(Ok(())) } else { Ok(()) }
}

fn in_use(source: io::Error) -> Error {
    Error::Start { what: "the server: no port is free; --port names another one", source }
}

//! What all connections share, and the start and end of a server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tracesql::engine::Engine;
use tracesql::{Error, Result, runtime};

use crate::failure::{Failure, code};
use crate::session::Session;
use crate::tls::Tls;
use crate::users::Users;
use crate::{flight, log, pg};

/// Threads that talk to clients. Queries have threads of their own, so that a server with work to do
/// still answers.
const CONNECTION_THREADS: usize = 2;
/// How long running statements may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Opens an engine for a connection.
pub type OpenEngine = Arc<dyn Fn() -> Result<Engine> + Send + Sync>;

/// A server that is about to start.
#[derive(Clone)]
pub struct Config {
    /// Opens an engine over the store, as the store is then.
    pub open: OpenEngine,
    /// The users who may connect; `None` if the server has no users.
    pub users: Option<Arc<Users>>,
    /// TLS. With it, connections without TLS are refused.
    pub tls: Option<Tls>,
    /// Limits.
    pub limits: Limits,
    /// Whether the server may listen on addresses of the network without users and TLS.
    pub insecure: bool,
    /// The number of threads for queries; 0 for one per core.
    pub threads: usize,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time that a statement has, with waiting, planning and reading its rows.
    pub timeout: Duration,
    /// Connections at a time, of all protocols together.
    pub max_connections: usize,
    /// Statements that run at a time; others wait.
    pub max_queries: usize,
    /// The time from the start of a connection until its user is known.
    pub startup: Duration,
    /// The length of a statement in bytes.
    pub statement_bytes: usize,
    /// The time after which a token of Flight SQL ends.
    pub token: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_connections: 32,
            max_queries: 4,
            startup: Duration::from_secs(10),
            statement_bytes: 4 << 20,
            token: Duration::from_secs(8 * 3_600),
        }
    }
}

/// Where a server listens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The protocol of PostgreSQL.
    pub pg: Option<SocketAddr>,
    /// Arrow Flight SQL.
    pub flight: Option<SocketAddr>,
}

/// What the connections of a server share.
#[derive(Debug)]
pub struct Server {
    config: Config,
    connections: Arc<Semaphore>,
    queries: Arc<Semaphore>,
    openings: Arc<Semaphore>,
    threads: Handle,
    stop: CancellationToken,
}

impl Server {
    /// A server whose queries run on these threads.
    pub fn new(config: Config, threads: Handle) -> Arc<Self> {
        Arc::new(Self {
            connections: Arc::new(Semaphore::new(config.limits.max_connections)),
            queries: Arc::new(Semaphore::new(config.limits.max_queries)),
            openings: Arc::new(Semaphore::new(config.limits.max_queries)),
            threads,
            stop: CancellationToken::new(),
            config,
        })
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// The threads of queries.
    pub fn threads(&self) -> &Handle {
        &self.threads
    }

    /// Is cancelled when the server stops: no connection is taken from then on, and idle ones are
    /// closed.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// A session for a client whose password was checked. Fails if there are too many.
    pub fn session(
        self: &Arc<Self>,
        protocol: &'static str,
        user: &str,
        peer: &str,
    ) -> Result<Session, Failure> {
        let permit = self.connections.clone().try_acquire_owned().map_err(|_| {
            let most = self.config.limits.max_connections;
            Failure::new(
                code::TOO_MANY_CONNECTIONS,
                format!("sorry, too many clients already: this server takes {most} connections"),
            )
        })?;
        Ok(Session::new(self.clone(), protocol, user, peer, permit))
    }

    /// Waits until a statement may run.
    pub(crate) async fn query_permit(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let permit = self.queries.clone().acquire_owned().await;
        permit.map_err(|_| stopping())
    }

    /// Opens an engine for a connection. As many are opened at a time as statements run.
    pub(crate) async fn open_engine(&self) -> Result<Engine, Failure> {
        // A client may leave meanwhile, but its engine is opened to the end, and so long it counts.
        let permit = self.openings.clone().acquire_owned().await.map_err(|_| stopping())?;
        let open = self.config.open.clone();
        let opening = self.threads.spawn_blocking(move || {
            let _permit = permit;
            open()
        });
        let engine = opening.await.map_err(|_| Failure::crashed())??;
        let catalog = engine.context().catalog("tracesql");
        if let Some((catalog, main)) = catalog.and_then(|c| Some((c.clone(), c.schema("main")?))) {
            catalog.register_schema("public", main)?;
        }
        Ok(engine)
    }
}

fn stopping() -> Failure {
    Failure::new(code::ADMIN_SHUTDOWN, "the server stops")
}

/// Refuses an address that other machines reach, unless there are users and TLS.
fn check_address(address: SocketAddr, config: &Config) -> Result<()> {
    if address.ip().is_loopback() || config.insecure {
        return Ok(());
    }
    let lacks = match (&config.users, &config.tls) {
        (Some(_), Some(_)) => return Ok(()),
        (None, Some(_)) => "--users",
        (Some(_), None) => "--tls-cert and --tls-key",
        (None, None) => "--users, --tls-cert and --tls-key",
    };
    Err(Error::Usage(format!(
        "{address} can be reached from other machines, so the server needs {lacks}; listen on \
         127.0.0.1, or give --insecure if the network is trusted"
    )))
}

/// Runs a server until the process is told to stop (SIGTERM, SIGINT).
pub fn run(config: Config, addresses: Addresses) -> Result<()> {
    for address in [addresses.pg, addresses.flight].into_iter().flatten() {
        check_address(address, &config)?;
    }
    // A store that cannot be opened is reported now and not to the first client.
    (config.open)()?;
    let queries = runtime::with_threads(config.threads)?;
    let connections = Builder::new_multi_thread()
        .worker_threads(CONNECTION_THREADS)
        .thread_stack_size(runtime::STACK_BYTES)
        .enable_all()
        .build()
        .map_err(|source| Error::Start { what: "threads", source })?;
    let server = Server::new(config, queries.handle().clone());
    let outcome = connections.block_on(listen(server, addresses));
    connections.shutdown_timeout(runtime::ENDING);
    queries.shutdown_timeout(runtime::ENDING);
    outcome
}

async fn listen(server: Arc<Server>, addresses: Addresses) -> Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    if let Some(address) = addresses.pg {
        let listener = bind(address, "PostgreSQL").await?;
        tasks.spawn(pg::serve(server.clone(), listener));
    }
    if let Some(address) = addresses.flight {
        let listener = bind(address, "Flight SQL").await?;
        tasks.spawn(flight::serve(server.clone(), listener));
    }
    tokio::select! {
        signal = stop_signal() => {
            log::line(&format!("stopping: {}", signal?));
            server.stop().cancel();
            let ended = async { while tasks.join_next().await.is_some() {} };
            if tokio::time::timeout(GRACE, ended).await.is_err() {
                log::line("stopped while statements were running");
            }
            Ok(())
        }
        // A protocol serves until the server stops, so one that ends before has failed.
        Some(ended) = tasks.join_next() => ended
            .unwrap_or_else(|_| Err(Error::Query("a server failed".into()))),
    }
}

async fn bind(address: SocketAddr, protocol: &str) -> Result<TcpListener> {
    let failed = |e: std::io::Error| Error::Usage(format!("cannot listen on {address}: {e}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    log::line(&format!("listening on {address} ({protocol})"));
    Ok(listener)
}

/// Waits for a signal to stop, and returns its name.
async fn stop_signal() -> Result<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |source| Error::Start { what: "the handling of signals", source };
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    })
}

//! The connection of a client to the scheduler. It stays open while the client works: the scheduler
//! cancels the client's work when it ends, and the client notices when the scheduler ends.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use ballista_core::utils::create_grpc_client_endpoint;
use datafusion::common::{exec_datafusion_err, exec_err};
use datafusion::error::{DataFusionError, Result};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tonic::transport::Channel;

use crate::scheduler::{CANCEL, ClusterState, ID_HEADER, SESSION};
use crate::version;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long the scheduler may be silent. It writes a line each second.
const SILENCE: Duration = Duration::from_secs(10);

/// The threads for the network. They are of their own, because commands make and drop runtimes.
static RUNTIME: LazyLock<std::io::Result<tokio::runtime::Runtime>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("cluster")
        .thread_stack_size(tracesql::runtime::STACK_BYTES)
        .enable_all()
        .build()
});

/// The runtime for the network.
pub fn runtime() -> Result<&'static Handle> {
    static HANDLE: OnceLock<Handle> = OnceLock::new();
    match RUNTIME.as_ref() {
        Ok(runtime) => Ok(HANDLE.get_or_init(|| runtime.handle().clone())),
        Err(e) => exec_err!("cannot start threads: {e}"),
    }
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    /// The address of the scheduler.
    pub address: String,
    /// The name of the session.
    pub session: String,
    /// The channel for requests.
    pub channel: Channel,
    /// The state of the cluster; closed when the scheduler ends.
    state: watch::Receiver<ClusterState>,
}

impl Connection {
    /// Connects to a scheduler. Fails if it has another version.
    pub async fn open(address: &str) -> Result<Self> {
        let session = uuid::Uuid::new_v4().simple().to_string();
        let unreachable = |e: &dyn std::fmt::Display| {
            exec_datafusion_err!(
                "the scheduler {address} cannot be reached: {e}; start one with `tracesql-full \
                 cluster scheduler`"
            )
        };
        let opening = async {
            let stream = TcpStream::connect(address).await.map_err(|e| unreachable(&e))?;
            let (read, mut write) = stream.into_split();
            let request = format!(
                "GET {SESSION} HTTP/1.0\r\nhost: {address}\r\nuser-agent: {}\r\n{ID_HEADER}: \
                 {session}\r\n\r\n",
                version::user_agent()
            );
            write.write_all(request.as_bytes()).await.map_err(|e| unreachable(&e))?;
            let mut lines = Lines(BufReader::new(read));
            lines.skip_head(address).await?;
            let first = lines.next().await?;
            Ok::<_, DataFusionError>((lines, write, first))
        };
        let (mut lines, write, first) = tokio::time::timeout(CONNECT, opening)
            .await
            .map_err(|_| unreachable(&"no answer"))??;
        let (sender, state) = watch::channel(first);
        tokio::spawn(async move {
            // Both halves live as long as someone looks at the state.
            let _write = write;
            loop {
                tokio::select! {
                    () = sender.closed() => break,
                    line = tokio::time::timeout(SILENCE, lines.next()) => match line {
                        Ok(Ok(state)) => drop(sender.send(state)),
                        _ => break,
                    },
                }
            }
        });
        let channel = create_grpc_client_endpoint(format!("http://{address}"), None)
            .and_then(|endpoint| endpoint.user_agent(version::user_agent()))
            .map_err(|e| unreachable(&e))?
            .connect_lazy();
        Ok(Self { address: address.to_owned(), session, channel, state })
    }

    /// Cancels the job with a name. Nothing is done if the job or the scheduler has ended.
    pub async fn cancel(&self, job: &str) {
        let asking = async {
            let mut stream = TcpStream::connect(&self.address).await?;
            let request = format!(
                "POST {CANCEL} HTTP/1.0\r\nhost: {}\r\nuser-agent: {}\r\n{ID_HEADER}: \
                 {job}\r\ncontent-length: 0\r\n\r\n",
                self.address,
                version::user_agent()
            );
            stream.write_all(request.as_bytes()).await?;
            // The end of the answer, so that the request is not taken back.
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await
        };
        if !matches!(tokio::time::timeout(CONNECT, asking).await, Ok(Ok(_))) {
            log::info!("job {job}: the scheduler did not answer the request to cancel it");
        }
    }

    /// Whether the scheduler has ended.
    pub fn is_over(&self) -> bool {
        self.state.has_changed().is_err()
    }

    /// The state of the cluster as the scheduler reported it last.
    pub fn state(&self) -> ClusterState {
        self.state.borrow().clone()
    }

    /// Waits for a state of the cluster. Fails if the scheduler ends.
    pub async fn wait_for(&self, is: impl Fn(&ClusterState) -> bool) -> Result<ClusterState> {
        let mut state = self.state.clone();
        match state.wait_for(|state| is(state)).await {
            Ok(state) => Ok(state.clone()),
            Err(_) => Err(self.lost()),
        }
    }

    /// The error about a scheduler that has ended.
    pub fn lost(&self) -> DataFusionError {
        exec_datafusion_err!(
            "the scheduler {} is gone; start it again and repeat the query",
            self.address
        )
    }
}

/// The lines that a scheduler writes.
struct Lines(BufReader<OwnedReadHalf>);

impl Lines {
    async fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line).await? {
            0 => exec_err!("the scheduler ended the connection"),
            _ => Ok(line),
        }
    }

    /// Reads the head of the answer. The body of a refusal is its reason.
    async fn skip_head(&mut self, address: &str) -> Result<()> {
        let status = self.line().await?;
        while !self.line().await?.trim().is_empty() {}
        if status.contains(" 200 ") {
            return Ok(());
        }
        let reason = self.line().await.unwrap_or(status);
        exec_err!("the scheduler {address} refuses: {}", reason.trim())
    }

    async fn next(&mut self) -> Result<ClusterState> {
        let line = self.line().await?;
        serde_json::from_str(line.trim())
            .map_err(|e| exec_datafusion_err!("the scheduler wrote an unknown line: {e}"))
    }
}

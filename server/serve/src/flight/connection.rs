//! Connections of clients: accepting them, TLS, and the time in which a client must log in.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;

/// The pause after an error of accepting, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection, as requests refer to it.
#[derive(Debug, Clone)]
pub struct Client {
    /// Differs for each connection of the process.
    pub id: u64,
    /// The address of the client.
    pub peer: SocketAddr,
    /// Cancelled when the connection is closed.
    pub closed: CancellationToken,
    /// Whether a request of the connection was allowed.
    is_known: Arc<AtomicBool>,
}

impl Client {
    /// Whether the connection belongs to a user.
    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Lets the connection stay open: it belongs to a user.
    pub fn set_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }
}

/// Connections that are ready for HTTP/2. `admit` returns what a connection keeps while it is open,
/// or `None` if there are too many. A connection is closed if it has no user after `startup`.
pub fn incoming<P: Send + Unpin + 'static>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    admit: impl Fn(SocketAddr) -> Option<P> + Send + 'static,
    startup: Duration,
    stop: CancellationToken,
) -> impl Stream<Item = io::Result<Connection<P>>> {
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((tcp, peer)) = accepted else {
                sleep(PAUSE).await;
                continue;
            };
            // Dropping the socket closes it, so the client sees a refused connection.
            let Some(permit) = admit(peer) else { continue };
            let (tls, sender) = (tls.clone(), sender.clone());
            tokio::spawn(async move {
                let _ = tcp.set_nodelay(true);
                let socket = match tls {
                    None => Socket::Plain(tcp),
                    Some(tls) => match timeout(startup, tls.accept(tcp)).await {
                        Ok(Ok(stream)) => Socket::Tls(Box::new(stream)),
                        _ => return,
                    },
                };
                let _ = sender.send(Ok(Connection::new(socket, peer, startup, permit))).await;
            });
        }
    });
    stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|connection| (connection, receiver))
    })
}

enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection of a client. Reading fails if the client does not log in in time.
pub struct Connection<P> {
    socket: Socket,
    client: Client,
    /// The end of the time in which the client must log in. Later, the pings of HTTP/2 find
    /// connections whose client is gone.
    patience: Option<Pin<Box<Sleep>>>,
    _permit: P,
}

impl<P> Connection<P> {
    fn new(socket: Socket, peer: SocketAddr, startup: Duration, permit: P) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let client =
            Client { id, peer, closed: CancellationToken::new(), is_known: Arc::default() };
        let patience = Some(Box::pin(sleep(startup)));
        Self { socket, client, patience, _permit: permit }
    }
}

impl<P> Drop for Connection<P> {
    fn drop(&mut self) {
        self.client.closed.cancel();
    }
}

impl<P> Connected for Connection<P> {
    type ConnectInfo = Client;

    fn connect_info(&self) -> Client {
        self.client.clone()
    }
}

impl<P: Unpin> AsyncRead for Connection<P> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.patience.is_some() && self.client.is_known() {
            self.patience = None;
        }
        if let Some(patience) = &mut self.patience
            && patience.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Socket::Tls(tls) => Pin::new(tls.as_mut()).poll_read(cx, buffer),
        }
    }
}

impl<P: Unpin> AsyncWrite for Connection<P> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Socket::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, pieces),
            Socket::Tls(tls) => Pin::new(tls.as_mut()).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.socket {
            Socket::Plain(tcp) => tcp.is_write_vectored(),
            Socket::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Socket::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Socket::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        }
    }
}

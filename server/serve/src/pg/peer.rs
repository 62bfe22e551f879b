//! Notices that a client went away without reading what it sent before that.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::Interest;
use tokio::net::TcpStream;

/// The other end of a connection.
pub enum Peer {
    /// Nothing has waited for its end yet.
    Idle(OwnedFd),
    /// The system reports its end.
    Watched(TcpStream),
    /// It cannot be watched.
    Unknown,
}

impl Peer {
    /// The peer of a socket.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        Ok(Self::Idle(socket.as_fd().try_clone_to_owned()?))
    }

    /// Waits until the peer closed the connection, or its half of it.
    pub async fn gone(&mut self) {
        if let Self::Idle(_) = self
            && let Self::Idle(socket) = std::mem::replace(self, Self::Unknown)
            && let Ok(watched) = TcpStream::from_std(socket.into())
        {
            *self = Self::Watched(watched);
        }
        if let Self::Watched(watched) = self {
            while let Ok(ready) = watched.ready(Interest::READABLE).await {
                if ready.is_read_closed() {
                    return;
                }
                // Only data arrived, which is read later. This waits for the next event.
                let _ = watched.try_io(Interest::READABLE, || {
                    Err::<(), _>(io::Error::from(io::ErrorKind::WouldBlock))
                });
            }
        }
        std::future::pending().await
    }
}

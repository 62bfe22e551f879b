//! Notices that a client went away without reading what it sent before that.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The other end of a connection.
pub enum Peer {
    /// Nothing has waited for its end yet.
    Idle(OwnedFd),
    /// The system reports its end.
    Watched(AsyncFd<OwnedFd>),
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
            && let Ok(watched) = AsyncFd::with_interest(socket, Interest::READABLE)
        {
            *self = Self::Watched(watched);
        }
        if let Self::Watched(watched) = self {
            while let Ok(mut ready) = watched.ready(Interest::READABLE).await {
                if ready.ready().is_read_closed() {
                    return;
                }
                // Only data arrived, which is read later.
                ready.clear_ready();
            }
        }
        std::future::pending().await
    }
}

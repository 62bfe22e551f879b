//! The address of the server: a port of the loopback interface and a token.

use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;

use crate::{FIRST_PORT, MORE_PORTS};

/// The bytes of a token.
const TOKEN_BYTES: usize = 32;

/// Where a server answers, and whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The port of 127.0.0.1.
    pub port: u16,
    /// What requests for data must present: 64 hexadecimal digits.
    pub token: String,
}

impl Address {
    /// The address to open in a browser. The token is in the fragment, which browsers do not send.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.token)
    }
}

/// Listens on a port, or on the first free one.
pub async fn bind(port: Option<u16>) -> io::Result<(TcpListener, Address)> {
    let ports = port.map_or(FIRST_PORT..=FIRST_PORT + MORE_PORTS, |port| port..=port);
    let mut failure = io::Error::from(io::ErrorKind::AddrInUse);
    for port in ports {
        match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await {
            Ok(listener) => {
                let port = listener.local_addr()?.port();
                return Ok((listener, Address { port, token: token()? }));
            }
            Err(e) => failure = e,
        }
    }
    Err(failure)
}

fn token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut text = String::with_capacity(2 * TOKEN_BYTES);
    for byte in bytes {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

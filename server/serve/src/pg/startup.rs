//! The start of a connection: TLS, the user and the password.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf, BufMut};
use pgwire::messages::PgWireFrontendMessage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use super::Pg;
use super::client::Client;
use super::peer::Peer;
use super::reply::{self, Severity};
use super::scram::{Exchange, MECHANISM};
use super::start_settings;
use super::variables::Variables;
use super::wire::{Closed, Io, MAX_STARTUP_BYTES, Wire, text, violation};
use crate::failure::{Failure, code};
use crate::log;

/// Requests about encryption before the startup message: TLS and GSSAPI.
const MAX_REQUESTS: usize = 2;
const TLS_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
/// The first byte of TLS without a request before it.
const TLS_HANDSHAKE: u8 = 0x16;

/// Finds out who a client is. `None` if the connection ends with it: the client asked to cancel a
/// statement, was refused, or took too long.
pub async fn greet(
    pg: Arc<Pg>,
    socket: TcpStream,
    peer: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
) -> Option<Client> {
    let (limit, stop) = (pg.server.limits().startup, pg.server.stop().clone());
    let greeting = async {
        let start = negotiate(&pg, socket, tls).await.ok()??;
        let mut wire = start.wire;
        match admit(&pg, &mut wire, start.is_secure, start.parameters, peer).await {
            Ok(client) => Some((wire, client)),
            Err(closed) => {
                if let Closed::Violation(failure) = closed {
                    log::line(&format!(
                        "pg refused from={peer} outcome={}: {failure}",
                        failure.code
                    ));
                    reply::error(&mut wire, &failure, Severity::Fatal, 0);
                    let _ = wire.flush().await;
                    wire.close().await;
                }
                None
            }
        }
    };
    let (wire, admitted) = tokio::select! {
        greeted = tokio::time::timeout(limit, greeting) => greeted.ok()??,
        () = stop.cancelled() => return None,
    };
    Some(Client::new(pg, wire, admitted))
}

/// A client that was let in.
pub struct Admitted {
    pub session: Arc<crate::Session>,
    pub key: (i32, i32),
    pub variables: Variables,
    /// The settings of views that it sent.
    pub of_views: Vec<(String, String)>,
}

/// A connection with its startup message.
struct Start {
    wire: Wire,
    is_secure: bool,
    parameters: BTreeMap<String, String>,
}

/// Sets up TLS if the client asks for it, and reads the startup message.
async fn negotiate(
    pg: &Pg,
    socket: TcpStream,
    tls: Option<Arc<ServerConfig>>,
) -> Result<Option<Start>, Closed> {
    let mut is_secure = false;
    let peer = Peer::of(&socket)?;
    let mut first = [0];
    let mut stream: Box<dyn Io> = match (socket.peek(&mut first).await?, &tls) {
        (0, _) => return Ok(None),
        (_, Some(config)) if first[0] == TLS_HANDSHAKE => {
            is_secure = true;
            let stream = TlsAcceptor::from(config.clone()).accept(socket).await?;
            if stream.get_ref().1.alpn_protocol() != Some(b"postgresql") {
                return Ok(None);
            }
            Box::new(stream)
        }
        _ => Box::new(socket),
    };
    for _ in 0..=MAX_REQUESTS {
        let length = stream.read_u32().await? as usize;
        let request = stream.read_u32().await?;
        let rest = length.checked_sub(8).filter(|_| length <= MAX_STARTUP_BYTES);
        let Some(rest) = rest else { return Ok(None) };
        match request {
            // Exactly the request was read, so nothing that was sent before TLS is taken for a
            // message within it.
            TLS_REQUEST if !is_secure => match &tls {
                Some(config) => {
                    stream.write_all(b"S").await?;
                    stream.flush().await?;
                    stream = Box::new(TlsAcceptor::from(config.clone()).accept(stream).await?);
                    is_secure = true;
                }
                None => stream.write_all(b"N").await?,
            },
            TLS_REQUEST | GSS_REQUEST => stream.write_all(b"N").await?,
            CANCEL_REQUEST if rest == 8 => {
                let key = (stream.read_i32().await?, stream.read_i32().await?);
                pg.cancel(key);
                return Ok(None);
            }
            version => {
                let mut body = vec![0; rest];
                stream.read_exact(&mut body).await?;
                let mut wire = Wire::new(stream, peer, pg.server.limits().timeout);
                return match start(&mut wire, version, &body) {
                    Some(parameters) => Ok(Some(Start { wire, is_secure, parameters })),
                    None => {
                        let text =
                            format!("unsupported protocol {}.{}", version >> 16, version & 0xffff);
                        let failure = Failure::new(code::FEATURE_NOT_SUPPORTED, text);
                        reply::error(&mut wire, &failure, Severity::Fatal, 0);
                        wire.flush().await?;
                        wire.close().await;
                        Ok(None)
                    }
                };
            }
        }
        stream.flush().await?;
    }
    Ok(None)
}

/// The parameters of a startup message. `None` if the protocol has another version.
fn start(wire: &mut Wire, version: u32, body: &[u8]) -> Option<BTreeMap<String, String>> {
    let (major, minor) = (version >> 16, version & 0xffff);
    if major != 3 {
        return None;
    }
    let mut texts = body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut parameters = BTreeMap::new();
    while let Some(name) = texts.next().filter(|name| !name.is_empty()) {
        parameters.insert(name.into_owned(), texts.next().unwrap_or_default().into_owned());
    }
    let unknown: Vec<String> =
        parameters.keys().filter(|name| name.starts_with("_pq_.")).cloned().collect();
    if minor > 0 || !unknown.is_empty() {
        wire.put(b'v', |out| {
            out.put_u32(3 << 16);
            out.put_u32(unknown.len() as u32);
            unknown.iter().for_each(|name| text(out, name));
        });
    }
    Some(parameters)
}

/// Checks the password and opens a session.
async fn admit(
    pg: &Arc<Pg>,
    wire: &mut Wire,
    is_secure: bool,
    parameters: BTreeMap<String, String>,
    peer: SocketAddr,
) -> Result<Admitted, Closed> {
    let refused = |code, text: &str| Closed::Violation(Failure::new(code, text));
    let user = parameters.get("user").filter(|user| !user.is_empty()).cloned();
    let user = user.ok_or_else(|| refused(code::INVALID_AUTHORIZATION, "no user was named"))?;
    if pg.server.config().tls.is_some() && !is_secure {
        let text = "this server takes connections with TLS only; connect with sslmode=require";
        return Err(refused(code::INVALID_AUTHORIZATION, text));
    }
    if parameters.get("replication").is_some_and(|value| !matches!(value.as_str(), "false" | "0")) {
        return Err(refused(code::FEATURE_NOT_SUPPORTED, "there is no replication"));
    }
    let mut name = "";
    if let Some(users) = &pg.server.config().users {
        prove(wire, users.verifier(&user), &user).await?;
        name = &user;
    }
    let session = pg.server.session("pg", name, &peer.to_string()).map_err(Closed::Violation)?;
    let session = Arc::new(session);
    let mut variables = Variables::new(&user, is_secure);
    let of_views = start_settings::apply(&mut variables, &parameters).map_err(Closed::Violation)?;
    let key = pg.register(&session);
    wire.put(b'R', |out| out.put_u32(0));
    wire.admit();
    Ok(Admitted { session, key, variables, of_views })
}

/// Has the client prove that it knows the password.
async fn prove(wire: &mut Wire, verifier: crate::Verifier, user: &str) -> Result<(), Closed> {
    wire.put(b'R', |out| {
        out.put_u32(10);
        text(out, MECHANISM);
        out.put_u8(0);
    });
    wire.flush().await?;
    let first = password(wire).await?;
    let end = first.iter().position(|byte| *byte == 0);
    let (mechanism, mut rest) =
        end.map(|end| first.split_at(end)).ok_or_else(|| violation("a malformed password"))?;
    if mechanism != MECHANISM.as_bytes() || rest.len() < 5 {
        return Err(violation(format!("the password must be sent by {MECHANISM}")));
    }
    rest.advance(1);
    let length = rest.get_i32();
    let first = rest.get(..length.max(0) as usize).unwrap_or_default();
    let (exchange, answer) = Exchange::begin(verifier, first).map_err(Closed::Violation)?;
    wire.put(b'R', |out| {
        out.put_u32(11);
        out.put_slice(answer.as_bytes());
    });
    wire.flush().await?;
    let last = password(wire).await?;
    let proof = exchange.finish(&last, user).map_err(Closed::Violation)?;
    wire.put(b'R', |out| {
        out.put_u32(12);
        out.put_slice(proof.as_bytes());
    });
    Ok(())
}

/// The body of the next message about the password.
async fn password(wire: &mut Wire) -> Result<Vec<u8>, Closed> {
    use pgwire::messages::startup::PasswordMessageFamily::Raw;
    match wire.receive().await? {
        PgWireFrontendMessage::PasswordMessageFamily(Raw(body)) => Ok(body.to_vec()),
        PgWireFrontendMessage::Terminate(_) => Err(Closed::Lost),
        _ => Err(violation("a password was expected")),
    }
}

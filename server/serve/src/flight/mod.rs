//! Arrow Flight SQL.
//!
//! A client asks for a statement to be started (`GetFlightInfo`), and reads its rows with the
//! handle that it gets (`DoGet`). [`service`] receives the requests, [`sizes`] limits their
//! messages. [`sessions`] finds the user and the session of a request, [`statements`] starts and
//! prepares statements, [`bound`] reads the values of their parameters, [`handles`] keeps them until
//! they are read, [`rows`] turns batches into messages, and [`metadata`] and [`info`] describe the
//! store and the server.

mod actions;
mod answers;
mod bound;
mod connection;
mod handles;
mod info;
mod metadata;
mod parameters;
mod rows;
mod service;
mod sessions;
mod sizes;
mod statements;
mod status;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tonic::transport::Server as Http;
use tracesql::{Error, Result};

use crate::Server;
use service::Service;
use sessions::Sessions;
use sizes::Limited;
use statements::Statements;

/// The pause between two looks for results that are not read.
const SWEEP: Duration = Duration::from_secs(5);
/// The pause between pings to a silent client, and the time that it has to answer.
const PING: Duration = Duration::from_secs(20);
/// The maximum number of requests of one connection at a time.
const MAX_REQUESTS: u32 = 64;
/// The maximum size of the headers of a request, in bytes.
const MAX_HEADERS: u32 = 16 << 10;

/// Serves clients until the server stops.
pub async fn serve(server: Arc<Server>, listener: TcpListener) -> Result<()> {
    let failed = |e: &dyn std::fmt::Display| Error::Query(format!("Flight SQL: {e}"));
    let tls = match &server.config().tls {
        Some(tls) => Some(TlsAcceptor::from(tls.config(&[b"h2"])?)),
        None => None,
    };
    // Sessions are counted when their user is known. Before that, a connection costs a socket.
    let sockets = Arc::new(Semaphore::new(4 * server.limits().max_connections));
    let admit = move |_| sockets.clone().try_acquire_owned().ok();
    let stop = server.stop().clone();
    let incoming =
        connection::incoming(listener, tls, admit, server.limits().startup, stop.clone());
    let statements = Arc::new(Statements::default());
    let sessions = Arc::new(Sessions::new(server.clone(), statements.clone()));
    let sweeping = sweep(sessions.clone(), statements.clone());
    let service = Service::new(&server, sessions.clone(), statements);
    let service = Limited::new(service.map_err(|e| failed(&e.message()))?, sessions);
    let serving = Http::builder()
        .http2_keepalive_interval(Some(PING))
        .http2_keepalive_timeout(Some(PING))
        .max_concurrent_streams(MAX_REQUESTS)
        .http2_max_header_list_size(MAX_HEADERS)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, stop.cancelled_owned());
    tokio::select! {
        served = serving => served.map_err(|e| failed(&e)),
        () = sweeping => Ok(()),
    }
}

/// Drops expired results and statements until the server ends.
async fn sweep(sessions: Arc<Sessions>, statements: Arc<Statements>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        sessions.drop_expired();
        statements.drop_expired();
    }
}

//! The protocol of PostgreSQL, version 3.
//!
//! `startup` finds out who a client is, `client` and `extended` answer its messages. `command`
//! decides what answers a statement: the engine, the catalogue, or the connection itself.

mod catalogue;
mod client;
mod command;
mod connection;
mod copy;
mod cursor;
mod encode;
mod extended;
mod kept;
mod numeric;
mod parameters;
mod peer;
mod portal;
mod reply;
mod scram;
mod shape;
mod start_settings;
mod startup;
mod types;
mod variables;
mod wire;
mod zone;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;
use tracesql::Result;

use crate::log;
use crate::server::Server;
use crate::session::Session;
use catalogue::Catalogue;
use connection::columns as connection_columns;

/// The connections whose user is not known yet, in addition to those that are allowed.
const MAX_STARTING: usize = 64;
/// How long to wait if the process has no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// The time without messages after which the other machine is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// What the connections of this protocol share.
pub struct Pg {
    server: Arc<Server>,
    /// Sessions by the keys with which their statements are cancelled.
    sessions: Mutex<HashMap<(i32, i32), Weak<Session>>>,
    /// The catalogue, once a client asks for it.
    catalogue: OnceCell<Arc<Catalogue>>,
}

impl Pg {
    /// Makes the key of a session.
    fn register(&self, session: &Arc<Session>) -> (i32, i32) {
        let mut sessions = self.sessions.lock();
        loop {
            let key = (rand::random::<i32>() & i32::MAX, rand::random::<i32>());
            if let Entry::Vacant(place) = sessions.entry(key) {
                place.insert(Arc::downgrade(session));
                return key;
            }
        }
    }

    fn forget(&self, key: (i32, i32)) {
        self.sessions.lock().remove(&key);
    }

    /// Cancels the statements of the session with a key.
    fn cancel(&self, key: (i32, i32)) {
        let session = self.sessions.lock().get(&key).and_then(Weak::upgrade);
        if let Some(session) = session {
            session.cancel();
        }
    }
}

/// Serves clients of PostgreSQL until the server stops.
pub async fn serve(server: Arc<Server>, listener: TcpListener) -> Result<()> {
    let most = server.limits().max_connections + MAX_STARTING;
    let sockets = Arc::new(Semaphore::new(most));
    let tls = server.config().tls.as_ref().map(|tls| tls.config(&[b"postgresql"])).transpose()?;
    let stop = server.stop().clone();
    let pg = Arc::new(Pg { server, sessions: Mutex::default(), catalogue: OnceCell::new() });
    let mut clients = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = clients.join_next() => continue,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(e) => {
                log::line(&format!("pg cannot take a connection: {e}"));
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Beyond this the socket is closed without a word, so that a flood costs nothing.
        let Ok(permit) = sockets.clone().try_acquire_owned() else { continue };
        prepare(&socket);
        let (pg, tls) = (pg.clone(), tls.clone());
        clients.spawn(async move {
            let _permit = permit;
            if let Some(client) = startup::greet(pg, socket, peer, tls).await {
                client.serve().await;
            }
        });
    }
    while clients.join_next().await.is_some() {}
    Ok(())
}

fn prepare(socket: &TcpStream) {
    let _ = socket.set_nodelay(true);
    let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
    let _ = socket2::SockRef::from(socket).set_tcp_keepalive(&keepalive);
}

//! Who sends a request: the user, and the session of the connection.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};

use super::connection::Client;
use super::status;
use super::tokens::{Credentials, Tokens};
use crate::{Server, Session, log};

/// The pause before a wrong password is answered, so that guessing is slow.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(300);
/// The maximum number of users of one connection. Only a proxy has more than one.
const MAX_USERS: usize = 8;

/// The sender of a request.
pub struct Caller {
    /// The name; empty if the server has no users.
    pub user: String,
    /// The session of this user on this connection.
    pub session: Arc<Session>,
}

/// The sessions of all connections. A session ends with its connection.
pub struct Sessions {
    server: Arc<Server>,
    tokens: Tokens,
    by_connection: Arc<Mutex<HashMap<u64, Vec<Arc<Session>>>>>,
}

impl Sessions {
    /// No sessions yet.
    pub fn new(server: Arc<Server>) -> Self {
        let tokens = Tokens::new(server.limits().token);
        Self { server, tokens, by_connection: Arc::default() }
    }

    /// Checks a password and returns a new token. A server without users accepts everybody.
    pub async fn log_in(
        &self,
        credentials: Credentials,
        extensions: &Extensions,
    ) -> Result<String, Status> {
        let client = client(extensions)?;
        let user = match credentials {
            Credentials::Password(user, password) => self.checked(user, password, client).await?,
            Credentials::Token(token) => self.tokens.user(&token)?,
            Credentials::Nothing if self.server.config().users.is_some() => {
                return Err(Status::unauthenticated("a user and a password are needed"));
            }
            Credentials::Nothing => String::new(),
        };
        client.set_known();
        Ok(self.tokens.give(&user))
    }

    /// The sender of a request. With users, a token or a password is needed.
    pub async fn caller(
        &self,
        headers: &MetadataMap,
        extensions: &Extensions,
    ) -> Result<Caller, Status> {
        let client = client(extensions)?;
        let credentials = Credentials::of_headers(headers)?;
        let user = match (&self.server.config().users, credentials) {
            (None, _) => String::new(),
            (Some(_), Credentials::Token(token)) => self.tokens.user(&token)?,
            (Some(_), Credentials::Password(user, password)) => {
                self.checked(user, password, client).await?
            }
            (Some(_), Credentials::Nothing) => {
                return Err(Status::unauthenticated(
                    "the request has no token; log in with a user and a password",
                ));
            }
        };
        client.set_known();
        let session = self.session(&user, client)?;
        Ok(Caller { user, session })
    }

    async fn checked(
        &self,
        user: String,
        password: String,
        client: &Client,
    ) -> Result<String, Status> {
        let Some(users) = self.server.config().users.clone() else { return Ok(String::new()) };
        let checking = tokio::task::spawn_blocking(move || {
            let is_right = users.check(&user, &password);
            (user, is_right)
        });
        match checking.await {
            Ok((user, true)) => Ok(user),
            Ok((user, false)) => {
                log::line(&format!("flight: wrong password of {user:?} from {}", client.peer));
                tokio::time::sleep(PAUSE).await;
                Err(Status::unauthenticated("the user or the password is wrong"))
            }
            Err(_) => Err(Status::internal("the password could not be checked")),
        }
    }

    /// The session of a user on a connection, which is made by the first request.
    fn session(&self, user: &str, client: &Client) -> Result<Arc<Session>, Status> {
        let mut all = self.by_connection.lock();
        let of_connection = all.entry(client.id).or_insert_with(|| {
            let (closed, all, id) = (client.closed.clone(), self.by_connection.clone(), client.id);
            tokio::spawn(async move {
                closed.cancelled().await;
                all.lock().remove(&id);
            });
            Vec::new()
        });
        if let Some(session) = of_connection.iter().find(|session| session.user() == user) {
            return Ok(session.clone());
        }
        if of_connection.len() >= MAX_USERS {
            return Err(Status::resource_exhausted(format!(
                "this connection has {MAX_USERS} users already; open another one"
            )));
        }
        let session = self.server.session("flight", user, &client.peer.to_string());
        let session = Arc::new(session.map_err(|failure| status::of(&failure))?);
        of_connection.push(session.clone());
        Ok(session)
    }

    /// Ends the session of a user on this connection, and the token of the request.
    pub fn close(&self, headers: &MetadataMap, extensions: &Extensions) -> Result<(), Status> {
        if let Credentials::Token(token) = Credentials::of_headers(headers)? {
            self.tokens.end(&token);
        }
        self.by_connection.lock().remove(&client(extensions)?.id);
        Ok(())
    }

    /// Forgets tokens that ended.
    pub fn drop_expired(&self) {
        self.tokens.drop_expired();
    }
}

fn client(extensions: &Extensions) -> Result<&Client, Status> {
    extensions.get().ok_or_else(|| Status::internal("the request has no connection"))
}

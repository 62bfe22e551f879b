//! Who sends a request: the user, and the session of the connection.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tonic::codegen::http::HeaderMap;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};

use super::connection::Client;
use super::handles::Owner;
use super::statements::Statements;
use super::status;
use super::tokens::{Credentials, Tokens};
use crate::{Server, Session, log};

/// The pause before a wrong password is answered, so that guessing is slow.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(300);
/// Passwords that are checked at a time. A check is slow on purpose, and any client can ask for one.
const MAX_CHECKS: usize = 4;
/// The maximum length of the name of a user in bytes.
const MAX_NAME: usize = 256;
/// The maximum number of users of one connection. Only a proxy has more than one.
const MAX_USERS: usize = 8;

/// The sender of a request.
pub struct Caller {
    /// The user and the connection, to which handles belong.
    pub owner: Owner,
    /// The session of this user on this connection.
    pub session: Arc<Session>,
}

/// The sessions of all connections. A session ends with its connection.
pub struct Sessions {
    server: Arc<Server>,
    tokens: Tokens,
    checks: Semaphore,
    by_connection: Arc<Mutex<HashMap<u64, Vec<Arc<Session>>>>>,
    /// What they started and prepared.
    statements: Arc<Statements>,
}

impl Sessions {
    /// No sessions yet.
    pub fn new(server: Arc<Server>, statements: Arc<Statements>) -> Self {
        let tokens = Tokens::new(server.limits().token);
        let checks = Semaphore::new(MAX_CHECKS);
        Self { server, tokens, checks, by_connection: Arc::default(), statements }
    }

    /// Checks a password and returns a new token. A valid token is returned as it is, so that it
    /// ends when its time is over. A server without users accepts any client.
    pub async fn log_in(
        &self,
        credentials: Credentials,
        extensions: &Extensions,
    ) -> Result<String, Status> {
        let client = client(extensions)?;
        let user = match credentials {
            Credentials::Password(user, password) => self.checked(user, password, client).await?,
            Credentials::Token(token) => {
                if self.server.config().users.is_some() {
                    self.tokens.user(&token)?;
                }
                client.set_known();
                return Ok(token);
            }
            Credentials::Nothing if self.server.config().users.is_some() => {
                return Err(Status::unauthenticated("a user and a password are needed"));
            }
            Credentials::Nothing => String::new(),
        };
        client.set_known();
        Ok(self.tokens.give(&user))
    }

    /// Whether a request comes from a client that logged in. Its password, if it carries one, is not
    /// checked for that.
    pub fn knows(&self, headers: &HeaderMap, extensions: &Extensions) -> bool {
        let has_token =
            || match Credentials::of_headers(&MetadataMap::from_headers(headers.clone())) {
                Ok(Credentials::Token(token)) => self.tokens.user(&token).is_ok(),
                _ => false,
            };
        self.server.config().users.is_none()
            || client(extensions).is_ok_and(Client::is_known)
            || has_token()
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
        Ok(Caller { owner: Owner::new(user, client), session })
    }

    async fn checked(
        &self,
        user: String,
        password: String,
        client: &Client,
    ) -> Result<String, Status> {
        let Some(users) = self.server.config().users.clone() else { return Ok(String::new()) };
        if user.len() > MAX_NAME {
            return Err(Status::unauthenticated(format!(
                "the name of a user has at most {MAX_NAME} bytes"
            )));
        }
        let turn = self.checks.acquire().await;
        let checking = tokio::task::spawn_blocking(move || {
            let is_right = users.check(&user, &password);
            (user, is_right)
        });
        let checked = checking.await;
        drop(turn);
        match checked {
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
            let statements = self.statements.clone();
            tokio::spawn(async move {
                closed.cancelled().await;
                all.lock().remove(&id);
                statements.drop_closed();
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

    /// Ends the session of a caller, and the token of the request. Other users of the connection
    /// keep theirs.
    pub fn close(&self, caller: &Caller, headers: &MetadataMap) -> Result<(), Status> {
        if let Credentials::Token(token) = Credentials::of_headers(headers)? {
            self.tokens.end(&token);
        }
        // The entry of the connection stays: something waits for the end of the connection with it.
        if let Some(sessions) = self.by_connection.lock().get_mut(&caller.owner.connection()) {
            sessions.retain(|session| session.user() != caller.owner.user());
        }
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

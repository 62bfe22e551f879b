//! A connection: its user, its engine and its running statements.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::datatypes::DataType;
use datafusion::execution::SendableRecordBatchStream;
use parking_lot::Mutex;
use tokio::sync::{OnceCell, OwnedSemaphorePermit};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracesql::Error;
use tracesql::engine::Engine;

use crate::failure::{Failure, code};
use crate::query::{self, Described, Query};
use crate::rows::{self, Bounds, Logged, Rows};
use crate::server::Server;

/// A connection to a [`Server`]. Its engine is opened by its first statement, and sees the traces
/// that the store contains then.
pub struct Session {
    server: Arc<Server>,
    protocol: &'static str,
    user: String,
    peer: String,
    engine: Arc<OnceCell<Arc<Engine>>>,
    /// Cancels the statements that run now.
    running: Mutex<CancellationToken>,
    /// Counts the connection as long as it lives.
    _permit: OwnedSemaphorePermit,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("user", &self.user).field("peer", &self.peer).finish()
    }
}

impl Session {
    pub(crate) fn new(
        server: Arc<Server>,
        protocol: &'static str,
        user: &str,
        peer: &str,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            server,
            protocol,
            user: user.to_owned(),
            peer: peer.to_owned(),
            engine: Arc::default(),
            running: Mutex::default(),
            _permit: permit,
        }
    }

    /// The user; empty if the server has no users.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The engine of the connection. The schema `main` is also called `public`, as in PostgreSQL.
    /// Opening it has the time of a statement.
    pub async fn engine(&self) -> Result<Arc<Engine>, Failure> {
        let bounds = self.bounds(None);
        tokio::select! {
            biased;
            engine = self.opened() => engine,
            failure = bounds.end() => Err(failure),
        }
    }

    /// Waits for the engine without a limit. A task opens it, which goes on if nothing waits for it
    /// any more: the next statement finds the engine, or waits for the same task.
    async fn opened(&self) -> Result<Arc<Engine>, Failure> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine.clone());
        }
        let (engine, server) = (self.engine.clone(), self.server.clone());
        let opening = self.server.threads().spawn(async move {
            let open = || async { server.open_engine().await.map(Arc::new) };
            engine.get_or_try_init(open).await.cloned()
        });
        opening.await.unwrap_or(Err(Failure::crashed()))
    }

    /// Plans a statement without running it, within the limits of a statement. `given` are types of
    /// parameters that the client knows, by name. A failure is written to the log.
    pub async fn describe(
        &self,
        sql: &str,
        given: Vec<(String, DataType)>,
    ) -> Result<Described, Failure> {
        let logged = self.logged(sql);
        let described = async {
            self.check_length(sql)?;
            let text = sql.to_owned();
            self.planned(None, |engine| async move {
                match query::describe(&engine, &text, &given).await {
                    Ok(described) => described,
                    Err(error) => Err(Failure::explained(error, &text, engine).await),
                }
            })
            .await
        };
        described.await.inspect_err(|failure| logged.write(0, failure.code))
    }

    /// Does work with the engine that is not a statement, such as planning, with the limits of one:
    /// it waits for its turn, and ends at the time limit, when it is cancelled, or when the future is
    /// dropped.
    pub async fn planned<T, F>(
        &self,
        limit: Option<Duration>,
        work: impl FnOnce(Arc<Engine>) -> F + Send,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let bounds = self.bounds(limit);
        let done = async {
            let permit = self.server.query_permit().await?;
            let work = work(self.opened().await?);
            // A set stops its tasks when it is dropped. The turn lasts until the task has ended.
            let mut tasks = JoinSet::new();
            let task = async move {
                let _permit = permit;
                work.await
            };
            tasks.spawn_on(task, self.server.threads());
            match tasks.join_next().await {
                Some(Ok(done)) => done,
                _ => Err(Failure::crashed()),
            }
        };
        tokio::select! {
            biased;
            failure = bounds.end() => Err(failure),
            done = done => done,
        }
    }

    /// Starts a statement. Its time begins now: waiting for other statements, planning and reading
    /// the rows are part of it.
    pub async fn query(&self, query: Query) -> Result<Rows, Failure> {
        let bounds = self.bounds(query.limit);
        let logged = self.logged(&query.sql);
        let prepared = async {
            self.check_length(&query.sql)?;
            let turn = async { Ok((self.server.query_permit().await?, self.opened().await?)) };
            tokio::select! {
                turn = turn => turn,
                failure = bounds.end() => Err(failure),
            }
        };
        let (permit, engine) = match prepared.await {
            Ok(prepared) => prepared,
            Err(failure) => {
                logged.write(0, failure.code);
                return Err(failure);
            }
        };
        let planning = rows::plan(engine, query);
        rows::start(planning, bounds, permit, logged, self.server.threads()).await
    }

    /// Starts a statement that something else than the engine plans, within the same limits.
    pub async fn run(
        &self,
        sql: &str,
        limit: Option<Duration>,
        planning: impl Future<Output = Result<SendableRecordBatchStream, Failure>> + Send + 'static,
    ) -> Result<Rows, Failure> {
        let bounds = self.bounds(limit);
        let logged = self.logged(sql);
        let permit = tokio::select! {
            permit = self.server.query_permit() => permit,
            failure = bounds.end() => Err(failure),
        };
        match permit {
            Ok(permit) => {
                rows::start(planning, bounds, permit, logged, self.server.threads()).await
            }
            Err(failure) => {
                logged.write(0, failure.code);
                Err(failure)
            }
        }
    }

    /// Stops the statements that run now. Later ones run.
    pub fn cancel(&self) {
        std::mem::take(&mut *self.running.lock()).cancel();
    }

    /// When a statement that starts now must end.
    pub fn bounds(&self, limit: Option<Duration>) -> Bounds {
        let most = self.server.limits().timeout;
        let limit = limit.map_or(most, |limit| limit.min(most));
        let cancelled = self.running.lock().clone();
        Bounds { cancelled, deadline: Instant::now() + limit, limit }
    }

    /// What the log shows of a statement that starts now.
    pub fn logged(&self, sql: &str) -> Logged {
        Logged {
            protocol: self.protocol,
            user: self.user.clone(),
            peer: self.peer.clone(),
            sql: sql.to_owned(),
            since: Instant::now(),
        }
    }

    /// Fails if a text is longer than the server reads.
    pub fn check_length(&self, sql: &str) -> Result<(), Failure> {
        let most = self.server.limits().statement_bytes;
        if sql.len() <= most {
            return Ok(());
        }
        let message = format!(
            "the statement has {} bytes; this server reads statements of up to {most} bytes",
            sql.len()
        );
        Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, message)
            .with_hint("pass long lists as parameters"))
    }

    /// Changes a setting of the library for this connection; `None` resets it.
    pub async fn set(&self, name: &str, value: Option<&str>) -> Result<(), Failure> {
        let engine = self.engine().await?;
        let settings = engine.settings();
        let refused = |text| Failure::new(code::INVALID_PARAMETER_VALUE, text);
        let known = match value {
            Some(value) => match settings.type_error(name, value) {
                Some(error) => return Err(refused(error)),
                None => settings.set(name, value),
            },
            None => settings.reset(name),
        };
        match known {
            true => Ok(()),
            false => {
                let unknown = Error::Usage(settings.unknown(name)).to_string();
                Err(Failure::new(code::UNDEFINED_OBJECT, unknown))
            }
        }
    }
}

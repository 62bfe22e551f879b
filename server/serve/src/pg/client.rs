//! A client whose user is known: answers its messages until it leaves.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use pgwire::messages::PgWireFrontendMessage as Message;
use tokio::time::Instant;

use super::Pg;
use super::command::{self, Command, Verb};
use super::cursor::Fetch;
use super::kept::Views;
use super::portal::{Portal, Prepared, Running, Sent};
use super::reply::{self, Severity, Transaction};
use super::startup::Admitted;
use super::types;
use super::variables::Variables;
use super::wire::{Closed, Wire};
use crate::failure::{Failure, code};
use crate::log;
use crate::query::Query;
use crate::rows::Logged;
use crate::session::Session;

/// A client.
pub struct Client {
    pub(super) pg: Arc<Pg>,
    pub(super) session: Arc<Session>,
    pub(super) variables: Variables,
    pub(super) transaction: Transaction,
    pub(super) statements: HashMap<String, Prepared>,
    pub(super) portals: HashMap<String, Portal>,
    pub(super) wire: Wire,
    /// The views that the connection made.
    pub(super) views: Views,
    /// The statement that a message is about, for the log.
    pub(super) about: Arc<str>,
    key: (i32, i32),
    /// After an error, messages are skipped until the client synchronises.
    skips: bool,
}

/// Why an answer ended: the statement failed, or the connection did.
pub enum Stop {
    /// The log does not show it yet.
    Failed(Failure),
    /// The statement wrote its end to the log itself.
    Logged(Failure),
    Closed(Closed),
}

impl Stop {
    /// Changes the failure.
    pub fn map(self, change: impl FnOnce(Failure) -> Failure) -> Self {
        match self {
            Self::Failed(failure) => Self::Failed(change(failure)),
            Self::Logged(failure) => Self::Logged(change(failure)),
            Self::Closed(closed) => Self::Closed(closed),
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Closed> for Stop {
    fn from(closed: Closed) -> Self {
        Self::Closed(closed)
    }
}

/// How a statement is answered.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is moved once")]
pub enum Answer {
    /// With a tag.
    Tag(String),
    /// With rows.
    Rows(Running),
    /// With rows of a cursor.
    Fetch(Fetch),
    /// With nothing, because the text is empty.
    Empty,
}

impl Client {
    /// A client that was let in.
    pub fn new(pg: Arc<Pg>, wire: Wire, admitted: Admitted) -> Self {
        Self {
            pg,
            session: admitted.session,
            variables: admitted.variables,
            transaction: Transaction::Idle,
            statements: HashMap::new(),
            portals: HashMap::new(),
            wire,
            views: Views::default(),
            about: Arc::default(),
            key: admitted.key,
            skips: false,
        }
    }

    /// The number of the connection.
    pub(super) fn pid(&self) -> i32 {
        self.key.0
    }

    /// Answers messages until the client leaves or the server stops.
    pub async fn serve(mut self) {
        let stop = self.pg.server.stop().clone();
        let end = loop {
            let message = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    let text = "terminating connection: the server stops";
                    break Closed::Violation(Failure::new(code::ADMIN_SHUTDOWN, text));
                }
                message = self.wire.receive() => message,
            };
            let answered = match message {
                Ok(message) => self.answer(message).await,
                Err(closed) => Err(closed),
            };
            if let Err(closed) = answered {
                break closed;
            }
        };
        self.pg.forget(self.key);
        self.portals.clear();
        if let Closed::Violation(failure) = end {
            log::line(&format!("pg ended user={:?} outcome={}", self.session.user(), failure.code));
            reply::error(&mut self.wire, &failure, Severity::Fatal, 0);
            let _ = self.wire.flush().await;
        }
        self.wire.close().await;
    }

    async fn answer(&mut self, message: Message) -> Result<(), Closed> {
        let since = Instant::now();
        self.about = Arc::default();
        let answered = match message {
            Message::Terminate(_) => return Err(Closed::Lost),
            Message::Sync(_) => {
                self.skips = false;
                if self.transaction == Transaction::Idle {
                    self.end_portals();
                }
                reply::ready(&mut self.wire, self.transaction);
                return self.wire.flush().await;
            }
            Message::Query(query) => {
                self.skips = false;
                self.portals.remove("");
                self.simple(&query.query).await?;
                reply::ready(&mut self.wire, self.transaction);
                return self.wire.flush().await;
            }
            Message::Flush(_) => return self.wire.flush().await,
            _ if self.skips => return Ok(()),
            Message::Parse(parse) => self.parse(parse).await,
            Message::Bind(bind) => self.bind(bind).await,
            Message::Describe(describe) => self.describe(describe).await,
            Message::Execute(execute) => self.execute(execute).await,
            Message::Close(close) => {
                self.close(&close);
                Ok(())
            }
            // The rest of a COPY that was refused.
            Message::CopyData(_) | Message::CopyDone(_) | Message::CopyFail(_) => return Ok(()),
            _ => return Err(super::wire::violation("unexpected message")),
        };
        let Err(stop) = answered else { return Ok(()) };
        let about = self.about.clone();
        self.fail(stop, 0, &about, since)?;
        self.skips = true;
        // Clients that wait for an answer before they synchronise learn of the error now.
        self.wire.flush().await
    }

    /// Reports that a statement failed, unless the connection did.
    fn fail(&mut self, stop: Stop, offset: usize, sql: &str, since: Instant) -> Result<(), Closed> {
        let failure = match stop {
            Stop::Closed(closed) => return Err(closed),
            Stop::Logged(failure) => failure,
            Stop::Failed(failure) => {
                let logged = self.session.logged(sql);
                Logged { since, ..logged }.write(0, failure.code);
                failure
            }
        };
        self.error(&failure, offset);
        Ok(())
    }

    fn error(&mut self, failure: &Failure, offset: usize) {
        reply::error(&mut self.wire, failure, Severity::Error, offset);
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    /// A text with any number of statements. The first error ends it.
    async fn simple(&mut self, text: &str) -> Result<(), Closed> {
        let statements = match self.session.check_length(text) {
            Ok(()) => command::statements(text),
            Err(failure) => return self.fail(failure.into(), 0, text, Instant::now()),
        };
        if statements.is_empty() {
            reply::plain(&mut self.wire, b'I');
        }
        for (start, sql) in statements {
            let since = Instant::now();
            if let Err(stop) = self.statement(sql).await {
                let offset = text.get(..start).map_or(0, |before| before.chars().count());
                return self.fail(stop, offset, sql, since);
            }
        }
        Ok(())
    }

    async fn statement(&mut self, sql: &str) -> Result<(), Stop> {
        let answer = self.start(sql, &command::of(sql), Vec::new(), &[]).await?;
        match answer {
            Answer::Empty => reply::plain(&mut self.wire, b'I'),
            Answer::Tag(tag) => reply::complete(&mut self.wire, &tag),
            Answer::Rows(mut running) => {
                if !running.is_copy() {
                    reply::columns(&mut self.wire, &running.columns);
                }
                match running.send(&mut self.wire, None).await? {
                    Sent::All(rows) | Sent::Part(rows) => {
                        reply::complete(&mut self.wire, &running.tag(rows));
                    }
                    Sent::Failed(failure) => return Err(Stop::Logged(failure)),
                }
            }
            Answer::Fetch(fetch) => self.fetch(&fetch, &[], true).await?,
        }
        Ok(())
    }

    /// Starts a statement.
    pub(super) async fn start(
        &mut self,
        sql: &str,
        command: &Command,
        parameters: Vec<(String, ScalarValue)>,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let ends = matches!(command, Command::Commit | Command::Rollback | Command::RollbackTo);
        if self.transaction == Transaction::Failed && !ends {
            let text = "current transaction is aborted, commands ignored until end of transaction \
                        block";
            return Err(Failure::new(code::IN_FAILED_TRANSACTION, text).into());
        }
        match command {
            Command::Query(_) | Command::Catalogue => {
                self.query(sql, command, parameters, formats).await
            }
            Command::Copy(copy) => {
                let formats = copy.format.columns();
                let running = self.query_within(&copy.query, parameters, formats).await?;
                Ok(Answer::Rows(running.into_copy(copy.format.clone())))
            }
            Command::Declare(declare) => self.declare(declare, parameters).await,
            Command::Fetch(fetch) => Ok(Answer::Fetch(fetch.clone())),
            command => self.about_connection(command, formats).await,
        }
    }

    /// Starts a query.
    pub(super) async fn query(
        &mut self,
        sql: &str,
        command: &Command,
        parameters: Vec<(String, ScalarValue)>,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let limit = self.variables.statement_timeout();
        let session = self.session.clone();
        let (planning, verb) = match command {
            Command::Catalogue => (self.catalogue_rows(sql, &parameters).await?, Verb::Select),
            Command::Query(verb) => (None, *verb),
            _ => (None, Verb::Select),
        };
        match planning {
            None => {
                if matches!(verb, Verb::Create | Verb::Drop) {
                    self.count_views(sql).await?;
                }
                let query = Query { sql: sql.to_owned(), parameters, limit };
                let rows = self.wire.unless_lost(session.query(query)).await?;
                self.rows(verb, rows.map_err(Stop::Logged)?, formats).await
            }
            Some(planning) => {
                let running = session.run(sql, limit, planning);
                let rows = self.wire.unless_lost(running).await?.map_err(Stop::Logged)?;
                let schema = types::with_oids(rows.schema());
                Ok(Answer::Rows(Running::with_schema(rows, &schema, formats, "SELECT")))
            }
        }
    }

    async fn rows(
        &mut self,
        verb: Verb,
        rows: crate::Rows,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let mut running = Running::new(rows, formats, verb.tag());
        if !running.columns.is_empty() {
            return Ok(Answer::Rows(running));
        }
        // Statements about views have no columns, and only they.
        self.views.change();
        match running.send(&mut self.wire, None).await? {
            Sent::Failed(failure) => Err(Stop::Logged(failure)),
            Sent::All(rows) | Sent::Part(rows) => Ok(Answer::Tag(running.tag(rows))),
        }
    }
}

//! A client whose user is known: answers its messages until it leaves.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::BufMut;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
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
use super::variables::{REPORTED, Variables};
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
    /// The settings. A query that calls `set_config` changes them while it runs.
    pub(super) variables: Arc<Mutex<Variables>>,
    /// The settings of views that the client sent at its start, which RESET restores.
    pub(super) of_views: Vec<(String, String)>,
    /// The settings of views from before `SET LOCAL`, which the end of a transaction restores.
    pub(super) before_local: Vec<(String, Option<String>)>,
    /// The values of settings as the client knows them.
    reported: Vec<Option<String>>,
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
            variables: Arc::new(Mutex::new(admitted.variables)),
            of_views: admitted.of_views,
            before_local: Vec::new(),
            reported: vec![None; REPORTED.len()],
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
        let end = match self.begin().await {
            Ok(()) => self.answer_all().await,
            Err(closed) => closed,
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

    /// Applies the settings of the start that need the engine, and lets the client begin.
    async fn begin(&mut self) -> Result<(), Closed> {
        if !self.of_views.is_empty() {
            let limit = self.pg.server.limits().timeout;
            let applied = tokio::time::timeout(limit, self.restore_views_settings()).await;
            match applied.unwrap_or_else(|_| Err(Failure::timeout(limit).into())) {
                Ok(()) => {}
                Err(Stop::Failed(failure) | Stop::Logged(failure)) => {
                    return Err(Closed::Violation(failure));
                }
                Err(Stop::Closed(closed)) => return Err(closed),
            }
        }
        self.report_settings();
        let key = self.key;
        self.wire.put(b'K', |out| {
            out.put_i32(key.0);
            out.put_i32(key.1);
        });
        reply::ready(&mut self.wire, self.transaction);
        self.wire.flush().await
    }

    /// Reports the settings that clients keep track of and that changed.
    fn report_settings(&mut self) {
        let variables = self.variables.lock();
        for (name, known) in REPORTED.iter().zip(&mut self.reported) {
            let value = variables.get(name).map(|(_, value)| value);
            if let Some(value) = value.filter(|value| known.as_deref() != Some(value)) {
                reply::parameter_status(&mut self.wire, name, value);
                *known = Some(value.to_owned());
            }
        }
    }

    async fn answer_all(&mut self) -> Closed {
        let stop = self.pg.server.stop().clone();
        loop {
            let message = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    let text = "terminating connection: the server stops";
                    return Closed::Violation(Failure::new(code::ADMIN_SHUTDOWN, text));
                }
                message = self.wire.receive() => message,
            };
            let answered = match message {
                Ok(message) => self.answer(message).await,
                Err(closed) => Err(closed),
            };
            if let Err(closed) = answered {
                return closed;
            }
        }
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
                self.report_settings();
                reply::ready(&mut self.wire, self.transaction);
                return self.wire.flush().await;
            }
            Message::Query(query) => {
                self.skips = false;
                self.portals.remove("");
                self.simple(&query.query).await?;
                self.report_settings();
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
        let limit = self.variables.lock().statement_timeout();
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

//! A client whose user is known: answers its messages until it leaves.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use pgwire::messages::PgWireFrontendMessage as Message;

use super::Pg;
use super::catalogue::Catalogue;
use super::command::{self, Command};
use super::cursor::Fetch;
use super::portal::{Portal, Prepared, Running, Sent};
use super::reply::{self, Severity, Transaction};
use super::startup::Admitted;
use super::types;
use super::variables::Variables;
use super::wire::{Closed, Wire};
use crate::failure::{Failure, code};
use crate::log;
use crate::query::Query;
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
    /// Whether the connection made views.
    pub(super) has_views: bool,
    /// The catalogue with the views of the connection.
    pub(super) own_catalogue: Option<Arc<Catalogue>>,
    key: (i32, i32),
    /// After an error, messages are skipped until the client synchronises.
    skips: bool,
}

/// Why an answer ended: the statement failed, or the connection did.
pub enum Stop {
    Failed(Failure),
    Closed(Closed),
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
            has_views: false,
            own_catalogue: None,
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
        match answered {
            Ok(()) => Ok(()),
            Err(Stop::Closed(closed)) => Err(closed),
            Err(Stop::Failed(failure)) => {
                self.fail(&failure, 0);
                self.skips = true;
                // Clients that wait for an answer before they synchronise learn of the error now.
                self.wire.flush().await
            }
        }
    }

    fn fail(&mut self, failure: &Failure, offset: usize) {
        reply::error(&mut self.wire, failure, Severity::Error, offset);
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    /// A text with any number of statements. The first error ends it.
    async fn simple(&mut self, text: &str) -> Result<(), Closed> {
        let statements = match self.session.check_length(text) {
            Ok(()) => command::statements(text),
            Err(failure) => {
                self.session.logged(text).write(0, failure.code);
                self.fail(&failure, 0);
                return Ok(());
            }
        };
        if statements.is_empty() {
            reply::plain(&mut self.wire, b'I');
        }
        for (start, sql) in statements {
            match self.statement(sql).await {
                Ok(()) => {}
                Err(Stop::Closed(closed)) => return Err(closed),
                Err(Stop::Failed(failure)) => {
                    let offset = text.get(..start).map_or(0, |before| before.chars().count());
                    self.fail(&failure, offset);
                    break;
                }
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
                    Sent::Failed(failure) => return Err(failure.into()),
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
            Command::Query | Command::Catalogue => {
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
        let planning = match command {
            Command::Catalogue => self.catalogue_rows(sql, &parameters).await?,
            _ => None,
        };
        match planning {
            None => {
                let query = Query { sql: sql.to_owned(), parameters, limit };
                let rows = self.wire.unless_lost(session.query(query)).await??;
                self.rows(sql, rows, formats).await
            }
            Some(planning) => {
                let running = session.run(sql, limit, planning);
                let rows = self.wire.unless_lost(running).await??;
                let schema = types::with_oids(rows.schema());
                Ok(Answer::Rows(Running::with_schema(rows, &schema, formats, "SELECT")))
            }
        }
    }

    async fn rows(
        &mut self,
        sql: &str,
        rows: crate::Rows,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let words: Vec<String> =
            sql.split_whitespace().take(2).map(str::to_ascii_uppercase).collect();
        let tag = match words.first().map(String::as_str) {
            Some("CREATE") => "CREATE VIEW",
            Some("DROP") => "DROP VIEW",
            Some("EXPLAIN") => "EXPLAIN",
            Some("SHOW") => "SHOW",
            _ => "SELECT",
        };
        if matches!(tag, "CREATE VIEW" | "DROP VIEW") {
            (self.has_views, self.own_catalogue) = (true, None);
        }
        let mut running = Running::new(rows, formats, tag);
        if !running.columns.is_empty() {
            return Ok(Answer::Rows(running));
        }
        match running.send(&mut self.wire, None).await? {
            Sent::Failed(failure) => Err(failure.into()),
            Sent::All(rows) | Sent::Part(rows) => Ok(Answer::Tag(running.tag(rows))),
        }
    }
}

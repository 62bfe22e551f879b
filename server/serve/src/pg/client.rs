//! A client whose user is known: answers its messages until it leaves.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use pgwire::messages::PgWireFrontendMessage as Message;
use pgwire::messages::extendedquery::{Bind, Close, Describe, Execute, Parse};

use super::Pg;
use super::catalogue::Catalogue;
use super::command::{self, Command};
use super::parameters;
use super::portal::{Portal, Prepared, Running, Sent};
use super::reply::{self, Severity, Transaction};
use super::startup::Admitted;
use super::types::{self, Kind};
use super::variables::Variables;
use super::wire::{Closed, Wire};
use crate::failure::{Failure, code};
use crate::log;
use crate::query::{Described, Query};
use crate::session::Session;

/// The prepared statements and portals that a connection may keep.
const MAX_KEPT: usize = 1_000;

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
pub enum Answer {
    /// With a tag.
    Tag(String),
    /// With rows.
    Rows(Running),
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
                    self.portals.clear();
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
            _ if self.skips => return Ok(()),
            Message::Parse(parse) => self.parse(parse).await,
            Message::Bind(bind) => self.bind(bind).await,
            Message::Describe(describe) => self.describe(describe).await,
            Message::Execute(execute) => self.execute(execute).await,
            Message::Close(close) => {
                self.close(&close);
                Ok(())
            }
            Message::Flush(_) => return self.wire.flush().await,
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
                Ok(())
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
                reply::columns(&mut self.wire, &running.columns);
                match running.send(&mut self.wire, 0).await? {
                    Sent::All(tag) => reply::complete(&mut self.wire, &tag),
                    Sent::Failed(failure) => return Err(failure.into()),
                    Sent::Part => {}
                }
            }
        }
        Ok(())
    }

    /// Starts a statement.
    pub(super) async fn start(
        &mut self,
        sql: &str,
        command: &Command,
        parameters: Vec<(String, datafusion::common::ScalarValue)>,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let ends = matches!(command, Command::Commit | Command::Rollback | Command::RollbackTo);
        if self.transaction == Transaction::Failed && !ends {
            let text = "current transaction is aborted, commands ignored until end of transaction \
                        block";
            return Err(Failure::new(code::IN_FAILED_TRANSACTION, text).into());
        }
        let limit = self.variables.statement_timeout();
        let session = self.session.clone();
        match command {
            Command::Query => {
                let query = Query { sql: sql.to_owned(), parameters, limit };
                let rows = self.wire.unless_lost(session.query(query)).await??;
                self.rows(sql, rows, formats).await
            }
            Command::Catalogue => match self.catalogue_rows(sql, &parameters).await? {
                Some(planning) => {
                    let running = session.run(sql, limit, planning);
                    let rows = self.wire.unless_lost(running).await??;
                    Ok(Answer::Rows(Running::new(rows, formats, "SELECT")))
                }
                None => {
                    let query = Query { sql: sql.to_owned(), parameters, limit };
                    let rows = self.wire.unless_lost(session.query(query)).await??;
                    self.rows(sql, rows, formats).await
                }
            },
            command => self.about_connection(command, formats).await,
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
        match running.send(&mut self.wire, 0).await? {
            Sent::Failed(failure) => Err(failure.into()),
            Sent::All(tag) => Ok(Answer::Tag(tag)),
            Sent::Part => Ok(Answer::Tag(tag.to_owned())),
        }
    }

    async fn parse(&mut self, parse: Parse) -> Result<(), Stop> {
        self.session.check_length(&parse.query)?;
        let statements = command::statements(&parse.query);
        if statements.len() > 1 {
            let text = "cannot insert multiple commands into a prepared statement";
            return Err(Failure::new(code::SYNTAX_ERROR, text).into());
        }
        let name = parse.name.unwrap_or_default();
        if !name.is_empty() && self.statements.contains_key(&name) {
            let text = format!("prepared statement {name:?} already exists");
            return Err(Failure::new("42P05", text).into());
        }
        if self.statements.len() >= MAX_KEPT {
            let text = format!("{MAX_KEPT} prepared statements are open; close some");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text).into());
        }
        let prepared = Prepared {
            command: statements.first().map(|(_, sql)| command::of(sql)),
            sql: parse.query,
            given: parse.type_oids,
            described: None,
            promised: false,
        };
        self.statements.insert(name, prepared);
        reply::plain(&mut self.wire, b'1');
        Ok(())
    }

    /// The columns and parameters of a prepared statement.
    async fn describe_statement(&mut self, name: &str) -> Result<Prepared, Stop> {
        let missing = || {
            let text = format!("prepared statement {name:?} does not exist");
            Failure::new(code::INVALID_STATEMENT_NAME, text)
        };
        let prepared = self.statements.get(name).cloned().ok_or_else(missing)?;
        if prepared.described.is_some() {
            return Ok(prepared);
        }
        let given: Vec<(String, DataType)> = prepared
            .given
            .iter()
            .enumerate()
            .filter_map(|(at, oid)| {
                let kind = Kind::of_oid(*oid).filter(|kind| *kind != Kind::Unknown)?;
                Some(((at + 1).to_string(), kind.data_type()))
            })
            .collect();
        let session = self.session.clone();
        let described = match &prepared.command {
            Some(Command::Query) => {
                let describing = session.describe(&prepared.sql, given);
                self.wire.unless_lost(describing).await??
            }
            Some(Command::Catalogue) => self.describe_catalogue(&prepared.sql, given).await?,
            Some(command) => {
                Described { schema: super::connection_columns(command), parameters: Vec::new() }
            }
            None => Described {
                schema: datafusion::arrow::datatypes::Schema::empty().into(),
                parameters: Vec::new(),
            },
        };
        let prepared = Prepared { described: Some(described), ..prepared };
        self.statements.insert(name.to_owned(), prepared.clone());
        Ok(prepared)
    }

    async fn bind(&mut self, bind: Bind) -> Result<(), Stop> {
        let name = bind.statement_name.unwrap_or_default();
        let known = self.statements.get(&name);
        let prepared = match known {
            Some(prepared) if bind.parameters.is_empty() => prepared.clone(),
            _ => self.describe_statement(&name).await?,
        };
        let kinds = prepared.kinds();
        if kinds.len() != bind.parameters.len() {
            let text = format!(
                "bind message supplies {} parameters, but prepared statement {name:?} requires {}",
                bind.parameters.len(),
                kinds.len()
            );
            return Err(Failure::new(code::PROTOCOL_VIOLATION, text).into());
        }
        let wanted = |at: usize| -> DataType {
            let inferred = prepared.described.as_ref().and_then(|described| {
                let name = (at + 1).to_string();
                described.parameters.iter().find(|(n, _)| *n == name).map(|(_, t)| t.clone())
            });
            inferred.unwrap_or(DataType::Utf8)
        };
        let is_binary = |at: usize| match &bind.parameter_format_codes[..] {
            [] => false,
            [all] => *all == 1,
            each => each.get(at) == Some(&1),
        };
        let mut parameters = Vec::with_capacity(kinds.len());
        for (at, (value, kind)) in bind.parameters.iter().zip(&kinds).enumerate() {
            let given = prepared.given.get(at).copied().unwrap_or(0);
            // A text without a type is read as the type of its place.
            let kind =
                if matches!(given, 0 | 705) && !is_binary(at) { Kind::Unknown } else { *kind };
            let value =
                parameters::value(at + 1, value.as_deref(), kind, is_binary(at), &wanted(at))?;
            parameters.push(((at + 1).to_string(), value));
        }
        if self.portals.len() >= MAX_KEPT {
            let text = format!("{MAX_KEPT} portals are open; close some");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text).into());
        }
        let formats = bind.result_column_format_codes;
        let promised = prepared.described.as_ref().filter(|_| prepared.promised);
        let promised = promised.map(|described| types::columns(&described.schema, &formats));
        let portal = Portal {
            sql: prepared.sql,
            command: prepared.command,
            parameters,
            formats,
            promised,
            running: None,
            ended: None,
        };
        self.portals.insert(bind.portal_name.unwrap_or_default(), portal);
        reply::plain(&mut self.wire, b'2');
        Ok(())
    }

    async fn describe(&mut self, describe: Describe) -> Result<(), Stop> {
        let name = describe.name.unwrap_or_default();
        if describe.target_type == b'S' {
            let prepared = self.describe_statement(&name).await?;
            if let Some(prepared) = self.statements.get_mut(&name) {
                prepared.promised = true;
            }
            let oids: Vec<u32> = prepared
                .kinds()
                .iter()
                .enumerate()
                .map(|(at, kind)| match prepared.given.get(at) {
                    Some(0 | 705) | None => kind.oid(),
                    Some(given) => *given,
                })
                .collect();
            reply::parameters(&mut self.wire, &oids);
            let schema = prepared.described.map(|described| described.schema);
            let columns = schema.map(|schema| types::columns(&schema, &[])).unwrap_or_default();
            self.promise(&columns);
            return Ok(());
        }
        // The statement starts now, so that it is planned once. Its rows wait for the client.
        self.open(&name).await?;
        let columns = self.portals.get(&name).and_then(|portal| portal.running.as_ref());
        let columns = columns.map(|running| running.columns.clone()).unwrap_or_default();
        self.promise(&columns);
        Ok(())
    }

    fn promise(&mut self, columns: &[types::Column]) {
        if columns.is_empty() {
            reply::plain(&mut self.wire, b'n');
        } else {
            reply::columns(&mut self.wire, columns);
        }
    }

    /// Starts the statement of a portal, unless it was started.
    async fn open(&mut self, name: &str) -> Result<(), Stop> {
        let missing = || Failure::new("34000", format!("portal {name:?} does not exist"));
        let mut portal = self.portals.remove(name).ok_or_else(missing)?;
        if portal.running.is_none() && portal.ended.is_none() {
            let answer = match &portal.command {
                Some(command) => {
                    let parameters = std::mem::take(&mut portal.parameters);
                    self.start(&portal.sql, command, parameters, &portal.formats).await?
                }
                None => Answer::Empty,
            };
            match answer {
                Answer::Rows(running) => {
                    let kinds = |columns: &[types::Column]| -> Vec<Kind> {
                        columns.iter().map(|c| c.kind).collect()
                    };
                    if let Some(promised) = &portal.promised
                        && kinds(promised) != kinds(&running.columns)
                    {
                        let text = "cached plan must not change result type";
                        let failure = Failure::new(code::FEATURE_NOT_SUPPORTED, text);
                        return Err(failure
                            .with_hint("cast the parameters, as in $1::BIGINT")
                            .into());
                    }
                    portal.running = Some(running);
                }
                Answer::Tag(tag) => portal.ended = Some(tag),
                Answer::Empty => portal.ended = Some(String::new()),
            }
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    async fn execute(&mut self, execute: Execute) -> Result<(), Stop> {
        let name = execute.name.unwrap_or_default();
        self.open(&name).await?;
        let Some(portal) = self.portals.get_mut(&name) else { return Ok(()) };
        let Some(running) = &mut portal.running else {
            match portal.ended.as_deref() {
                None | Some("") => reply::plain(&mut self.wire, b'I'),
                Some(tag) => reply::complete(&mut self.wire, tag),
            }
            return Ok(());
        };
        let most = execute.max_rows.max(0) as usize;
        match running.send(&mut self.wire, most).await? {
            Sent::Part => reply::plain(&mut self.wire, b's'),
            Sent::All(tag) => {
                reply::complete(&mut self.wire, &tag);
                portal.running = None;
                portal.ended = Some("SELECT 0".to_owned());
            }
            Sent::Failed(failure) => {
                self.portals.remove(&name);
                return Err(failure.into());
            }
        }
        Ok(())
    }

    fn close(&mut self, close: &Close) {
        let name = close.name.as_deref().unwrap_or_default();
        if close.target_type == b'S' {
            self.statements.remove(name);
        } else {
            self.portals.remove(name);
        }
        reply::plain(&mut self.wire, b'3');
    }
}

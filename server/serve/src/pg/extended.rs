//! The extended protocol: prepared statements, and portals that give their rows in parts.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use pgwire::messages::extendedquery::{Bind, Close, Describe, Execute, Parse};

use super::client::{Answer, Client, Stop};
use super::command::{self, Command};
use super::copy::Copy;
use super::cursor::{self, Declare, Fetch, Within};
use super::parameters;
use super::portal::{Portal, Prepared, Sent};
use super::reply;
use super::types::{self, Item, Kind};
use crate::failure::{Failure, code};
use crate::query::Described;

impl Client {
    pub(super) async fn parse(&mut self, parse: Parse) -> Result<(), Stop> {
        let sql: Arc<str> = parse.query.into();
        self.about = sql.clone();
        self.session.check_length(&sql)?;
        let statements = command::statements(&sql);
        if statements.len() > 1 {
            let text = "cannot insert multiple commands into a prepared statement";
            return Err(Failure::new(code::SYNTAX_ERROR, text).into());
        }
        let name = parse.name.unwrap_or_default();
        if !name.is_empty() && self.statements.contains_key(&name) {
            let text = format!("prepared statement {name:?} already exists");
            return Err(Failure::new("42P05", text).into());
        }
        let prepared = Prepared {
            command: statements.first().map(|(_, sql)| command::of(sql).into()),
            sql: sql.clone(),
            given: parse.type_oids.into(),
            described: None,
            promised: false,
        };
        self.check_statements(&name, &prepared)?;
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
        self.about = prepared.sql.clone();
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
        let described = match prepared.command.as_deref() {
            Some(Command::Query(_)) => {
                let describing = session.describe(&prepared.sql, given);
                self.wire.unless_lost(describing).await?.map_err(Stop::Logged)?
            }
            Some(Command::Catalogue) => self.describe_catalogue(&prepared.sql, given).await?,
            // These have parameters, and no rows of their own.
            Some(Command::Copy(Copy { query, .. }))
            | Some(Command::Declare(Declare { query, .. })) => {
                let parameters = self.describe_within(query, given).await?.parameters;
                Described { schema: Schema::empty().into(), parameters }
            }
            Some(command) => {
                Described { schema: super::connection_columns(command), parameters: Vec::new() }
            }
            None => Described { schema: Schema::empty().into(), parameters: Vec::new() },
        };
        let prepared = Prepared { described: Some(described.into()), ..prepared };
        self.check_statements(name, &prepared)?;
        self.statements.insert(name.to_owned(), prepared.clone());
        Ok(prepared)
    }

    async fn describe_within(
        &mut self,
        query: &Within,
        given: Vec<(String, DataType)>,
    ) -> Result<Described, Stop> {
        let described = match command::of(&query.sql) {
            Command::Catalogue => self.describe_catalogue(&query.sql, given).await,
            _ => {
                let session = self.session.clone();
                let describing = session.describe(&query.sql, given);
                self.wire.unless_lost(describing).await?.map_err(Stop::Logged)
            }
        };
        described.map_err(|stop| stop.map(|failure| query.placed(failure)))
    }

    pub(super) async fn bind(&mut self, bind: Bind) -> Result<(), Stop> {
        let name = bind.statement_name.unwrap_or_default();
        let known = self.statements.get(&name);
        let prepared = match known {
            Some(prepared) if bind.parameters.is_empty() => prepared.clone(),
            _ => self.describe_statement(&name).await?,
        };
        self.about = prepared.sql.clone();
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
        let is_binary = |at: usize| types::is_binary(&bind.parameter_format_codes, at);
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
            fetch: None,
            ended: None,
            is_cursor: false,
            holds: false,
        };
        let name = bind.portal_name.unwrap_or_default();
        self.check_portals(&name, &portal)?;
        self.portals.insert(name, portal);
        reply::plain(&mut self.wire, b'2');
        Ok(())
    }

    pub(super) async fn describe(&mut self, describe: Describe) -> Result<(), Stop> {
        let name = describe.name.unwrap_or_default();
        if describe.target_type == b'S' {
            let prepared = self.describe_statement(&name).await?;
            if let Some(prepared) = self.statements.get_mut(&name) {
                prepared.promised = true;
            }
            let of_catalogue = prepared.command.as_deref() == Some(&Command::Catalogue);
            let oid = |kind: &Kind| match kind {
                Kind::List(Item::Int4) if of_catalogue => Kind::List(Item::Oid).oid(),
                kind => kind.oid(),
            };
            let oids: Vec<u32> = prepared
                .kinds()
                .iter()
                .enumerate()
                .map(|(at, kind)| match prepared.given.get(at) {
                    Some(0 | 705) | None => oid(kind),
                    Some(given) => *given,
                })
                .collect();
            reply::parameters(&mut self.wire, &oids);
            let columns = match (prepared.command.as_deref(), &prepared.described) {
                (Some(Command::Fetch(fetch)), _) => {
                    cursor::rows(&mut self.portals, &fetch.name, &[])?.columns.clone()
                }
                (_, Some(described)) => types::columns(&described.schema, &[]),
                (_, None) => Vec::new(),
            };
            self.promise(&columns);
            return Ok(());
        }
        // The statement starts now, so that it is planned once. Its rows wait for the client.
        self.open(&name).await?;
        let mut columns = Vec::new();
        if let Some(portal) = self.portals.get(&name) {
            if let Some(running) = portal.running.as_ref().filter(|running| !running.is_copy()) {
                columns = running.columns.clone();
            } else if let Some(Fetch { name, .. }) = portal.fetch.clone() {
                let formats = portal.formats.clone();
                columns = cursor::rows(&mut self.portals, &name, &formats)?.columns.clone();
            }
        }
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
    pub(super) async fn open(&mut self, name: &str) -> Result<(), Stop> {
        let missing = || Failure::new("34000", format!("portal {name:?} does not exist"));
        let mut portal = self.portals.remove(name).ok_or_else(missing)?;
        self.about = portal.sql.clone();
        if portal.running.is_none() && portal.ended.is_none() && portal.fetch.is_none() {
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
                Answer::Fetch(fetch) => portal.fetch = Some(fetch),
                Answer::Tag(tag) => portal.ended = Some(tag),
                Answer::Empty => portal.ended = Some(String::new()),
            }
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    pub(super) async fn execute(&mut self, execute: Execute) -> Result<(), Stop> {
        let name = execute.name.unwrap_or_default();
        self.open(&name).await?;
        let Some(portal) = self.portals.get_mut(&name) else { return Ok(()) };
        if let Some(fetch) = portal.fetch.take() {
            let formats = portal.formats.clone();
            portal.ended = Some("FETCH 0".to_owned());
            return self.fetch(&fetch, &formats, false).await;
        }
        let Some(running) = &mut portal.running else {
            match portal.ended.as_deref() {
                None | Some("") => reply::plain(&mut self.wire, b'I'),
                Some(tag) => reply::complete(&mut self.wire, tag),
            }
            return Ok(());
        };
        // The rows of a COPY are one stream.
        let most = usize::try_from(execute.max_rows).ok().filter(|most| *most > 0);
        let most = most.filter(|_| !running.is_copy());
        match running.send(&mut self.wire, most).await? {
            Sent::Part(_) => reply::plain(&mut self.wire, b's'),
            Sent::All(rows) => {
                reply::complete(&mut self.wire, &running.tag(rows));
                portal.running = None;
                portal.ended = Some("SELECT 0".to_owned());
            }
            Sent::Failed(failure) => {
                self.portals.remove(&name);
                return Err(Stop::Logged(failure));
            }
        }
        Ok(())
    }

    pub(super) fn close(&mut self, close: &Close) {
        let name = close.name.as_deref().unwrap_or_default();
        if close.target_type == b'S' {
            self.statements.remove(name);
        } else {
            self.portals.remove(name);
        }
        reply::plain(&mut self.wire, b'3');
    }
}

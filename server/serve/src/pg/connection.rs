//! Commands about the connection: transactions, settings, prepared statements.
//!
//! The server only reads, so a transaction is a word: it keeps no snapshot, and its end undoes
//! nothing but `SET LOCAL`.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::client::{Answer, Client, Stop};
use super::command::Command;
use super::portal::Running;
use super::reply::{self, Transaction};
use crate::failure::{Failure, code};

/// How long a client may take to read an answer of this kind.
const PATIENCE: Duration = Duration::from_secs(30);
/// The settings of views, as clients name them.
pub const LIBRARY: &str = "tracesql.";
/// The settings of the engine.
pub const OF_ENGINE: &str = "datafusion.";
/// The maximum size of the value of a setting of views, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// The refusal to change a setting of the engine.
pub fn engine_setting(name: &str) -> Failure {
    let text = format!("permission denied to set parameter \"{name}\"");
    Failure::new(code::INSUFFICIENT_PRIVILEGE, text)
        .with_hint("the settings of the engine belong to the server")
}

/// The columns of the answer to a command about the connection.
pub fn columns(command: &Command) -> SchemaRef {
    let names = match command {
        Command::Show(None) => vec!["name", "setting", "description"],
        Command::Show(Some(name)) => vec![name.as_str()],
        _ => Vec::new(),
    };
    let fields: Vec<Field> =
        names.into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    Arc::new(Schema::new(fields))
}

impl Client {
    /// Answers a command about the connection.
    pub(super) async fn about_connection(
        &mut self,
        command: &Command,
        formats: &[i16],
    ) -> Result<Answer, Stop> {
        let tag = match command {
            Command::Begin => {
                if self.transaction != Transaction::Idle {
                    self.warn("25001", "there is already a transaction in progress");
                } else {
                    self.transaction = Transaction::Open;
                }
                "BEGIN"
            }
            Command::Commit | Command::Rollback => {
                let failed = self.transaction == Transaction::Failed;
                if self.transaction == Transaction::Idle {
                    self.warn("25P01", "there is no transaction in progress");
                }
                self.transaction = Transaction::Idle;
                self.variables.lock().end_transaction();
                for (name, value) in std::mem::take(&mut self.before_local) {
                    self.session.set(&name, value.as_deref()).await?;
                }
                self.end_portals();
                if failed || *command == Command::Rollback { "ROLLBACK" } else { "COMMIT" }
            }
            Command::RollbackTo => {
                if self.transaction == Transaction::Failed {
                    self.transaction = Transaction::Open;
                }
                "ROLLBACK"
            }
            Command::Set { name, value, local } => {
                self.set(name, value.as_deref(), *local).await?;
                "SET"
            }
            Command::Reset(None) => {
                self.variables.lock().reset_all();
                self.restore_views_settings().await?;
                "RESET"
            }
            Command::Reset(Some(name)) => {
                self.set(name, None, false).await?;
                "RESET"
            }
            Command::Show(None) => {
                let row = |(name, value): (&str, &str)| {
                    vec![name.to_owned(), value.to_owned(), String::new()]
                };
                let rows: Vec<_> = self.variables.lock().all().map(row).collect();
                let names = ["name", "setting", "description"];
                return Ok(Answer::Rows(Running::of_texts(&names, &rows, formats, PATIENCE)));
            }
            Command::Show(Some(name)) => {
                let value = self.shown(name).await?;
                let rows = [vec![value]];
                return Ok(Answer::Rows(Running::of_texts(&[name], &rows, formats, PATIENCE)));
            }
            Command::DiscardAll => {
                self.variables.lock().reset_all();
                self.restore_views_settings().await?;
                self.statements.clear();
                self.portals.clear();
                "DISCARD ALL"
            }
            Command::Deallocate(None) => {
                self.statements.clear();
                "DEALLOCATE ALL"
            }
            Command::Deallocate(Some(name)) => {
                if self.statements.remove(name).is_none() {
                    let text = format!("prepared statement {name:?} does not exist");
                    return Err(Failure::new(code::INVALID_STATEMENT_NAME, text).into());
                }
                "DEALLOCATE"
            }
            Command::Nothing(tag) => tag,
            Command::Refused(failure) => return Err(failure.clone().into()),
            Command::Close(name) => {
                self.close_cursor(name.as_deref())?;
                "CLOSE CURSOR"
            }
            Command::Query(_)
            | Command::Catalogue
            | Command::Copy(_)
            | Command::Declare(_)
            | Command::Fetch(_) => return Ok(Answer::Empty),
        };
        Ok(Answer::Tag(tag.to_owned()))
    }

    fn warn(&mut self, code: &'static str, text: &str) {
        reply::notice(&mut self.wire, &Failure::new(code, text));
    }

    /// Changes a setting; `None` resets it.
    async fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<(), Failure> {
        let lower = name.to_lowercase();
        if lower.starts_with(OF_ENGINE) {
            return Err(engine_setting(name));
        }
        let is_open = self.transaction != Transaction::Idle;
        if local && !is_open {
            self.warn("25P01", "SET LOCAL can only be used in transaction blocks");
            return Ok(());
        }
        if let Some(setting) = lower.strip_prefix(LIBRARY) {
            return self.set_of_views(setting, value, local).await;
        }
        let mut variables = self.variables.lock();
        match value {
            Some(value) if local => variables.set_local(name, value),
            Some(value) => variables.set(name, value),
            None => variables.reset(name),
        }
    }

    /// Changes a setting of views; `None` resets it to the value of the start.
    async fn set_of_views(
        &mut self,
        name: &str,
        value: Option<&str>,
        local: bool,
    ) -> Result<(), Failure> {
        if value.is_some_and(|value| value.len() > MAX_VALUE_BYTES) {
            let text = format!("the value of {name} may have {MAX_VALUE_BYTES} bytes");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text));
        }
        let of_start = self.of_views.iter().find(|(known, _)| known == name);
        let value = value.or(of_start.map(|(_, value)| value.as_str()));
        let engine = self.session.engine().await?;
        let now = engine.settings().all().remove(name).map(|setting| setting.value);
        self.session.set(name, value).await?;
        let known = self.before_local.iter().position(|(known, _)| known == name);
        match (local, known, now) {
            (true, None, Some(now)) => self.before_local.push((name.to_owned(), now)),
            (false, Some(at), _) => drop(self.before_local.remove(at)),
            _ => {}
        }
        Ok(())
    }

    async fn shown(&self, name: &str) -> Result<String, Failure> {
        let unknown = || {
            let text = format!("unrecognized configuration parameter \"{name}\"");
            Failure::new(code::UNDEFINED_OBJECT, text)
        };
        let lower = name.to_lowercase();
        if let Some(setting) = lower.strip_prefix(LIBRARY) {
            let engine = self.session.engine().await?;
            let value = engine.settings().all().remove(setting).ok_or_else(unknown)?.value;
            return Ok(value.unwrap_or_default());
        }
        let variables = self.variables.lock();
        variables.get(name).map(|(_, value)| value.to_owned()).ok_or_else(unknown)
    }

    /// Sets all settings of views to the values of the start.
    pub(super) async fn restore_views_settings(&mut self) -> Result<(), Stop> {
        self.before_local.clear();
        let session = self.session.clone();
        let engine = self.wire.unless_lost(session.engine()).await??;
        for (name, _) in engine.settings().changed() {
            engine.settings().reset(&name);
        }
        for (name, value) in &self.of_views {
            self.session.set(name, Some(value)).await?;
        }
        Ok(())
    }
}

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
const LIBRARY: &str = "tracesql.";

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
                self.variables.end_transaction();
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
                self.variables.reset_all();
                self.reset_library().await?;
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
                let rows: Vec<_> = self.variables.all().map(row).collect();
                let names = ["name", "setting", "description"];
                return Ok(Answer::Rows(Running::of_texts(&names, &rows, formats, PATIENCE)));
            }
            Command::Show(Some(name)) => {
                let value = self.shown(name).await?;
                let rows = [vec![value]];
                return Ok(Answer::Rows(Running::of_texts(&[name], &rows, formats, PATIENCE)));
            }
            Command::DiscardAll => {
                self.variables.reset_all();
                self.reset_library().await?;
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
        if lower.starts_with("datafusion.") {
            let text = format!("permission denied to set parameter \"{name}\"");
            return Err(Failure::new(code::INSUFFICIENT_PRIVILEGE, text)
                .with_hint("the settings of the engine belong to the server"));
        }
        if let Some(setting) = lower.strip_prefix(LIBRARY) {
            return self.session.set(setting, value).await;
        }
        let reported = match value {
            Some(value) if local && self.transaction != Transaction::Idle => {
                self.variables.set_local(name, value)?
            }
            Some(_) if local => {
                self.warn("25P01", "SET LOCAL can only be used in transaction blocks");
                None
            }
            Some(value) => self.variables.set(name, value)?,
            None => self.variables.reset(name)?,
        };
        if let Some((name, value)) = reported.and_then(|name| self.variables.get(name)) {
            reply::parameter_status(&mut self.wire, name, value);
        }
        Ok(())
    }

    async fn shown(&self, name: &str) -> Result<String, Failure> {
        if let Some((_, value)) = self.variables.get(name) {
            return Ok(value.to_owned());
        }
        let unknown = || {
            let text = format!("unrecognized configuration parameter \"{name}\"");
            Failure::new(code::UNDEFINED_OBJECT, text)
        };
        let lower = name.to_lowercase();
        let setting = lower.strip_prefix(LIBRARY).ok_or_else(unknown)?;
        let engine = self.session.engine().await?;
        let value = engine.settings().all().remove(setting).ok_or_else(unknown)?.value;
        Ok(value.unwrap_or_default())
    }

    /// Sets all settings of views to their defaults.
    async fn reset_library(&self) -> Result<(), Failure> {
        let engine = self.session.engine().await?;
        for (name, _) in engine.settings().changed() {
            engine.settings().reset(&name);
        }
        Ok(())
    }
}

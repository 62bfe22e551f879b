//! Prepared statements, and statements that run.

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::common::ScalarValue;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use super::command::Command;
use super::encode;
use super::types::{self, Column, Kind};
use super::wire::{Closed, Wire};
use crate::failure::Failure;
use crate::query::Described;
use crate::rows::Rows;

/// How long after the end of its time a statement's rows may wait for their reader.
const PATIENCE: Duration = Duration::from_secs(1);

/// A prepared statement.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its text.
    pub sql: String,
    /// What answers it; `None` for an empty text.
    pub command: Option<Command>,
    /// The types of parameters that the client gave, by their numbers; 0 for unknown.
    pub given: Vec<u32>,
    /// Its columns and parameters, once someone asked.
    pub described: Option<Described>,
    /// Whether the client was told its columns.
    pub promised: bool,
}

impl Prepared {
    /// The types of its parameters. They are known once the statement is described.
    pub fn kinds(&self) -> Vec<Kind> {
        let inferred = self.described.as_ref().map_or(&[][..], |d| &d.parameters);
        let number = |name: &str| name.parse::<usize>().unwrap_or(0);
        let count = inferred.iter().map(|(name, _)| number(name)).max().unwrap_or(0);
        (1..=count.max(self.given.len()))
            .map(|at| {
                let given = self.given.get(at - 1).and_then(|oid| Kind::of_oid(*oid));
                let found = inferred.iter().find(|(name, _)| number(name) == at);
                given
                    .filter(|kind| *kind != Kind::Unknown)
                    .or_else(|| found.map(|(_, data_type)| Kind::of(data_type)))
                    .unwrap_or(Kind::Text)
            })
            .collect()
    }
}

/// A statement with the values of its parameters.
pub struct Portal {
    /// Its text.
    pub sql: String,
    /// What answers it; `None` for an empty text.
    pub command: Option<Command>,
    /// Values by name.
    pub parameters: Vec<(String, ScalarValue)>,
    /// The formats of columns that the client asked for.
    pub formats: Vec<i16>,
    /// The columns that the client was told when it asked about the statement.
    pub promised: Option<Vec<Column>>,
    /// Its rows, once it runs.
    pub running: Option<Running>,
    /// The tag of its end, once it ended.
    pub ended: Option<String>,
}

/// Rows on their way to a client.
pub struct Running {
    source: Source,
    /// The columns.
    pub columns: Vec<Column>,
    batch: Option<(encode::Rows, usize)>,
    /// The first word of the tag at its end.
    tag: &'static str,
    deadline: Instant,
}

enum Source {
    Rows(Rows),
    Batch(Option<RecordBatch>),
}

/// How far the rows of a statement were sent.
pub enum Sent {
    /// To their end, with this tag.
    All(String),
    /// As far as the client asked.
    Part,
    /// Until it failed.
    Failed(Failure),
}

impl Running {
    /// The rows of a statement.
    pub fn new(rows: Rows, formats: &[i16], tag: &'static str) -> Self {
        let columns = types::columns(rows.schema(), formats);
        let deadline = rows.deadline() + PATIENCE;
        Self { source: Source::Rows(rows), columns, batch: None, tag, deadline }
    }

    /// Rows of texts that are known already.
    pub fn of_texts(names: &[&str], rows: &[Vec<String>], formats: &[i16], wait: Duration) -> Self {
        let column = |at: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| row.get(at).cloned()).collect::<StringArray>())
        };
        let columns = names.iter().enumerate().map(|(at, name)| (*name, column(at)));
        let batch = RecordBatch::try_from_iter(columns).ok();
        let columns =
            batch.as_ref().map(|b| types::columns(&b.schema(), formats)).unwrap_or_default();
        let deadline = Instant::now() + wait;
        Self { source: Source::Batch(batch), columns, batch: None, tag: "SHOW", deadline }
    }

    async fn next(&mut self) -> Option<Result<RecordBatch, Failure>> {
        match &mut self.source {
            Source::Rows(rows) => rows.next().await,
            Source::Batch(batch) => batch.take().map(Ok),
        }
    }

    /// Sends rows until the end, or at most so many if `most` is not 0. `sent` counts the rows of
    /// this call.
    pub async fn send(&mut self, wire: &mut Wire, most: usize) -> Result<Sent, Closed> {
        let mut sent = 0;
        loop {
            while let Some((rows, at)) = &mut self.batch {
                if *at == rows.len() {
                    self.batch = None;
                    break;
                }
                if most > 0 && sent == most {
                    return Ok(Sent::Part);
                }
                rows.write(*at, wire.output());
                *at += 1;
                sent += 1;
                if wire.is_full() {
                    wire.flush_until(self.deadline).await?;
                }
            }
            if most > 0 && sent == most {
                return Ok(Sent::Part);
            }
            match wire.unless_lost(self.next()).await? {
                None if self.tag == "SELECT" => return Ok(Sent::All(format!("SELECT {sent}"))),
                None => return Ok(Sent::All(self.tag.to_owned())),
                Some(Err(failure)) => return Ok(Sent::Failed(failure)),
                Some(Ok(batch)) => match encode::Rows::new(&batch, &self.columns) {
                    Ok(rows) => self.batch = Some((rows, 0)),
                    Err(failure) => return Ok(Sent::Failed(failure)),
                },
            }
        }
    }
}

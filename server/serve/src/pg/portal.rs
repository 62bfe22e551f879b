//! Prepared statements, and statements that run.

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::ScalarValue;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use super::command::Command;
use super::copy::{Copying, Format};
use super::cursor::Fetch;
use super::encode;
use super::types::{self, Column, Kind};
use super::wire::{Closed, Wire};
use crate::failure::Failure;
use crate::query::Described;
use crate::rows::Rows;

/// An estimate of what a value in a list takes in addition to its contents.
const ITEM_BYTES: usize = 64;
/// How long after the end of its time a statement's rows may wait for their reader.
const PATIENCE: Duration = Duration::from_secs(1);

/// A prepared statement.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its text.
    pub sql: Arc<str>,
    /// What answers it; `None` for an empty text.
    pub command: Option<Arc<Command>>,
    /// The types of parameters that the client gave, by their numbers; 0 for unknown.
    pub given: Arc<[u32]>,
    /// Its columns and parameters, after the first request for them.
    pub described: Option<Arc<Described>>,
    /// Whether the client was told its columns.
    pub promised: bool,
}

impl Prepared {
    /// The bytes that it keeps in addition to its text.
    pub fn bytes(&self) -> usize {
        let described = self.described.as_ref().map_or(0, |described| {
            let names: usize = described.parameters.iter().map(|(name, _)| name.len()).sum();
            names
                + described.parameters.len() * ITEM_BYTES
                + described.schema.fields().iter().map(|f| f.size() + ITEM_BYTES).sum::<usize>()
        });
        described + size_of_val(&*self.given)
    }

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
    pub sql: Arc<str>,
    /// What answers it; `None` for an empty text.
    pub command: Option<Arc<Command>>,
    /// Values by name.
    pub parameters: Vec<(String, ScalarValue)>,
    /// The formats of columns that the client asked for.
    pub formats: Vec<i16>,
    /// The columns that the client was told when it asked about the statement.
    pub promised: Option<Vec<Column>>,
    /// Its rows, once it runs.
    pub running: Option<Running>,
    /// The rows of a cursor, if it fetches some.
    pub fetch: Option<Fetch>,
    /// The tag of its end, once it ended.
    pub ended: Option<String>,
    /// Whether it was opened by DECLARE.
    pub is_cursor: bool,
    /// Whether it lives longer than its transaction.
    pub holds: bool,
}

impl Portal {
    /// The bytes that it keeps in addition to its text.
    pub fn bytes(&self) -> usize {
        let values: usize =
            self.parameters.iter().map(|(name, value)| name.len() + value.size()).sum();
        let columns = |columns: &[Column]| -> usize {
            columns.iter().map(|column| column.name.len() + ITEM_BYTES).sum()
        };
        values
            + self.parameters.len() * ITEM_BYTES
            + size_of_val(&*self.formats)
            + self.promised.as_deref().map_or(0, columns)
            + self.running.as_ref().map_or(0, |running| running.bytes + columns(&running.columns))
    }

    /// A cursor.
    pub fn cursor(running: Running, formats: &[i16], holds: bool) -> Self {
        Self {
            sql: Arc::default(),
            command: None,
            parameters: Vec::new(),
            formats: formats.to_vec(),
            promised: None,
            running: Some(running),
            fetch: None,
            ended: None,
            is_cursor: true,
            holds,
        }
    }
}

/// Rows on their way to a client.
pub struct Running {
    source: Source,
    /// The columns.
    pub columns: Vec<Column>,
    batch: Option<(encode::Rows, usize)>,
    /// The state of a COPY.
    copy: Option<Copying>,
    /// The first word of the tag at its end.
    tag: &'static str,
    deadline: Instant,
    /// The bytes of the rows that wait here. Those that the engine computes are not among them.
    bytes: usize,
}

enum Source {
    Rows(Rows),
    Batch(Option<RecordBatch>),
}

/// How far the rows of a statement were sent.
pub enum Sent {
    /// To their end. The number is that of the rows that were sent now.
    All(usize),
    /// As far as the client asked.
    Part(usize),
    /// Until it failed.
    Failed(Failure),
}

impl Running {
    /// The rows of a statement.
    pub fn new(rows: Rows, formats: &[i16], tag: &'static str) -> Self {
        let schema = rows.schema().clone();
        Self::with_schema(rows, &schema, formats, tag)
    }

    /// The rows of a statement, whose columns are sent in the types of this schema.
    pub fn with_schema(rows: Rows, schema: &Schema, formats: &[i16], tag: &'static str) -> Self {
        let columns = types::columns(schema, formats);
        let deadline = rows.deadline() + PATIENCE;
        let source = Source::Rows(rows);
        Self { source, columns, batch: None, copy: None, tag, deadline, bytes: 0 }
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
        let bytes = batch.as_ref().map_or(0, RecordBatch::get_array_memory_size);
        let source = Source::Batch(batch);
        Self { source, columns, batch: None, copy: None, tag: "SHOW", deadline, bytes }
    }

    /// The same rows as the answer to a COPY.
    pub fn into_copy(self, format: Format) -> Self {
        Self { copy: Some(Copying::new(format)), tag: "COPY", ..self }
    }

    /// Whether it is the answer to a COPY.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Changes the formats of columns for the rows that follow.
    pub fn set_formats(&mut self, formats: &[i16]) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.binary = types::is_binary(formats, at);
        }
        if let Some((rows, _)) = &mut self.batch {
            rows.set_formats(&self.columns);
        }
    }

    /// The tag of its end, after so many rows.
    pub fn tag(&self, rows: usize) -> String {
        match self.tag {
            "SELECT" | "COPY" => format!("{} {rows}", self.tag),
            tag => tag.to_owned(),
        }
    }

    async fn next(&mut self) -> Option<Result<RecordBatch, Failure>> {
        match &mut self.source {
            Source::Rows(rows) => rows.next().await,
            Source::Batch(batch) => batch.take().map(Ok),
        }
    }

    /// Sends rows until the end, or at most so many.
    pub async fn send(&mut self, wire: &mut Wire, most: Option<usize>) -> Result<Sent, Closed> {
        let mut sent = 0;
        if let Some(copy) = &mut self.copy {
            copy.begin(wire, &self.columns);
        }
        loop {
            while let Some((rows, at)) = &mut self.batch {
                if *at == rows.len() {
                    (self.batch, self.bytes) = (None, 0);
                    break;
                }
                if most == Some(sent) {
                    return Ok(Sent::Part(sent));
                }
                match &mut self.copy {
                    Some(copy) => copy.row(rows, *at, wire.output()),
                    None => rows.write(*at, wire.output()),
                }
                *at += 1;
                sent += 1;
                if wire.is_full() {
                    wire.flush_until(self.deadline).await?;
                }
            }
            if most == Some(sent) {
                return Ok(Sent::Part(sent));
            }
            match wire.unless_lost(self.next()).await? {
                None => {
                    if let Some(copy) = &mut self.copy {
                        copy.end(wire);
                    }
                    return Ok(Sent::All(sent));
                }
                Some(Err(failure)) => return Ok(Sent::Failed(failure)),
                Some(Ok(batch)) => match encode::Rows::new(&batch, &self.columns) {
                    Ok(rows) => {
                        self.bytes = batch.get_array_memory_size();
                        self.batch = Some((rows, 0));
                    }
                    Err(failure) => return Ok(Sent::Failed(failure)),
                },
            }
        }
    }
}

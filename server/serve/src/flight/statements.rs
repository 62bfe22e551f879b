//! Statements of clients: starting, preparing, binding, cancelling.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::sql::server::PeekableFlightDataStream;
use futures::{StreamExt, TryStreamExt, stream};
use tonic::Status;

use super::bound;
use super::handles::{Cancelled, Handle, MAX_UNREAD, Prepared, Results, Weighed};
use super::parameters::{self, Values};
use super::rows::{self, Answer, Batches, ReadRows};
use super::sessions::Caller;
use super::status;
use crate::failure::code;
use crate::{Query, Rows, Session};

/// A prepared statement.
#[derive(Debug, Clone)]
pub struct Statement {
    sql: String,
    /// The names of its parameters in the order of binding.
    parameters: Arc<[String]>,
    /// The values of each execution.
    bound: Arc<[Values]>,
}

impl Weighed for Statement {
    fn bytes(&self) -> usize {
        let values = self.bound.iter().flatten();
        self.sql.len() + values.map(|(name, value)| name.len() + value.size()).sum::<usize>()
    }
}

/// The answer to a request to prepare a statement.
pub struct Preparation {
    /// The handle of the statement.
    pub handle: Handle,
    /// The columns of its result. Empty for CREATE VIEW.
    pub columns: SchemaRef,
    /// Its parameters.
    pub parameters: Schema,
}

/// Rows that wait to be read.
struct Waiting {
    schema: SchemaRef,
    batches: Batches,
}

/// The statements of all clients.
#[derive(Default)]
pub struct Statements {
    results: Results<Batches>,
    prepared: Prepared<Statement>,
}

impl Statements {
    /// Starts a statement. Returns the handle and the columns of its result.
    pub async fn start(&self, caller: &Caller, sql: &str) -> Result<(Handle, SchemaRef), Status> {
        let sql = numbered(caller, sql)?;
        let waiting = start(&caller.session, sql, vec![Values::new()]).await?;
        self.keep(caller, waiting)
    }

    /// Starts a prepared statement with the values that were bound to it.
    pub async fn start_prepared(
        &self,
        caller: &Caller,
        handle: &[u8],
    ) -> Result<(Handle, SchemaRef), Status> {
        let waiting = self.run_prepared(caller, handle).await?;
        self.keep(caller, waiting)
    }

    /// Runs a prepared statement and answers with its rows.
    pub async fn read_prepared(&self, caller: &Caller, handle: &[u8]) -> Result<Answer, Status> {
        let Waiting { schema, batches } = self.run_prepared(caller, handle).await?;
        Ok(rows::all(&schema, batches))
    }

    async fn run_prepared(&self, caller: &Caller, handle: &[u8]) -> Result<Waiting, Status> {
        let statement = self.prepared.get(handle, &caller.owner)?;
        let executions = match (statement.parameters.len(), statement.bound.len()) {
            (0, _) => vec![Values::new()],
            (wanted, 0) => {
                caller.session.logged(&statement.sql).write(0, code::UNDEFINED_PARAMETER);
                return Err(Status::invalid_argument(format!(
                    "the statement has {wanted} parameters, and no values were bound"
                )));
            }
            _ => statement.bound.to_vec(),
        };
        start(&caller.session, statement.sql, executions).await
    }

    fn keep(&self, caller: &Caller, waiting: Waiting) -> Result<(Handle, SchemaRef), Status> {
        let columns = rows::promised(&waiting.schema);
        let handle = self.results.add(&caller.owner, waiting.schema, waiting.batches)?;
        Ok((handle, columns))
    }

    /// Answers with the rows of a started statement.
    pub fn read(&self, caller: &Caller, handle: &[u8]) -> Result<Answer, Status> {
        let (schema, reading) = self.results.take(handle, &caller.owner)?;
        Ok(rows::all(&schema, ReadRows::new(reading)))
    }

    /// Stops a started statement.
    pub fn cancel(&self, caller: &Caller, handle: &[u8]) -> Cancelled {
        self.results.cancel(handle, &caller.owner)
    }

    /// Runs a statement that returns no rows, such as CREATE VIEW.
    pub async fn update(&self, caller: &Caller, sql: &str) -> Result<i64, Status> {
        let sql = numbered(caller, sql)?;
        finish(start(&caller.session, sql, vec![Values::new()]).await?).await
    }

    /// Runs a prepared statement that returns no rows. Clients send the values of its parameters
    /// with this request.
    pub async fn update_prepared(
        &self,
        caller: &Caller,
        handle: &[u8],
        values: Option<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        if let Some(values) = values {
            self.bind(caller, handle, values).await?;
        }
        finish(self.run_prepared(caller, handle).await?).await
    }

    /// Plans a statement, so that its columns and parameters are known, and keeps it.
    pub async fn prepare(&self, caller: &Caller, sql: &str) -> Result<Preparation, Status> {
        let sql = numbered(caller, sql)?;
        let described = caller.session.describe(&sql, Vec::new()).await;
        let described = described.map_err(|failure| status::of(&failure))?;
        let names = described.parameters.iter().map(|(name, _)| name.clone()).collect();
        let statement = Statement { sql, parameters: names, bound: Arc::default() };
        Ok(Preparation {
            handle: self.prepared.add(&caller.owner, statement)?,
            columns: rows::promised(&described.schema),
            parameters: parameters::schema(&described.parameters),
        })
    }

    /// Binds values to a prepared statement: a row for each execution.
    pub async fn bind(
        &self,
        caller: &Caller,
        handle: &[u8],
        values: PeekableFlightDataStream,
    ) -> Result<(), Status> {
        let Statement { sql, parameters: names, .. } = self.prepared.get(handle, &caller.owner)?;
        let bound = self.bind_values(caller, handle, &names, values).await;
        bound.inspect_err(|_| {
            caller.session.logged(&sql).write(0, code::INVALID_PARAMETER_VALUE);
        })
    }

    async fn bind_values(
        &self,
        caller: &Caller,
        handle: &[u8],
        names: &[String],
        values: PeekableFlightDataStream,
    ) -> Result<(), Status> {
        // A client that sends half of its values must not keep them here.
        let limit = caller.session.server().limits().timeout;
        let batches = tokio::time::timeout(limit, bound::read(values)).await.map_err(|_| {
            Status::deadline_exceeded(format!("the values did not arrive within {limit:?}"))
        })??;
        let values = parameters::values(names, &batches)?;
        self.prepared.update(handle, &caller.owner, |statement| statement.bound = values.into())?;
        Ok(())
    }

    /// Forgets a prepared statement.
    pub fn close(&self, caller: &Caller, handle: &[u8]) {
        self.prepared.close(handle, &caller.owner);
    }

    /// Drops what was started and prepared on connections that were closed.
    pub fn drop_closed(&self) {
        self.results.drop_closed();
        self.prepared.drop_closed();
    }

    /// Drops results that were not read in time, and statements that are no longer used.
    pub fn drop_expired(&self) {
        self.results.drop_unread(MAX_UNREAD);
        self.prepared.drop_unused();
    }
}

/// The text with numbered parameters. A failure is written to the log.
fn numbered(caller: &Caller, sql: &str) -> Result<String, Status> {
    let refused = |_: &Status| caller.session.logged(sql).write(0, code::SYNTAX_ERROR);
    parameters::numbered(sql).inspect_err(refused)
}

/// Starts the first execution. The others start when the rows of those before were read.
async fn start(
    session: &Arc<Session>,
    sql: String,
    executions: Vec<Values>,
) -> Result<Waiting, Status> {
    let mut executions: VecDeque<Values> = executions.into();
    let first = executions.pop_front().unwrap_or_default();
    let first = run(session, &sql, first).await?;
    let schema = first.schema().clone();
    if executions.is_empty() {
        let batches = first.map_err(|failure| status::of(&failure)).boxed();
        return Ok(Waiting { schema, batches });
    }
    let session = session.clone();
    let columns = schema.clone();
    let others = stream::iter(executions).then(move |values| {
        let (session, sql, columns) = (session.clone(), sql.clone(), columns.clone());
        async move {
            let rows = run(&session, &sql, values).await?;
            if *rows.schema() != columns {
                return Err(Status::invalid_argument(
                    "the columns of the result differ between the rows of bound values; bind \
                     values of equal types, or run the statement for each row",
                ));
            }
            Ok(rows.map_err(|failure| status::of(&failure)))
        }
    });
    let first = first.map_err(|failure| status::of(&failure));
    Ok(Waiting { schema, batches: first.chain(others.try_flatten()).boxed() })
}

async fn run(session: &Session, sql: &str, parameters: Values) -> Result<Rows, Status> {
    let query = Query { parameters, ..Query::new(sql) };
    session.query(query).await.map_err(|failure| status::of(&failure))
}

/// Runs a statement to its end. Fails if it has columns, because its rows would be lost.
async fn finish(waiting: Waiting) -> Result<i64, Status> {
    if !waiting.schema.fields().is_empty() {
        return Err(Status::invalid_argument(
            "the statement returns rows; run it as a query and not as an update",
        ));
    }
    let mut batches = waiting.batches;
    while batches.try_next().await?.is_some() {}
    Ok(0)
}

//! A statement to run, and its columns and parameters before it runs.

use std::collections::HashMap;
use std::time::Duration;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::Statement as Sql;
use tracesql::Error;
use tracesql::engine::Engine;

use crate::allowed;
use crate::failure::{Failure, code};
use crate::infer;

/// A statement with the values of its parameters.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// One statement of SQL.
    pub sql: String,
    /// Values by name: `1` for `$1`, `step` for `$step`.
    pub parameters: Vec<(String, ScalarValue)>,
    /// A time limit; that of the server applies if it is shorter.
    pub limit: Option<Duration>,
}

impl Query {
    /// A statement without parameters.
    pub fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), ..Self::default() }
    }
}

/// The columns and parameters of a statement that has not run.
#[derive(Debug, Clone)]
pub struct Described {
    /// The columns of the result. Texts are `Utf8`, as in the rows. Empty for CREATE VIEW.
    pub schema: SchemaRef,
    /// The parameters by name, without `$`, in order: numbers first.
    pub parameters: Vec<(String, DataType)>,
}

/// The only statement of a text. Fails if the session may not run it.
pub fn one_statement(engine: &Engine, sql: &str) -> Result<Statement, Error> {
    let mut statements = engine.parse(sql)?;
    match statements.len() {
        1 => Ok(statements.remove(0)),
        0 => Err(Error::Query("the text contains no statement".into())),
        many => Err(Error::Query(format!("one statement was expected, not {many}"))),
    }
}

/// Plans a statement without running it. `given` are the types of parameters that the client knows.
pub async fn describe(
    engine: &Engine,
    sql: &str,
    given: &[(String, DataType)],
) -> Result<Result<Described, Failure>, Error> {
    let statement = one_statement(engine, sql)?;
    if let Err(refused) = allowed::check(&statement) {
        return Ok(Err(refused));
    }
    if changes_views(&statement) {
        let schema = Schema::empty().into();
        return Ok(Ok(Described { schema, parameters: Vec::new() }));
    }
    let plan = engine.context().state().statement_to_plan(statement).await?;
    Ok(Ok(described(plan, given)?))
}

/// The columns and parameters of a plan.
pub fn described(
    plan: LogicalPlan,
    given: &[(String, DataType)],
) -> datafusion::error::Result<Described> {
    let inferred = infer::parameter_types(&plan)?;
    let mut parameters: Vec<(String, DataType)> = inferred
        .into_iter()
        .map(|(id, inferred)| {
            let name = id.trim_start_matches('$').to_owned();
            let of_client = given.iter().find(|(known, _)| *known == name).map(|(_, t)| t.clone());
            let data_type = inferred.filter(|t| *t != DataType::Null).or(of_client);
            (name, data_type.map_or(DataType::Utf8, plain_type))
        })
        .collect();
    parameters.sort_by_key(|(name, _)| (name.parse::<usize>().unwrap_or(usize::MAX), name.clone()));
    let plan = if parameters.is_empty() {
        plan
    } else {
        let mut nulls = HashMap::new();
        for (name, data_type) in &parameters {
            let null = ScalarValue::try_from(data_type)?;
            nulls.insert(name.clone(), ScalarAndMetadata::from(null));
        }
        plan.with_param_values(ParamValues::Map(nulls))?
    };
    let fields: Vec<_> = plan
        .schema()
        .fields()
        .iter()
        .map(|f| f.as_ref().clone().with_data_type(plain_type(f.data_type().clone())))
        .collect();
    Ok(Described { schema: Schema::new(fields).into(), parameters })
}

/// Checks a statement, and the values of its parameters.
pub fn check(statement: &Statement, parameters: &[(String, ScalarValue)]) -> Result<(), Failure> {
    if parameters.len() > usize::from(u16::MAX) {
        let message = format!("{} parameters; 65,535 are allowed", parameters.len());
        return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, message));
    }
    allowed::check(statement)
}

/// Whether a statement makes or removes a view of the connection.
pub fn changes_views(statement: &Statement) -> bool {
    match statement {
        Statement::Statement(sql) => matches!(sql.as_ref(), Sql::CreateView(_) | Sql::Drop { .. }),
        _ => false,
    }
}

/// The type with `Utf8` in place of `Utf8View`, as rows have it.
fn plain_type(data_type: DataType) -> DataType {
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::List(item) => {
            let plain = plain_type(item.data_type().clone());
            DataType::List(item.as_ref().clone().with_data_type(plain).into())
        }
        other => other,
    }
}

//! Errors as clients of databases know them: a code of SQLSTATE, a message, a place.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use tracesql::Error;
use tracesql::catalog::Catalog;
use tracesql::engine::Engine;
use tracesql::explain::{Audience, explain};

/// A statement or a connection that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code of SQLSTATE.
    pub code: &'static str,
    /// A description of the error.
    pub message: String,
    /// Advice.
    pub hint: Option<String>,
    /// The place in the statement: the number of the character, starting at 1.
    pub position: Option<usize>,
}

/// Codes of SQLSTATE. The names are those of PostgreSQL's manual.
pub mod code {
    /// A message that the protocol does not allow here.
    pub const PROTOCOL_VIOLATION: &str = "08P01";
    /// A feature that the server does not have.
    pub const FEATURE_NOT_SUPPORTED: &str = "0A000";
    /// A value that its type does not allow.
    pub const INVALID_TEXT_REPRESENTATION: &str = "22P02";
    /// A number outside of the range of its type.
    pub const NUMERIC_VALUE_OUT_OF_RANGE: &str = "22003";
    /// A division by zero.
    pub const DIVISION_BY_ZERO: &str = "22012";
    /// Data that an operation cannot process.
    pub const DATA_EXCEPTION: &str = "22000";
    /// A parameter of a setting or function with a wrong value.
    pub const INVALID_PARAMETER_VALUE: &str = "22023";
    /// A statement that writes.
    pub const READ_ONLY: &str = "25006";
    /// A statement within a transaction that failed.
    pub const IN_FAILED_TRANSACTION: &str = "25P02";
    /// A connection that is refused before its password is known.
    pub const INVALID_AUTHORIZATION: &str = "28000";
    /// A wrong password.
    pub const INVALID_PASSWORD: &str = "28P01";
    /// A name of a prepared statement or cursor that does not exist.
    pub const INVALID_STATEMENT_NAME: &str = "26000";
    /// A statement that this session may not run.
    pub const INSUFFICIENT_PRIVILEGE: &str = "42501";
    /// Wrong syntax.
    pub const SYNTAX_ERROR: &str = "42601";
    /// Another error in a statement.
    pub const SYNTAX_OR_RULE: &str = "42000";
    /// A column that does not exist.
    pub const UNDEFINED_COLUMN: &str = "42703";
    /// A column name that several relations have.
    pub const AMBIGUOUS_COLUMN: &str = "42702";
    /// A column that is given twice.
    pub const DUPLICATE_COLUMN: &str = "42701";
    /// A function that does not exist, or not for these arguments.
    pub const UNDEFINED_FUNCTION: &str = "42883";
    /// A table or view that does not exist.
    pub const UNDEFINED_TABLE: &str = "42P01";
    /// A parameter that has no value.
    pub const UNDEFINED_PARAMETER: &str = "42P02";
    /// A setting that does not exist.
    pub const UNDEFINED_OBJECT: &str = "42704";
    /// Not enough memory.
    pub const OUT_OF_MEMORY: &str = "53200";
    /// Too many connections.
    pub const TOO_MANY_CONNECTIONS: &str = "53300";
    /// A statement that is too long, or has too many parts.
    pub const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
    /// A SELECT with too many columns.
    pub const TOO_MANY_COLUMNS: &str = "54011";
    /// A statement that was cancelled or took too long.
    pub const QUERY_CANCELED: &str = "57014";
    /// The server stops.
    pub const ADMIN_SHUTDOWN: &str = "57P01";
    /// A file or object that could not be read.
    pub const IO_ERROR: &str = "58030";
    /// An error of the program.
    pub const INTERNAL_ERROR: &str = "XX000";
}

impl Failure {
    /// A failure with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, position: None }
    }

    /// The same failure with advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The failure of a statement that the client cancelled.
    pub fn cancelled() -> Self {
        Self::new(code::QUERY_CANCELED, "canceling statement due to user request")
    }

    /// The failure of a statement that took too long.
    pub fn timeout(limit: std::time::Duration) -> Self {
        let message = format!(
            "canceling statement due to statement timeout, which is {} s",
            limit.as_secs_f64()
        );
        Self::new(code::QUERY_CANCELED, message)
    }

    /// The failure of a task that panicked.
    pub fn crashed() -> Self {
        Self::new(code::INTERNAL_ERROR, "the query engine failed")
            .with_hint("if the store may be damaged, `tracesql doctor STORE` reads all of it")
    }

    /// The failure that an error of the engine stands for, without its place.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Sql(e) => Self::new(state_of(e), e.strip_backtrace()),
            Error::Usage(text) | Error::Query(text) => Self::new(code::SYNTAX_OR_RULE, text),
            Error::Cancelled => Self::cancelled(),
            Error::Timeout(limit) => Self::timeout(*limit),
            Error::Input(_) | Error::Inputs(..) | Error::Damaged(..) | Error::Output(..) => {
                Self::new(code::IO_ERROR, error.to_string())
            }
            other => Self::new(code::INTERNAL_ERROR, other.to_string()),
        }
    }

    /// The failure of a statement, with its place and advice. It looks names up, so it runs on a
    /// thread that may wait.
    pub async fn explained(error: Error, statement: &str, engine: Arc<Engine>) -> Self {
        let plain = Self::of(&error);
        let Error::Sql(error) = error else { return plain };
        if matches!(plain.code, code::OUT_OF_MEMORY | code::IO_ERROR) {
            return plain;
        }
        let text = statement.to_owned();
        let report = tokio::task::spawn_blocking(move || {
            let runtime = tracesql::runtime::with_threads(1).ok()?;
            let catalog = Catalog::of(&engine, &runtime);
            Some((explain(&error, &text, &catalog, Audience::Python), text))
        });
        let Ok(Some((report, text))) = report.await else { return plain };
        let position = report
            .place
            .and_then(|place| text.get(..place.start))
            .map(|before| before.chars().count() + 1);
        Self {
            code: plain.code,
            message: report.message,
            hint: report.help.map(|help| for_servers(&help)),
            position,
        }
    }
}

/// Advice for clients of a server in place of that for Python programs.
fn for_servers(help: &str) -> String {
    help.replace("session.views() lists tables and views", "SHOW TABLES lists tables and views")
        .replace("session.docs() lists functions", "SELECT * FROM tracesql_functions lists them")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        // Functions of this crate fail with failures.
        if let DataFusionError::External(inner) = error.find_root()
            && let Some(failure) = inner.downcast_ref::<Self>()
        {
            return failure.clone();
        }
        Self::new(state_of(&error), error.strip_backtrace())
    }
}

/// The code of SQLSTATE of an error.
fn state_of(error: &DataFusionError) -> &'static str {
    match error.find_root() {
        DataFusionError::SQL(..) => code::SYNTAX_ERROR,
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::AmbiguousReference { .. } => code::AMBIGUOUS_COLUMN,
            SchemaError::FieldNotFound { .. } => code::UNDEFINED_COLUMN,
            _ => code::DUPLICATE_COLUMN,
        },
        DataFusionError::Plan(text) => state_of_plan(text),
        DataFusionError::NotImplemented(_) => code::FEATURE_NOT_SUPPORTED,
        DataFusionError::ResourcesExhausted(_) => code::OUT_OF_MEMORY,
        DataFusionError::ArrowError(e, _) => match e.as_ref() {
            ArrowError::DivideByZero => code::DIVISION_BY_ZERO,
            ArrowError::ArithmeticOverflow(_) => code::NUMERIC_VALUE_OUT_OF_RANGE,
            ArrowError::CastError(_) | ArrowError::ParseError(_) => {
                code::INVALID_TEXT_REPRESENTATION
            }
            _ => code::DATA_EXCEPTION,
        },
        DataFusionError::Execution(text) => match text.contains("Placeholder") {
            true => code::UNDEFINED_PARAMETER,
            false => code::DATA_EXCEPTION,
        },
        DataFusionError::IoError(_)
        | DataFusionError::ObjectStore(_)
        | DataFusionError::ParquetError(_) => code::IO_ERROR,
        _ => code::INTERNAL_ERROR,
    }
}

fn state_of_plan(text: &str) -> &'static str {
    let is_missing = text.contains("not found") || text.contains("doesn't exist");
    if is_missing && text.starts_with("table ") {
        code::UNDEFINED_TABLE
    } else if ["Invalid function", "No function matches", "Failed to coerce arguments"]
        .iter()
        .any(|start| text.contains(start))
    {
        code::UNDEFINED_FUNCTION
    } else if text.contains("Placeholder") {
        code::UNDEFINED_PARAMETER
    } else {
        code::SYNTAX_OR_RULE
    }
}

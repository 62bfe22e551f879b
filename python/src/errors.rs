//! Exceptions: one class for each exit code of the command line, with the same messages.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use tracesql::output::safe;
use tracesql_ingest::IngestError;

create_exception!(
    tracesql,
    Error,
    PyException,
    "What tracesql raises; its subclasses say which kind of thing went wrong."
);
create_exception!(tracesql, UsageError, Error, "An argument is not right.");
create_exception!(
    tracesql,
    InputError,
    Error,
    "A trace or store cannot be read, or a store cannot be written."
);
create_exception!(
    tracesql,
    QueryError,
    Error,
    "A query failed, or its result could not be written."
);

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("UsageError", py.get_type::<UsageError>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("QueryError", py.get_type::<QueryError>())
}

/// The exception for an error.
pub fn exception(error: tracesql::Error) -> PyErr {
    use tracesql::Error as E;
    // Names of files and events come from outside, so none of their control characters may reach a
    // terminal.
    let message = error.to_string().lines().map(safe).collect::<Vec<_>>().join("\n");
    match (&error, error.exit_code()) {
        (E::Cancelled | E::Input(IngestError::Stopped), _) => PyKeyboardInterrupt::new_err(message),
        (_, 2) => UsageError::new_err(message),
        (_, 3) => InputError::new_err(message),
        _ => QueryError::new_err(message),
    }
}

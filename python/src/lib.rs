//! The native module of the Python package `tracesql`: the library, callable from Python.
//!
//! This module contains only code that must be Rust. The interface for users (names, defaults,
//! displays) is written in Python, in `python/tracesql`. Rows are passed on through Arrow's C
//! interface, which hands over buffers and copies nothing.

mod check;
mod choose;
mod compare;
mod errors;
mod export;
mod frames;
mod open;
mod profiles;
mod result;
mod session;
mod statements;
mod stream;
mod threads;
mod ui;
mod values;
mod wait;

use std::path::PathBuf;

use pyo3::prelude::*;
use tracesql::output::{Target, write_document};

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", tracesql_ingest::VERSION)?;
    module.add("SCHEMA_VERSION", tracesql_ingest::schema::SCHEMA_VERSION)?;
    errors::add(module)?;
    module.add_class::<session::Session>()?;
    module.add_class::<result::Rows>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<check::Verdict>()?;
    module.add_class::<compare::Comparison>()?;
    module.add_class::<ui::Server>()?;
    module.add_function(wrap_pyfunction!(open::open, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)?;
    module.add_function(wrap_pyfunction!(open::ingest, module)?)?;
    module.add_function(wrap_pyfunction!(check::run, module)?)?;
    module.add_function(wrap_pyfunction!(compare::run, module)?)?;
    module.add_function(wrap_pyfunction!(export::run, module)?)?;
    module.add_function(wrap_pyfunction!(profiles::profile, module)?)?;
    module.add_function(wrap_pyfunction!(ui::ui, module)?)?;
    Ok(())
}

/// Writes a text to a file, which appears when it is complete.
#[pyfunction]
fn save(path: PathBuf, text: &str) -> PyResult<()> {
    write_document(text.as_bytes(), &Target::File(path)).map_err(errors::exception)
}
